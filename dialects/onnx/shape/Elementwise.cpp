// Shapes of elementwise operators: NumPy's broadcasting, and the element types that they take.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cameo::onnx {

/// Element types an operator takes.
enum Accepted : unsigned { kBools = 1, kIntegers = 2, kFloats = 4, kNumbers = 6, kAll = 7 };

static LogicalResult checkElementType(SizeBuilder &s, Operation *op, unsigned operand,
                                      unsigned accepted) {
  Type type = elementType(op->getOperand(operand));
  unsigned kind = isa<FloatType>(type) ? kFloats : type.isInteger(1) ? kBools : kIntegers;
  if (kind & accepted)
    return success();
  StringRef nearest = accepted & kFloats ? "float" : accepted & kIntegers ? "int32" : "bool";
  std::string text;
  llvm::raw_string_ostream(text) << "elements of type " << type << "; cast to " << nearest;
  return s.refuse(op, text);
}

template <unsigned accepted>
static FailureOr<Sizes> inferBroadcast(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (failed(checkElementType(s, op, i, accepted)))
      return failure();
  return s.broadcast(op, operands);
}

static FailureOr<Sizes> inferMod(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  Value dividend = op->getOperand(0);
  if (isa<FloatType>(elementType(dividend)) && !cast<ModOp>(op).getFmod())
    return s.refuse(op, "fmod = 0 on " + typeText(dividend.getType()) +
                            "; nearest supported: fmod = 1, which takes the dividend's sign");
  return inferBroadcast<kNumbers>(s, op, operands);
}

static FailureOr<Sizes> inferBitShift(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  Type type = elementType(op->getOperand(0));
  if (!type.isUnsignedInteger())
    return s.refuse(op, "elements of type " + elementText(type) +
                            "; nearest supported: uint8 to uint64");
  return inferBroadcast<kIntegers>(s, op, operands);
}

static FailureOr<Sizes> inferWhere(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  return s.broadcast(op, operands);
}

static FailureOr<Sizes> inferClip(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  if (failed(checkElementType(s, op, 0, kNumbers)))
    return failure();
  // One element is a number, whatever its rank.
  for (auto [i, sizes] : llvm::enumerate(operands)) {
    bool one = llvm::all_of(sizes, [](OpFoldResult size) { return isConstantIntValue(size, 1); });
    if (i > 0 && !one)
      return s.refuse(op, inputText(op, i) + " is " + typeText(op->getOperand(i).getType()) +
                              "; it must hold one number; nearest supported: Max and Min, "
                              "which broadcast");
  }
  return operands[0];
}

/// The shape of the first operand: Cast, and CastLike, which takes nothing but the type from its
/// second one.
static FailureOr<Sizes> inferSame(SizeBuilder &, Operation *, ArrayRef<Sizes> operands) {
  return operands[0];
}

static FailureOr<Sizes> inferBitCast(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  Type from = elementType(op->getOperand(0)), to = elementType(op->getResult(0));
  auto width = [](Type type) { return elementBits(*elementKind(type)); };
  if (width(from) != width(to))
    return s.refuse(op, "to is " + elementText(to) + ", for the bits of " +
                            typeText(op->getOperand(0).getType()) +
                            "; both types must have one width");
  return operands[0];
}

//===-- Dropout -------------------------------------------------------------------------------===//

/// A ratio that is known on the host is in [0, 1), although inference does not use it.
static LogicalResult checkRatio(Shapes &shapes, Operation *op) {
  if (isAbsent(op, 1))
    return success();
  FailureOr<Sizes> host = shapes.host.tryValues(op->getOperand(1), 1);
  if (failed(host) || host->size() != 1)
    return success();
  SizeBuilder &s = shapes.sizes;
  // NaN is not less than 1.
  OpFoldResult isNegative = s.less((*host)[0], s.floating(0));
  OpFoldResult isInside = s.select(isNegative, s.index(0), s.less((*host)[0], s.floating(1)));
  return s.check(op, isInside, "ratio is not 0 or more and less than 1");
}

/// An operand of one number, or what it is where it is absent; nothing where it is not known.
static std::optional<double> knownNumber(Shapes &shapes, Operation *op, unsigned operand,
                                         double otherwise) {
  if (isAbsent(op, operand))
    return otherwise;
  FailureOr<Sizes> host = shapes.host.tryValues(op->getOperand(operand), 1);
  if (failed(host) || host->size() != 1)
    return std::nullopt;
  auto attribute = dyn_cast<Attribute>((*host)[0]);
  if (auto integer = dyn_cast_if_present<IntegerAttr>(attribute))
    return integer.getInt();
  if (auto real = dyn_cast_if_present<FloatAttr>(attribute))
    return real.getValueAsDouble();
  return std::nullopt;
}

/// The output, and the mask.
static FailureOr<SmallVector<Sizes>> inferDropout(Shapes &shapes, Operation *op) {
  if (failed(checkRatio(shapes, op)))
    return failure();
  if (knownNumber(shapes, op, 2, 0) != 0 && knownNumber(shapes, op, 1, 0.5) != 0)
    return shapes.sizes.refuse(
        op, "training mode: training_mode is not a constant false; nearest supported: inference, "
            "with training_mode absent or false");
  return SmallVector<Sizes>(op->getNumResults(), shapes.of(op, 0));
}

//===-- Table ---------------------------------------------------------------------------------===//

void registerElementwiseRules(ShapeRows &rows) {
  rows.add<CeilOp, FloorOp, RoundOp, SqrtOp, ReciprocalOp, ExpOp, LogOp, ErfOp, SinOp, CosOp, TanOp,
           AsinOp, AcosOp, AtanOp, SinhOp, CoshOp, TanhOp, AsinhOp, AcoshOp, AtanhOp, SumOp, MeanOp,
           IsNaNOp, IsInfOp, EluOp, LeakyReluOp, SeluOp, CeluOp, SigmoidOp, HardSigmoidOp,
           HardSwishOp, SoftplusOp, SoftsignOp, ThresholdedReluOp, GeluOp, MishOp, SwishOp>(
      fromSizes<inferBroadcast<kFloats>>);
  rows.add<AbsOp, NegOp, SignOp, AddOp, SubOp, MulOp, DivOp, MaxOp, MinOp, LessOp, LessOrEqualOp,
           GreaterOp, GreaterOrEqualOp, ReluOp, PReluOp, ShrinkOp, PowOp>(
      fromSizes<inferBroadcast<kNumbers>>);
  rows.add<BitwiseAndOp, BitwiseOrOp, BitwiseXorOp, BitwiseNotOp>(
      fromSizes<inferBroadcast<kIntegers>>);
  rows.add<AndOp, OrOp, XorOp, NotOp>(fromSizes<inferBroadcast<kBools>>);
  rows.add<EqualOp>(fromSizes<inferBroadcast<kAll>>);
  rows.add<ModOp>(fromSizes<inferMod>);
  rows.add<BitShiftOp>(fromSizes<inferBitShift>);
  rows.add<WhereOp>(fromSizes<inferWhere>);
  rows.add<ClipOp>(fromSizes<inferClip>);
  rows.add<IdentityOp, CastOp, CastLikeOp>(fromSizes<inferSame>);
  rows.add<BitCastOp>(fromSizes<inferBitCast>);
  rows.add<DropoutOp>(inferDropout);
  registerHostElementwise(rows.hosts);
}

} // namespace cameo::onnx
