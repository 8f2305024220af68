// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear as elementwise work.
//
//   onnx.DequantizeLinear  ==>  linalg.generic: (x - zero point) * scale
//
// A quotient by a constant scale is one or two products, where they round to the same integers
// (ReciprocalScale.h). Computed in f32, also where scales have 16 bits, and rounded once to the result's type, as ONNX
// Runtime does.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Quantization.h"

#include "dialects/onnx/shape/Quantization.h"
#include "passes/graph/Elements.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/NarrowTypes.h"
#include "passes/linalg/ReciprocalScale.h"
#include "passes/linalg/ScalarMath.h"
#include "runtime/mutant.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace cameo {

using onnx::QuantizationShape;

static unsigned integerBits(Type type) {
  return packedBits(type) ? packedBits(type) : type.getIntOrFloatBitWidth();
}

Value quantizedScalar(OpBuilder &b, Location loc, Value x, Value zero, Type to, bool saturate) {
  if (auto kind = narrowFloat(to))
    return encodeNarrow(b, loc, x, *kind, {saturate});
  ScalarMath m(b, loc, b.getF32Type(), false);
  unsigned bits = integerBits(to);
  bool isUnsigned = to.isUnsignedInteger();
  double least = isUnsigned ? 0 : -std::ldexp(1.0, bits - 1);
  double most = std::ldexp(1.0, isUnsigned ? bits : bits - 1) - 1;
  Value number =
      CAMEO_MUTANT(39, m.unary<math::RoundEvenOp>(x), m.unary<math::FloorOp>(m.add(x, m.c(0.5))));
  if (zero && !matchPattern(zero, m_Zero()))
    number = m.add(number, convertScalar(b, loc, zero, to, m.type));
  // Of NaN and a number these give the number.
  number = m.binary<arith::MaxNumFOp>(number, m.c(least));
  number = m.binary<arith::MinNumFOp>(number, m.c(most));
  Value integer = b.create<arith::FPToSIOp>(loc, b.getI32Type(), number);
  return b.create<arith::TruncIOp>(loc, signless(to), integer);
}

/// Where a scale or zero point is read for the element at the loops.
static Read parameterRead(const Lowered &parameter, const QuantizationShape &shape) {
  MLIRContext *context = parameter.tensor.getContext();
  int64_t rank = shape.result.size();
  SmallVector<AffineExpr> place;
  for (int64_t i = 0; i < parameter.rank(); ++i)
    place.push_back(getAffineDimExpr(i, context));
  if (onnx::isOneNumber(parameter.sizes))
    place.assign(parameter.rank(), getAffineConstantExpr(0, context));
  else if (shape.granularity == QuantizationShape::Blocked)
    place[shape.axis] = place[shape.axis].floorDiv(shape.block);
  else
    place = {getAffineDimExpr(shape.axis, context)};
  return {parameter.tensor, AffineMap::get(rank, 0, place, context)};
}

/// The number that a constant parameter is, for all elements.
static std::optional<double> oneNumber(Operation *op, unsigned operand) {
  ElementsAttr value = onnx::constantValue(op->getOperand(operand));
  if (!value || value.getNumElements() != 1 || narrowFloat(value.getElementType()))
    return std::nullopt;
  std::optional<Elements> elements = Elements::of(value);
  return elements ? std::optional(readDoubles(*elements).front()) : std::nullopt;
}

/// Defines the op's result by `fn` of the elements of x, its scale (f32) and, where there is one,
/// its zero point. One number that is known is a constant in the body.
using QuantizedFunction =
    function_ref<Value(OpBuilder &, Location, Value x, Value scale, Value zero)>;
