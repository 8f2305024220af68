// Elementwise operators: arithmetic, functions, comparisons, Where and Clip.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Elementwise.h"

using namespace mlir;

namespace cameo {

//===-- Formulas ------------------------------------------------------------------------------===//

template <typename Op> static Value function(ScalarMath &m, Operation *, ValueRange x) {
  return m.unary<Op>(x[0]);
}

static Value absolute(ScalarMath &m, Operation *, ValueRange x) { return m.abs(x[0]); }
static Value negative(ScalarMath &m, Operation *, ValueRange x) { return m.neg(x[0]); }
static Value reciprocal(ScalarMath &m, Operation *, ValueRange x) { return m.div(m.c(1), x[0]); }

static Value sign(ScalarMath &m, Operation *, ValueRange x) {
  Value zero = m.c(0);
  Value above = m.lt(zero, x[0]);
  if (m.isUnsigned)
    return m.select(above, m.c(1), zero);
  // Zero and NaN are left as they are.
  return m.select(above, m.c(1), m.select(m.lt(x[0], zero), m.c(-1), x[0]));
}

static Value quotient(ScalarMath &m, Operation *, ValueRange x) { return m.div(x[0], x[1]); }
static Value difference(ScalarMath &m, Operation *, ValueRange x) { return m.sub(x[0], x[1]); }

static Value sum(ScalarMath &m, Operation *, ValueRange x) {
  Value result = x[0];
  for (Value next : x.drop_front())
    result = m.add(result, next);
  return result;
}

/// One kernel takes at most this many inputs: its parameters, an input's address and sizes each,
/// must fit 4352 bytes.
static constexpr size_t kMostInputs = 32;

/// Of any number of inputs: `formula` of all of them, if that is one kernel; else `fold` of groups,
/// and `finish` of the result.
template <Formula formula, Formula fold, Formula finish>
static LogicalResult lowerVariadic(Operation *op, Lowering &l) {
  if (op->getNumOperands() <= kMostInputs)
    return lowerByFormula(op, l, formula);
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  SmallVector<Lowered> inputs = l.operands(op);
  Type type = inputs[0].elementType, result = Lowering::elementType(op->getResult(0));
  Type computed = accumulatorType(signless(type));
  ArrayRef<Lowered> rest = inputs;
  SmallVector<Lowered> group; // what is known of the result, and the next inputs
  while (!rest.empty()) {
    size_t count = std::min(rest.size(), kMostInputs - group.size());
    group.append(rest.begin(), rest.begin() + count);
    rest = rest.drop_front(count);
    Type given = rest.empty() ? result : computed;
    Value tensor = l.build.elementwise(
        op->getLoc(), group, *sizes, given, [&](OpBuilder &b, Location loc, ValueRange elements) {
          ScalarMath m(b, loc, computed, Lowering::isUnsigned(type));
          SmallVector<Value> x;
          for (Value element : elements)
            x.push_back(convertScalar(b, loc, element, element.getType(), computed));
          Value value = fold(m, op, x);
          if (rest.empty())
            value = finish(m, op, value);
          return convertScalar(b, loc, value, value.getType(), signless(given));
        });
    group = {{tensor, *sizes, given}};
  }
  l.define(op, 0, group[0].tensor, *sizes, result);
  return success();
}

static Value same(ScalarMath &, Operation *, ValueRange x) { return x[0]; }
static Value overCount(ScalarMath &m, Operation *op, ValueRange x) {
  return m.div(x[0], m.c(op->getNumOperands()));
}

static Value product(ScalarMath &m, Operation *, ValueRange x) { return m.mul(x[0], x[1]); }

static Value mean(ScalarMath &m, Operation *op, ValueRange x) {
  return overCount(m, op, sum(m, op, x));
}

static Value greatest(ScalarMath &m, Operation *, ValueRange x) {
  Value result = x[0];
  for (Value next : x.drop_front())
    result = m.max(result, next);
  return result;
}

static Value least(ScalarMath &m, Operation *, ValueRange x) {
  Value result = x[0];
  for (Value next : x.drop_front())
    result = m.min(result, next);
  return result;
}

static Value modulo(ScalarMath &m, Operation *op, ValueRange x) {
  Value remainder = m.rem(x[0], x[1]);
  if (cast<onnx::ModOp>(op).getFmod() || m.isUnsigned)
    return remainder;
  // The divisor's sign, as in Python.
  Value zero = m.c(0);
  Value opposite = m.lt(m.binary<arith::XOrIOp>(remainder, x[1]), zero);
  Value nonzero = m.negation(m.eq(remainder, zero));
  Value differs = m.binary<arith::AndIOp>(opposite, nonzero);
  return m.select(differs, m.add(remainder, x[1]), remainder);
}

static Value equal(ScalarMath &m, Operation *, ValueRange x) { return m.eq(x[0], x[1]); }
static Value less(ScalarMath &m, Operation *, ValueRange x) { return m.lt(x[0], x[1]); }
static Value lessOrEqual(ScalarMath &m, Operation *, ValueRange x) { return m.le(x[0], x[1]); }
static Value greater(ScalarMath &m, Operation *, ValueRange x) { return m.gt(x[0], x[1]); }
static Value greaterOrEqual(ScalarMath &m, Operation *, ValueRange x) { return m.ge(x[0], x[1]); }

static Value isNaN(ScalarMath &m, Operation *, ValueRange x) {
  return m.b.create<arith::CmpFOp>(m.loc, arith::CmpFPredicate::UNO, x[0], x[0]);
}

static Value isInf(ScalarMath &m, Operation *op, ValueRange x) {
  auto node = cast<onnx::IsInfOp>(op);
  double infinity = std::numeric_limits<double>::infinity();
  Value result = scalarConstant(m.b, m.loc, m.b.getI1Type(), 0);
  if (node.getDetectPositive())
    result = m.eq(x[0], m.c(infinity));
  if (node.getDetectNegative())
    result = m.binary<arith::OrIOp>(result, m.eq(x[0], m.c(-infinity)));
  return result;
}

//===-- Operators that are more than a formula ------------------------------------------------===//

/// x to an integer power by repeated squaring, wrapping; 1 / x^n towards zero for negative n.
static Value integerPower(ScalarMath &m, Value x, Value exponent, bool unsignedExponent) {
  OpBuilder &b = m.b;
  Location loc = m.loc;
  ScalarMath e(b, loc, exponent.getType(), unsignedExponent);
  Value magnitude = e.abs(exponent);
  Value leading = b.create<math::CountLeadingZerosOp>(loc, magnitude);
  Value bits = b.create<arith::IndexCastOp>(loc, b.getIndexType(), e.sub(e.c(e.width()), leading));
  auto loop = b.create<scf::ForOp>(
      loc, indexConstant(b, loc, 0), bits, indexConstant(b, loc, 1),
      ValueRange{m.c(1), x, magnitude},
      [&](OpBuilder &inner, Location at, Value, ValueRange state) {
        ScalarMath base(inner, at, m.type, m.isUnsigned);
        ScalarMath count(inner, at, e.type, true);
        Value odd = inner.create<arith::TruncIOp>(at, inner.getI1Type(), state[2]);
        Value result = base.select(odd, base.mul(state[0], state[1]), state[0]);
        Value rest = count.binary<arith::ShRUIOp>(state[2], count.c(1));
        inner.create<scf::YieldOp>(at, ValueRange{result, base.mul(state[1], state[1]), rest});
      });
  Value power = loop.getResult(0);
  if (unsignedExponent)
    return power;
  // 1 and -1 are their own inverses; of the others 1 / x^n is less than one.
  Value unit = m.eq(m.abs(x), m.c(1));
  Value inverse = m.select(unit, power, m.c(0));
  return m.select(e.lt(exponent, e.c(0)), inverse, power);
}

static std::optional<double> constantReal(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
      return real.getValueAsDouble();
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      return static_cast<double>(integer.getInt());
  }
  return std::nullopt;
}

