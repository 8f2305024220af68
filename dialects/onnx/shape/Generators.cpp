// Shapes of operators that make tensors out of sizes.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Generators.h"

#include "dialects/onnx/shape/Layout.h"
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

//===-- Shape, Size ---------------------------------------------------------------------------===//

Sizes shapeValues(Shapes &shapes, Operation *op) {
  auto shape = cast<ShapeOp>(op);
  Sizes x = shapes.of(op, 0);
  int64_t rank = x.size();
  auto bound = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = bound(shape.getStart());
  int64_t end = shape.getEnd() ? bound(*shape.getEnd()) : rank;
  Sizes result;
  for (int64_t i = start; i < end; ++i)
    result.push_back(x[i]);
  return result;
}

static FailureOr<Sizes> inferShape(Shapes &shapes, Operation *op) {
  return Sizes{shapes.sizes.index(shapeValues(shapes, op).size())};
}

static FailureOr<Sizes> hostShapeOf(Shapes &shapes, Operation *op, unsigned) {
  return shapeValues(shapes, op);
}

OpFoldResult sizeValue(Shapes &shapes, Operation *op) {
  return shapes.sizes.product(shapes.of(op, 0));
}

static FailureOr<Sizes> inferSize(Shapes &, Operation *) { return Sizes(); }

static FailureOr<Sizes> hostSizeOf(Shapes &shapes, Operation *op, unsigned) {
  return Sizes{sizeValue(shapes, op)};
}

//===-- ConstantOfShape -----------------------------------------------------------------------===//

TypedAttr fillValue(ConstantOfShapeOp op) {
  Builder b(op.getContext());
  Type type = elementType(op.getResult());
  std::optional<ElementKind> kind = elementKind(type);
  bool isBool = type.isInteger(1);
  if (!type.isIntOrFloat() || (!isBool && type.getIntOrFloatBitWidth() <= 8)) {
    // What takes a byte or less is a byte in tensors of the plan.
    char byte = 0;
    if (auto value = op.getValueAttr()) {
      std::optional<ConstantBytes> bytes = constantBytes(value);
      if (!kind || !bytes || bytes->get().empty())
        return {};
      byte = bytes->get().front();
      unsigned spare = 8 - elementBits(*kind);
      if (kind == ElementKind::I4 || kind == ElementKind::I2)
        byte = char(int8_t(uint8_t(byte) << spare) >> spare);
    }
    return b.getI8IntegerAttr(byte);
  }
  if (auto integer = dyn_cast<IntegerType>(type))
    type = b.getIntegerType(integer.getWidth());
  auto value = op.getValueAttr();
  if (!value)
    return cast<TypedAttr>(b.getZeroAttr(type));
  std::optional<ConstantBytes> bytes = constantBytes(value);
  unsigned width = type.getIntOrFloatBitWidth(), stored = llvm::divideCeil(width, 8u);
  if (!bytes || bytes->get().size() < stored)
    return {};
  uint64_t raw = 0;
  std::memcpy(&raw, bytes->get().data(), stored);
  APInt bits = APInt(64, raw).trunc(std::min(64u, stored * 8));
  if (auto real = dyn_cast<FloatType>(type))
    return b.getFloatAttr(real, APFloat(real.getFloatSemantics(), bits));
  if (width == 1)
    return b.getBoolAttr(raw != 0);
  return b.getIntegerAttr(type, bits);
}

static FailureOr<Sizes> inferConstantOfShape(Shapes &shapes, Operation *op) {
  FailureOr<Sizes> sizes = shapes.host.values(op, 0);
  if (failed(sizes) || failed(checkGivenSizes(shapes.sizes, op, *sizes)))
    return failure();
  if (!fillValue(cast<ConstantOfShapeOp>(op)))
    return shapes.sizes.refuse(
        op, "value holds no number of the result's type; it must hold exactly one");
  return sizes;
}

