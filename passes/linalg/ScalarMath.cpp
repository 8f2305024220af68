// Formulas on scalars and the loop that elementwise operators put around them.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/ScalarMath.h"

using namespace mlir;

namespace cameo {

//===-- Arithmetic ----------------------------------------------------------------------------===//

Value ScalarMath::add(Value x, Value y) {
  return isFloat() ? binary<arith::AddFOp>(x, y) : binary<arith::AddIOp>(x, y);
}

Value ScalarMath::sub(Value x, Value y) {
  return isFloat() ? binary<arith::SubFOp>(x, y) : binary<arith::SubIOp>(x, y);
}

Value ScalarMath::mul(Value x, Value y) {
  return isFloat() ? binary<arith::MulFOp>(x, y) : binary<arith::MulIOp>(x, y);
}

Value ScalarMath::div(Value x, Value y) {
  if (isFloat())
    return binary<arith::DivFOp>(x, y);
  // Division by zero, and of the least value by -1, is undefined in arith.
  Value zero = c(0), byZero = eq(y, zero);
  if (isUnsigned)
    return select(byZero, zero, binary<arith::DivUIOp>(x, select(byZero, c(1), y)));
  Value byMinusOne = eq(y, c(-1));
  Value safe = select(binary<arith::OrIOp>(byZero, byMinusOne), c(1), y);
  Value quotient = binary<arith::DivSIOp>(x, safe);
  return select(byZero, zero, select(byMinusOne, neg(x), quotient));
}

Value ScalarMath::rem(Value x, Value y) {
  if (isFloat())
    return binary<arith::RemFOp>(x, y);
  Value zero = c(0), byZero = eq(y, zero);
  if (isUnsigned)
    return select(byZero, zero, binary<arith::RemUIOp>(x, select(byZero, c(1), y)));
  // The remainder of a division by -1 is that of one by 1.
  Value trivial = binary<arith::OrIOp>(byZero, eq(y, c(-1)));
  return binary<arith::RemSIOp>(x, select(trivial, c(1), y));
}

Value ScalarMath::fma(Value x, Value y, Value z) { return b.create<math::FmaOp>(loc, x, y, z); }

Value ScalarMath::max(Value x, Value y) {
  if (isFloat())
    return binary<arith::MaximumFOp>(x, y);
  return isUnsigned ? binary<arith::MaxUIOp>(x, y) : binary<arith::MaxSIOp>(x, y);
}

Value ScalarMath::min(Value x, Value y) {
  if (isFloat())
    return binary<arith::MinimumFOp>(x, y);
  return isUnsigned ? binary<arith::MinUIOp>(x, y) : binary<arith::MinSIOp>(x, y);
}

Value ScalarMath::neg(Value x) { return isFloat() ? unary<arith::NegFOp>(x) : sub(c(0), x); }

Value ScalarMath::abs(Value x) {
  if (isFloat())
    return unary<math::AbsFOp>(x);
  return isUnsigned ? x : select(lt(x, c(0)), neg(x), x);
}

//===-- Comparisons ---------------------------------------------------------------------------===//

static Value compare(ScalarMath &m, arith::CmpFPredicate real, arith::CmpIPredicate integer,
                     arith::CmpIPredicate natural, Value x, Value y) {
  if (m.isFloat())
    return m.b.create<arith::CmpFOp>(m.loc, real, x, y);
  return m.b.create<arith::CmpIOp>(m.loc, m.isUnsigned ? natural : integer, x, y);
}

Value ScalarMath::eq(Value x, Value y) {
  return compare(*this, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq,
                 arith::CmpIPredicate::eq, x, y);
}

Value ScalarMath::lt(Value x, Value y) {
  return compare(*this, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt,
                 arith::CmpIPredicate::ult, x, y);
}

Value ScalarMath::le(Value x, Value y) {
  return compare(*this, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle,
                 arith::CmpIPredicate::ule, x, y);
}

Value ScalarMath::select(Value condition, Value x, Value y) {
  return b.create<arith::SelectOp>(loc, condition, x, y);
}

Value ScalarMath::negation(Value bit) {
  return binary<arith::XOrIOp>(bit, scalarConstant(b, loc, b.getI1Type(), 1));
}

//===-- Functions -----------------------------------------------------------------------------===//

Value ScalarMath::exp(Value x) { return unary<math::ExpOp>(x); }
Value ScalarMath::expm1(Value x) { return unary<math::ExpM1Op>(x); }
Value ScalarMath::tanh(Value x) { return unary<math::TanhOp>(x); }
Value ScalarMath::sigmoid(Value x) { return div(c(1), add(c(1), exp(neg(x)))); }
Value ScalarMath::softplus(Value x) {
  return add(max(x, c(0)), unary<math::Log1pOp>(exp(neg(abs(x)))));
}

} // namespace cameo