static Value power(OpBuilder &b, Location loc, Value x, Type type, Value exponent,
                   Type exponentType) {
  bool real = isa<FloatType>(type), realExponent = isa<FloatType>(exponentType);
  Type plain = signless(type);
  if (!real && !realExponent) {
    Type wide = b.getI64Type();
    Type from = exponentType;
    ScalarMath m(b, loc, plain, Lowering::isUnsigned(type));
    return integerPower(m, x, convertScalar(b, loc, exponent, from, wide),
                        Lowering::isUnsigned(exponentType));
  }
  // An integer to a real power is computed in double, as by C's pow.
  Type computed = real && !exponentType.isF64() ? accumulatorType(plain) : b.getF64Type();
  ScalarMath m(b, loc, computed, false);
  Value base = convertScalar(b, loc, x, type, computed);
  Value result;
  std::optional<double> known = constantReal(exponent);
  if (known == 1.0)
    result = base;
  else if (known == 2.0)
    result = m.mul(base, base);
  else if (known == 3.0)
    result = m.mul(m.mul(base, base), base);
  else if (known == -1.0)
    result = m.div(m.c(1), base);
  else
    result = m.binary<math::PowFOp>(base, convertScalar(b, loc, exponent, exponentType, computed));
  return convertScalar(b, loc, result, computed, type);
}