static FailureOr<Sizes> hostConstantOfShape(Shapes &shapes, Operation *op, unsigned) {
  FailureOr<Sizes> sizes = shapes.host.tryValues(op->getOperand(0));
  if (failed(sizes))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = hostShape(*sizes);
  Type type = elementType(op->getResult(0));
  TypedAttr value = fillValue(cast<ConstantOfShapeOp>(op));
  if (failed(shape) || !value)
    return failure();
  SizeBuilder &s = shapes.sizes;
  OpFoldResult element;
  if (auto real = dyn_cast<FloatAttr>(value))
    element = s.floating(real.getValueAsDouble());
  else if (type.isUnsignedInteger() || type.isInteger(1))
    element = s.index(cast<IntegerAttr>(value).getValue().getZExtValue());
  else
    element = s.index(cast<IntegerAttr>(value).getValue().getSExtValue());
  return hostElements(*shape, [&](ArrayRef<int64_t>) { return element; });
}

//===-- Range ---------------------------------------------------------------------------------===//

/// Number of elements of a Range from its host values; refuses where a check fails.
static FailureOr<OpFoldResult> rangeCount(SizeBuilder &s, Operation *op, OpFoldResult start,
                                          OpFoldResult limit, OpFoldResult delta) {
  bool real = isa<FloatType>(elementType(op->getResult(0)));
  OpFoldResult isZero = s.equal(delta, real ? s.floating(0) : s.index(0));
  if (failed(s.check(op, s.equal(isZero, s.index(0)), "delta is 0; it must not be")))
    return failure();
  OpFoldResult divisor = s.select(isZero, real ? s.floating(1) : s.index(1), delta);
  if (!real)
    return s.atLeastZero(s.ceilDiv(s.sub(limit, start), divisor));
  OpFoldResult steps = s.fceil(s.fdiv(s.fsub(limit, start), divisor));
  FailureOr<OpFoldResult> count = s.checkedInteger(op, steps, "the number of elements");
  return failed(count) ? count : FailureOr<OpFoldResult>(s.atLeastZero(*count));
}

static FailureOr<Sizes> inferRange(Shapes &shapes, Operation *op) {
  Sizes ends;
  for (unsigned i = 0; i < 3; ++i) {
    FailureOr<Sizes> value = shapes.host.values(op, i);
    if (failed(value))
      return failure();
    if (value->size() != 1)
      return shapes.sizes.refuse(op, inputText(op, i) + " holds " + Twine(value->size()) +
                                         " numbers; it must hold one");
    ends.push_back((*value)[0]);
  }
  FailureOr<OpFoldResult> count = rangeCount(shapes.sizes, op, ends[0], ends[1], ends[2]);
  if (failed(count))
    return failure();
  return Sizes{*count};
}

static FailureOr<Sizes> hostRange(Shapes &shapes, Operation *op, unsigned) {
  if (isa<FloatType>(elementType(op->getResult(0))))
    return failure();
  SmallVector<int64_t> ends;
  for (unsigned i = 0; i < 3; ++i) {
    FailureOr<Sizes> value = shapes.host.tryValues(op->getOperand(i));
    std::optional<int64_t> known;
    if (succeeded(value) && value->size() == 1)
      known = getConstantIntValue((*value)[0]);
    if (!known)
      return failure();
    ends.push_back(*known);
  }
  int64_t start = ends[0], limit = ends[1], delta = ends[2];
  if (delta == 0)
    return failure();
  Sizes result;
  bool isLast = false; // the next number does not fit 64 bits, so that it is beyond the limit
  for (int64_t at = start; !isLast && (delta > 0 ? at < limit : at > limit);
       isLast = llvm::AddOverflow(at, delta, at)) {
    if (result.size() >= 4096)
      return failure();
    result.push_back(shapes.sizes.index(at));
  }
  return result;
}

void registerGeneratorRules(ShapeRows &rows) {
  rows.add<ShapeOp>(fromShapes<inferShape>, hostShapeOf);
  rows.add<SizeOp>(fromShapes<inferSize>, hostSizeOf);
  rows.add<ConstantOfShapeOp>(fromShapes<inferConstantOfShape>, hostConstantOfShape);
  rows.add<RangeOp>(fromShapes<inferRange>, hostRange);
}

} // namespace cameo::onnx
