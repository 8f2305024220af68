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

void registerBitwiseOperators(LoweringRows &rows) {
  rows.add<onnx::AndOp>({lowerElementwise<combined<arith::AndIOp>>});
  rows.add<onnx::OrOp>({lowerElementwise<combined<arith::OrIOp>>});
  rows.add<onnx::XorOp>({lowerElementwise<combined<arith::XOrIOp>>});
  rows.add<onnx::NotOp>({lowerElementwise<logicalNot>});
  rows.add<onnx::BitwiseAndOp>({lowerElementwise<combined<arith::AndIOp>>});
  rows.add<onnx::BitwiseOrOp>({lowerElementwise<combined<arith::OrIOp>>});
  rows.add<onnx::BitwiseXorOp>({lowerElementwise<combined<arith::XOrIOp>>});
  rows.add<onnx::BitwiseNotOp>({lowerElementwise<bitwiseNot>});
  rows.add<onnx::BitShiftOp>({lowerElementwise<shifted>});
}

} // namespace cameo