static LogicalResult lowerPow(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Type type = Lowering::elementType(op->getOperand(0));
  Type exponentType = Lowering::elementType(op->getOperand(1));
  Value tensor =
      elementwiseOf(op, l, {0, 1}, *sizes, type, [&](OpBuilder &b, Location loc, ValueRange x) {
        return power(b, loc, x[0], type, x[1], exponentType);
      });
  l.define(op, 0, tensor, *sizes, type);
  return success();
}

static LogicalResult lowerWhere(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Type type = Lowering::elementType(op->getOperand(1));
  Value tensor = elementwiseOf(op, l, {0, 1, 2}, *sizes, type,
                               [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                                 return b.create<arith::SelectOp>(loc, x[0], x[1], x[2]);
                               });
  l.define(op, 0, tensor, *sizes, type);
  return success();
}

static LogicalResult lowerClip(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  SmallVector<unsigned> operands{0};
  for (unsigned i : {1u, 2u})
    if (!l.absent(op, i))
      operands.push_back(i);
  Type type = Lowering::elementType(op->getOperand(0));
  if (operands.size() == 1) {
    l.define(op, 0, l.operand(op, 0));
    return success();
  }
  Value tensor =
      elementwiseOf(op, l, operands, *sizes, type, [&](OpBuilder &b, Location loc, ValueRange x) {
        ScalarMath m(b, loc, signless(type), Lowering::isUnsigned(type));
        Value result = x[0];
        for (auto [operand, bound] : llvm::zip(operands, x))
          if (operand)
            result = operand == 1 ? m.max(result, bound) : m.min(result, bound);
        return result;
      });
  l.define(op, 0, tensor, *sizes, type);
  return success();
}

/// In inference the output is the input, and the mask is true everywhere.
static LogicalResult lowerDropout(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered data = l.operand(op, 0);
  l.define(op, 0, data);
  if (op->getNumResults() > 1 && !isa<NoneType>(op->getResult(1).getType())) {
    Type bit = Lowering::elementType(op->getResult(1));
    Value mask = l.build.elementwise(op->getLoc(), {}, data.sizes, bit,
                                     [&](OpBuilder &b, Location loc, ValueRange) {
                                       return scalarConstant(b, loc, b.getI1Type(), 1);
                                     });
    l.define(op, 1, mask, data.sizes, bit);
  }
  return success();
}

//===-- Table ---------------------------------------------------------------------------------===//