static LogicalResult lowerQuantized(Operation *op, Lowering &l, QuantizedFunction fn) {
  FailureOr<QuantizationShape> shape = onnx::inferQuantization(l.plan, op, l.shapes.operands(op));
  if (failed(shape))
    return failure();
  Type type = Lowering::elementType(op->getResult(0)), single = l.builder().getF32Type();
  SmallVector<Read> reads{
      {l.operand(op, 0).tensor, identityMap(op->getContext(), shape->result.size())}};
  bool hasZero = op->getNumOperands() > 2 && !onnx::isAbsent(op->getOperand(2));
  std::optional<double> known[2];
  for (unsigned i = 0; i < (hasZero ? 2 : 1); ++i)
    if (known[i] = oneNumber(op, i + 1); !known[i])
      reads.push_back(parameterRead(l.operand(op, i + 1), *shape));
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    Value x = args.front();
    args = args.drop_front();
    auto parameter = [&](unsigned i, Type from, Type to) -> Value {
      if (known[i])
        return scalarConstant(b, loc, signless(to), *known[i]);
      Value read = args.front();
      args = args.drop_front();
      return convertScalar(b, loc, read, from, to);
    };
    Value scale = parameter(0, Lowering::elementType(op->getOperand(1)), single);
    if (!hasZero)
      return fn(b, loc, x, scale, Value());
    Type zeroType = Lowering::elementType(op->getOperand(2));
    return fn(b, loc, x, scale, parameter(1, zeroType, zeroType));
  };
  Value result = l.build.dispatch(op->getLoc(), OutputSpec{shape->result, type},
                                  [&](OpBuilder &b, Location loc, ValueRange inits) {
                                    return SmallVector<Value>{mapGeneric(
                                        l, b, loc, shape->result, type, reads, body, inits[0])};
                                  })[0];
  l.define(op, 0, result, shape->result, type);
  return success();
}

/// x / scale in f32, or what rounds to the same integers of type `to`, whatever their zero point,
/// where the scale is a constant.
static Value quotient(OpBuilder &b, Location loc, Value x, Value scale, Type to) {
  ScalarMath m(b, loc, b.getF32Type(), false);
  FloatAttr known;
  std::optional<ReciprocalScale> reciprocal;
  if (!narrowFloat(to) && matchPattern(scale, m_Constant(&known)))
    reciprocal =
        ReciprocalScale::of(known.getValue().convertToFloat(), int64_t(1) << integerBits(to));
  if (!reciprocal)
    return m.div(x, scale);
  if (reciprocal->low == 0)
    return m.mul(x, m.c(reciprocal->high));
  return m.fma(x, m.c(reciprocal->high), m.mul(x, m.c(reciprocal->low)));
}

static LogicalResult lowerQuantizeLinear(Operation *op, Lowering &l) {
  Type from = Lowering::elementType(op->getOperand(0));
  Type to = Lowering::elementType(op->getResult(0));
  bool saturate = intAttribute(op, "saturate", 1) != 0;
  // The quotient has 16 bits only where the node says so.
  std::optional<onnx::ElementKind> precision =
      onnx::elementKindOfNumber(intAttribute(op, "precision", 0));
  Type rounded = precision ? onnx::elementTypeOf(*precision, op->getContext()) : Type();
  return lowerQuantized(op, l, [&](OpBuilder &b, Location loc, Value x, Value scale, Value zero) {
    Type single = b.getF32Type();
    Value wide = convertScalar(b, loc, x, from, single);
    if (!rounded || (!rounded.isF16() && !rounded.isBF16()))
      return quantizedScalar(b, loc, quotient(b, loc, wide, scale, to), zero, to, saturate);
    auto inPrecision = [&](Value value) {
      return convertScalar(b, loc, convertScalar(b, loc, value, single, rounded), rounded, single);
    };
    Value exact = b.create<arith::DivFOp>(loc, inPrecision(wide), inPrecision(scale));
    return quantizedScalar(b, loc, inPrecision(exact), zero, to, saturate);
  });
}

