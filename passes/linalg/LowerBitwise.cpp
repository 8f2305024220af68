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

void registerBitwiseOperators(OperatorTable &table) {
  table["And"].lower = lowerElementwise<combined<arith::AndIOp>>;
  table["Or"].lower = lowerElementwise<combined<arith::OrIOp>>;
  table["Xor"].lower = lowerElementwise<combined<arith::XOrIOp>>;
  table["Not"].lower = lowerElementwise<logicalNot>;
  table["BitwiseAnd"].lower = lowerElementwise<combined<arith::AndIOp>>;
  table["BitwiseOr"].lower = lowerElementwise<combined<arith::OrIOp>>;
  table["BitwiseXor"].lower = lowerElementwise<combined<arith::XOrIOp>>;
  table["BitwiseNot"].lower = lowerElementwise<bitwiseNot>;
  table["BitShift"].lower = lowerElementwise<shifted>;
}

} // namespace cameo