void registerElementwiseOperators(LoweringRows &rows) {
  rows.add<onnx::AbsOp>({lowerElementwise<absolute>});
  rows.add<onnx::NegOp>({lowerElementwise<negative>});
  rows.add<onnx::SignOp>({lowerElementwise<sign>});
  rows.add<onnx::CeilOp>({lowerElementwise<function<math::CeilOp>>});
  rows.add<onnx::FloorOp>({lowerElementwise<function<math::FloorOp>>});
  rows.add<onnx::RoundOp>({lowerElementwise<function<math::RoundEvenOp>>});
  rows.add<onnx::SqrtOp>({lowerElementwise<function<math::SqrtOp>>});
  rows.add<onnx::ReciprocalOp>({lowerElementwise<reciprocal>});
  rows.add<onnx::ExpOp>({lowerElementwise<function<math::ExpOp>>});
  rows.add<onnx::LogOp>({lowerElementwise<function<math::LogOp>>});
  rows.add<onnx::ErfOp>({lowerElementwise<function<math::ErfOp>>});
  rows.add<onnx::SinOp>({lowerElementwise<function<math::SinOp>>});
  rows.add<onnx::CosOp>({lowerElementwise<function<math::CosOp>>});
  rows.add<onnx::TanOp>({lowerElementwise<function<math::TanOp>>});
  rows.add<onnx::AsinOp>({lowerElementwise<function<math::AsinOp>>});
  rows.add<onnx::AcosOp>({lowerElementwise<function<math::AcosOp>>});
  rows.add<onnx::AtanOp>({lowerElementwise<function<math::AtanOp>>});
  rows.add<onnx::SinhOp>({lowerElementwise<function<math::SinhOp>>});
  rows.add<onnx::CoshOp>({lowerElementwise<function<math::CoshOp>>});
  rows.add<onnx::TanhOp>({lowerElementwise<function<math::TanhOp>>});
  rows.add<onnx::AsinhOp>({lowerElementwise<function<math::AsinhOp>>});
  rows.add<onnx::AcoshOp>({lowerElementwise<function<math::AcoshOp>>});
  rows.add<onnx::AtanhOp>({lowerElementwise<function<math::AtanhOp>>});

  rows.add<onnx::AddOp>({lowerElementwise<sum>});
  rows.add<onnx::SubOp>({lowerElementwise<difference>});
  rows.add<onnx::MulOp>({lowerElementwise<product>});
  rows.add<onnx::DivOp>({lowerElementwise<quotient>});
  rows.add<onnx::ModOp>({lowerElementwise<modulo>, "floats with fmod = 1 only"});
  rows.add<onnx::PowOp>({lowerPow});
  rows.add<onnx::MaxOp>({lowerVariadic<greatest, greatest, same>});
  rows.add<onnx::MinOp>({lowerVariadic<least, least, same>});
  rows.add<onnx::SumOp>({lowerVariadic<sum, sum, same>});
  rows.add<onnx::MeanOp>({lowerVariadic<mean, sum, overCount>});

  rows.add<onnx::EqualOp>({lowerElementwise<equal>});
  rows.add<onnx::LessOp>({lowerElementwise<less>});
  rows.add<onnx::LessOrEqualOp>({lowerElementwise<lessOrEqual>});
  rows.add<onnx::GreaterOp>({lowerElementwise<greater>});
  rows.add<onnx::GreaterOrEqualOp>({lowerElementwise<greaterOrEqual>});
  rows.add<onnx::IsNaNOp>({lowerElementwise<isNaN>});
  rows.add<onnx::IsInfOp>({lowerElementwise<isInf>});

  rows.add<onnx::WhereOp>({lowerWhere});
  rows.add<onnx::ClipOp>({lowerClip, "min and max of one element"});
  rows.add<onnx::DropoutOp>({lowerDropout});

  registerActivations(rows);
  registerCasts(rows);
  registerBitwiseOperators(rows);
}

} // namespace cameo
