// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear as elementwise work.
//
//   onnx.DequantizeLinear  ==>  linalg.generic: (x - zero point) * scale
//
// Computed in f32, also where scales have 16 bits, and rounded once to the result's type, as ONNX
// Runtime does.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Quantization.h"

#include "dialects/onnx/shape/Quantization.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/NarrowTypes.h"
#include "passes/linalg/ScalarMath.h"

using namespace mlir;

namespace cameo {

using onnx::QuantizationShape;

Value quantizedScalar(OpBuilder &b, Location loc, Value x, Value zero, Type to, bool saturate) {
  if (auto kind = narrowFloat(to))
    return encodeNarrow(b, loc, x, *kind, {saturate});
  ScalarMath m(b, loc, b.getF32Type(), false);
  Value number = m.unary<math::RoundEvenOp>(x);
  if (zero)
    number = m.add(number, convertScalar(b, loc, zero, to, m.type));
  unsigned bits = packedBits(to) ? packedBits(to) : to.getIntOrFloatBitWidth();
  bool isUnsigned = to.isUnsignedInteger();
  Value least = m.c(isUnsigned ? 0 : -std::ldexp(1.0, bits - 1));
  Value most = m.c(std::ldexp(1.0, isUnsigned ? bits : bits - 1) - 1);
  number = m.select(m.lt(least, number), number, least);
  number = m.select(m.lt(number, most), number, most);
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

/// Defines the op's result by `fn` of the elements of x, its scale (f32) and, where there is one,
/// its zero point.
using QuantizedFunction =
    function_ref<Value(OpBuilder &, Location, Value x, Value scale, Value zero)>;
static LogicalResult lowerQuantized(Operation *op, Lowering &l, QuantizedFunction fn) {
  FailureOr<QuantizationShape> shape = onnx::inferQuantization(l.plan, op, l.shapes.operands(op));
  if (failed(shape))
    return failure();
  SmallVector<Lowered> operands = l.operands(op);
  Type type = Lowering::elementType(op->getResult(0));
  SmallVector<Read> reads{
      {operands[0].tensor, identityMap(op->getContext(), shape->result.size())}};
  for (const Lowered &parameter : ArrayRef(operands).drop_front())
    reads.push_back(parameterRead(parameter, *shape));
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{shape->result, type},
      [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto body = [&](OpBuilder &nested, Location at, ValueRange args) {
          Value scale =
              convertScalar(nested, at, args[1], operands[1].elementType, nested.getF32Type());
          return fn(nested, at, args[0], scale, args.size() > 2 ? args[2] : Value());
        };
        return SmallVector<Value>{
            mapGeneric(l, b, loc, shape->result, type, reads, body, inits[0])};
      })[0];
  l.define(op, 0, result, shape->result, type);
  return success();
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
    auto inPrecision = [&](Value value) {
      if (!rounded || (!rounded.isF16() && !rounded.isBF16()))
        return value;
      return convertScalar(b, loc, convertScalar(b, loc, value, single, rounded), rounded, single);
    };
    Value wide = convertScalar(b, loc, x, from, single);
    Value quotient = b.create<arith::DivFOp>(loc, inPrecision(wide), inPrecision(scale));
    return quantizedScalar(b, loc, inPrecision(quotient), zero, to, saturate);
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
      if (zero)
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

void registerQuantizationOperators(OperatorTable &table) {
  table["QuantizeLinear"].lower = lowerQuantizeLinear;
  table["DequantizeLinear"].lower = lowerDequantizeLinear;
  table["DynamicQuantizeLinear"].lower = lowerDynamicQuantizeLinear;
}

} // namespace cameo
