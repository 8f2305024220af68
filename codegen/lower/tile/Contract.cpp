// kernel.contract: products of fragments, by the accumulators' layout. With a thread_tile a step of
// depth is a column of lhs times a row of rhs:
//
//   %sum = vector.fma %splat, %row, %sum
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/tile/MatrixProducts.h"
#include "codegen/lower/tile/TileExpander.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cameo;
using kernel::ThreadTileAttr;

LogicalResult TileExpander::expand(kernel::ContractOp op) {
  if (failed(spreadOf(op, op.getType())))
    return failure();
  Attribute layout = op.getType().getLayout();
  if (auto threadTile = dyn_cast<ThreadTileAttr>(layout))
    return contractThreads(op, threadTile);
  if (isa<kernel::MmaAttr>(layout))
    return contractWarps(op);
  return op.emitOpError() << "has accumulators that no product is written for: " << layout;
}

LogicalResult TileExpander::contractWarps(kernel::ContractOp op) {
  FailureOr<Values> lhs = flatten(op, op.getLhs()), rhs = flatten(op, op.getRhs()),
                    sums = flatten(op, op.getAccumulator());
  if (failed(lhs) || failed(rhs) || failed(sums))
    return failure();
  FailureOr<Values> products = multiplyMatrices(op, *lhs, *rhs, *sums);
  if (failed(products))
    return failure();
  fragments[op.getResult()] = *products;
  return success();
}

/// Operands in the accumulator's type; integers are signed, but for truth values.
static Value widen(OpBuilder &builder, Location loc, Value value, Type element, bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type to = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = VectorType::get(vector.getShape(), element);
  if (isa<FloatType>(from))
    return builder.create<arith::ExtFOp>(loc, to, value);
  if (from.isInteger(1) || isUnsigned)
    return builder.create<arith::ExtUIOp>(loc, to, value);
  return builder.create<arith::ExtSIOp>(loc, to, value);
}

static Value multiplyAdd(OpBuilder &builder, Location loc, Value a, Value b, Value sum) {
  if (!isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return builder.create<arith::AddIOp>(loc, builder.create<arith::MulIOp>(loc, a, b), sum);
  if (isa<VectorType>(sum.getType()))
    return builder.create<vector::FMAOp>(loc, a, b, sum);
  return builder.create<math::FmaOp>(loc, a, b, sum);
}

LogicalResult TileExpander::contractThreads(kernel::ContractOp op, ThreadTileAttr layout) {
  Location loc = op.getLoc();
  FailureOr<Values> lhs = flatten(op, op.getLhs()), rhs = flatten(op, op.getRhs()),
                    sums = flatten(op, op.getAccumulator());
  if (failed(lhs) || failed(rhs) || failed(sums))
    return failure();
  OpBuilder builder(op);
  Type element = op.getType().getElementType(), sumType = valueType(op.getType());
  int64_t width = spreadOf(op.getLhs().getType()).width;
  int64_t rows = layout.getTileRows(), groups = layout.getTileCols() / layout.getGroup();
  for (int64_t k = 0; k < op.getLhs().getType().getCols(); ++k) {
    Values splats, line;
    for (int64_t i = 0; i < rows; i += width) {
      Value part =
          widen(builder, loc, (*lhs)[(k * rows + i) / width], element, op.getLhsUnsigned());
      for (int64_t e = 0; e < width; ++e)
        splats.push_back(splat(builder, loc, sumType, elementOf(builder, loc, part, e)));
    }
    for (int64_t j = 0; j < groups; ++j)
      line.push_back(widen(builder, loc, (*rhs)[k * groups + j], element, op.getRhsUnsigned()));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < groups; ++j) {
        Value &sum = (*sums)[i * groups + j];
        sum = multiplyAdd(builder, loc, splats[i], line[j], sum);
      }
  }
  fragments[op.getResult()] = *sums;
  return success();
}