static LogicalResult lowerDequantizeLinear(Operation *op, Lowering &l) {
  Type from = Lowering::elementType(op->getOperand(0));
  Type to = Lowering::elementType(op->getResult(0));
  return lowerQuantized(op, l, [&](OpBuilder &b, Location loc, Value x, Value scale, Value zero) {
    Type single = b.getF32Type(), wide = b.getI32Type();
    Value number;
    if (narrowFloat(from)) { // their zero point is zero
      number = convertScalar(b, loc, x, from, single);
    } else {
      Value integer = convertScalar(b, loc, x, from, wide);
      if (zero && !matchPattern(zero, m_Zero()))
        integer = b.create<arith::SubIOp>(loc, integer, convertScalar(b, loc, zero, from, wide));
      number = convertScalar(b, loc, integer, wide, single);
    }
    return convertScalar(b, loc, b.create<arith::MulFOp>(loc, number, scale), single, to);
  });
}

//===-- DynamicQuantizeLinear -----------------------------------------------------------------===//

/// The least or greatest of all elements and 0.
static Lowered extreme(Lowering &l, Location loc, const Lowered &flat, Combine kind) {
  Type type = flat.elementType;
  Value tensor =
      l.build.dispatch(loc, OutputSpec{{}, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        auto step = [&](OpBuilder &nested, Location place, Value best, ValueRange scalars) {
          return combine(nested, place, kind, type, best, scalars[0]);
        };
        return SmallVector<Value>{reduceGeneric(l, b, at, flat.sizes, {true}, kind, type,
                                                Read{flat.tensor, identityMap(b.getContext(), 1)},
                                                step, inits[0])};
      })[0];
  return {tensor, {}, type};
}

/// The range of the elements and 0 is 0 to 255. One number stands for a range of nothing.
static LogicalResult lowerDynamicQuantizeLinear(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Location loc = op->getLoc();
  Lowered x = l.operand(op, 0);
  Lowered flat = l.build.reshape(loc, x, {l.plan.product(x.sizes)});
  Lowered least = extreme(l, loc, flat, Combine::Min);
  Lowered most = extreme(l, loc, flat, Combine::Max);
  Type single = x.elementType, byte = Lowering::elementType(op->getResult(0));
  Value scale = l.build.elementwise(
      loc, {least, most}, {}, single, [&](OpBuilder &b, Location at, ValueRange args) {
        ScalarMath m(b, at, single, false);
        Value low = m.min(args[0], m.c(0)), high = m.max(args[1], m.c(0));
        return m.select(m.eq(low, high), m.c(1), m.div(m.sub(high, low), m.c(255)));
      });
  Lowered scaleOf{scale, {}, single};
  Value zero = l.build.elementwise(
      loc, {least, scaleOf}, {}, byte, [&](OpBuilder &b, Location at, ValueRange args) {
        ScalarMath m(b, at, single, false);
        Value first = m.sub(m.c(0), m.div(m.min(args[0], m.c(0)), args[1]));
        return quantizedScalar(b, at, first, Value(), byte);
      });
  Lowered zeroOf{zero, {}, byte};
  Value numbers = l.build.elementwise(
      loc, {x, scaleOf, zeroOf}, x.sizes, byte, [&](OpBuilder &b, Location at, ValueRange args) {
        Value quotient = b.create<arith::DivFOp>(at, args[0], args[1]);
        return quantizedScalar(b, at, quotient, args[2], byte);
      });
  l.define(op, 0, numbers, x.sizes, byte);
  l.define(op, 1, scaleOf);
  l.define(op, 2, zeroOf);
  return success();
}

void registerQuantizationOperators(LoweringRows &rows) {
  rows.add<onnx::QuantizeLinearOp>({lowerQuantizeLinear});
  rows.add<onnx::DequantizeLinearOp>({lowerDequantizeLinear});
  rows.add<onnx::DynamicQuantizeLinearOp>({lowerDynamicQuantizeLinear});
}

} // namespace cameo
