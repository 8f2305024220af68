// Cast, CastLike, BitCast and Identity.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Elementwise.h"

using namespace mlir;

namespace cameo {

static LogicalResult lowerIdentity(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  l.define(op, 0, l.operand(op, 0));
  return success();
}

/// Cast and CastLike: the result's type says it all. `saturate` and `round_mode` concern 8-bit
/// floats alone.
static LogicalResult lowerCast(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered input = l.operand(op, 0);
  Type from = Lowering::elementType(op->getOperand(0));
  Type to = Lowering::elementType(op->getResult(0));
  if (signless(from) == signless(to)) {
    // Between signed and unsigned of one width the bits stay.
    l.define(op, 0, input.tensor, input.sizes, to);
    return success();
  }
  Value tensor =
      elementwiseOf(op, l, {0}, input.sizes, to, [&](OpBuilder &b, Location loc, ValueRange x) {
        return convertScalar(b, loc, x[0], from, to);
      });
  l.define(op, 0, tensor, input.sizes, to);
  return success();
}

static LogicalResult lowerBitCast(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered input = l.operand(op, 0);
  Type from = signless(Lowering::elementType(op->getOperand(0)));
  Type to = Lowering::elementType(op->getResult(0)), plain = signless(to);
  if (from == plain) {
    l.define(op, 0, input.tensor, input.sizes, to);
    return success();
  }
  Value tensor = elementwiseOf(op, l, {0}, input.sizes, to,
                               [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                                 if (from.isInteger(1))
                                   return b.create<arith::ExtUIOp>(loc, plain, x[0]);
                                 if (plain.isInteger(1))
                                   return convertScalar(b, loc, x[0], from, plain);
                                 return b.create<arith::BitcastOp>(loc, plain, x[0]);
                               });
  l.define(op, 0, tensor, input.sizes, to);
  return success();
}

void registerCasts(OperatorTable &table) {
  table["Identity"].lower = lowerIdentity;
  table["Cast"].lower = lowerCast;
  table["CastLike"].lower = lowerCast;
  table["BitCast"].lower = lowerBitCast;
}

} // namespace cameo
