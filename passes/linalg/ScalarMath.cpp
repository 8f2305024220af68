// Formulas on scalars and the loop that elementwise operators put around them.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Elementwise.h"

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

//===-- The loop ------------------------------------------------------------------------------===//

LogicalResult checkElementType(Operation *op, Lowering &l, unsigned operand, unsigned accepted) {
  Type type = Lowering::elementType(op->getOperand(operand));
  unsigned kind = isa<FloatType>(type) ? kFloats : type.isInteger(1) ? kBools : kIntegers;
  if (kind & accepted)
    return success();
  StringRef nearest = accepted & kFloats ? "float" : accepted & kIntegers ? "int32" : "bool";
  std::string text;
  llvm::raw_string_ostream(text) << "elements of type " << type << "; cast to " << nearest;
  return l.unsupported(op, text);
}

Value elementwiseOf(Operation *op, Lowering &l, ArrayRef<unsigned> operands, const Sizes &sizes,
                    Type elementType, DispatchBuilder::ScalarFunction fn) {
  SmallVector<Lowered> tensors;
  SmallVector<Attribute> constants; // null where the element is read
  for (unsigned index : operands) {
    Attribute constant;
    ElementsAttr value = onnx::constantValue(op->getOperand(index));
    if (value && value.getNumElements() == 1)
      if (FailureOr<Sizes> host = l.host.tryValues(op->getOperand(index), 1); succeeded(host))
        constant = dyn_cast<Attribute>((*host)[0]);
    constants.push_back(constant);
    if (!constant)
      tensors.push_back(l.operand(op, index));
  }
  return l.build.elementwise(
      op->getLoc(), tensors, sizes, elementType,
      [&](OpBuilder &b, Location loc, ValueRange scalars) {
        SmallVector<Value> elements;
        for (auto [index, constant] : llvm::zip(operands, constants)) {
          Type type = signless(Lowering::elementType(op->getOperand(index)));
          if (!constant) {
            elements.push_back(scalars.front());
            scalars = scalars.drop_front();
          } else if (auto real = dyn_cast<FloatAttr>(constant)) {
            elements.push_back(scalarConstant(b, loc, type, real.getValueAsDouble()));
          } else {
            APInt integer = cast<IntegerAttr>(constant).getValue();
            auto exact = IntegerAttr::get(type, integer.sextOrTrunc(type.getIntOrFloatBitWidth()));
            elements.push_back(b.create<arith::ConstantOp>(loc, exact));
          }
        }
        return fn(b, loc, elements);
      });
}

LogicalResult lowerByFormula(Operation *op, Lowering &l, unsigned accepted, Formula formula) {
  SmallVector<Sizes> shapes;
  SmallVector<unsigned> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (failed(checkElementType(op, l, i, accepted)))
      return failure();
    shapes.push_back(l.operand(op, i).sizes);
    operands.push_back(i);
  }
  FailureOr<Sizes> sizes = l.plan.broadcast(op, shapes);
  if (failed(sizes))
    return failure();
  Type type = Lowering::elementType(op->getOperand(0));
  Type computed = accumulatorType(signless(type));
  Type resultType = Lowering::elementType(op->getResult(0));
  Value tensor = elementwiseOf(
      op, l, operands, *sizes, resultType, [&](OpBuilder &b, Location loc, ValueRange elements) {
        ScalarMath m(b, loc, computed, Lowering::isUnsigned(type));
        SmallVector<Value> x;
        for (Value element : elements)
          x.push_back(convertScalar(b, loc, element, element.getType(), computed));
        Value result = formula(m, op, x);
        // Back to 16 bits; formulas give booleans as they are.
        return convertScalar(b, loc, result, result.getType(), signless(resultType));
      });
  l.define(op, 0, tensor, *sizes, resultType);
  return success();
}

} // namespace cameo
