// Logic and bit operations.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Elementwise.h"

using namespace mlir;

namespace cameo {

template <typename Op> static Value combined(ScalarMath &m, Operation *, ValueRange x) {
  return m.binary<Op>(x[0], x[1]);
}

static Value logicalNot(ScalarMath &m, Operation *, ValueRange x) { return m.negation(x[0]); }

static Value bitwiseNot(ScalarMath &m, Operation *, ValueRange x) {
  return m.binary<arith::XOrIOp>(x[0], m.c(-1));
}

static Value shifted(ScalarMath &m, Operation *op, ValueRange x) {
  bool left = cast<onnx::BitShiftOp>(op).getDirection() == "LEFT";
  // A shift by the width or more leaves nothing; in arith it is undefined.
  Value inside = m.lt(x[1], m.c(m.width()));
  Value amount = m.select(inside, x[1], m.c(0));
  Value result =
      left ? m.binary<arith::ShLIOp>(x[0], amount) : m.binary<arith::ShRUIOp>(x[0], amount);
  return m.select(inside, result, m.c(0));
}

static LogicalResult lowerBitShift(Operation *op, Lowering &l) {
  if (!Lowering::isUnsigned(Lowering::elementType(op->getOperand(0))))
    return l.unsupported(op, "elements of type " +
                                 onnx::elementText(Lowering::elementType(op->getOperand(0))) +
                                 "; nearest supported: uint8 to uint64");
  return lowerByFormula(op, l, kIntegers, shifted);
}

void registerBitwiseOperators(OperatorTable &table) {
  table["And"].lower = lowerElementwise<combined<arith::AndIOp>, kBools>;
  table["Or"].lower = lowerElementwise<combined<arith::OrIOp>, kBools>;
  table["Xor"].lower = lowerElementwise<combined<arith::XOrIOp>, kBools>;
  table["Not"].lower = lowerElementwise<logicalNot, kBools>;
  table["BitwiseAnd"].lower = lowerElementwise<combined<arith::AndIOp>, kIntegers>;
  table["BitwiseOr"].lower = lowerElementwise<combined<arith::OrIOp>, kIntegers>;
  table["BitwiseXor"].lower = lowerElementwise<combined<arith::XOrIOp>, kIntegers>;
  table["BitwiseNot"].lower = lowerElementwise<bitwiseNot, kIntegers>;
  table["BitShift"].lower = lowerBitShift;
}

} // namespace cameo
