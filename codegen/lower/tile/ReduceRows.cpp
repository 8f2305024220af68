// kernel.reduce_rows: each thread combines what it has of a row, then lanes that share one join that.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Shuffles.h"
#include "codegen/lower/tile/TileExpander.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cameo;
using kernel::Place;
using kernel::Spread;

/// Bit of a lane's number.
static constexpr int64_t kFarthest = 16;

/// What a region yields of these arguments.
static Value inlinedRegion(OpBuilder &builder, Region &region, ValueRange arguments) {
  IRMapping values;
  values.map(region.getArguments(), arguments);
  for (Operation &inner : region.front().without_terminator())
    builder.clone(inner, values);
  return values.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

LogicalResult TileExpander::expand(kernel::ReduceRowsOp op) {
  Location loc = op.getLoc();
  FailureOr<const Spread *> found = spreadOf(op, op.getType());
  if (failed(found))
    return failure();
  const Spread &spread = **found;
  SmallVector<Values> inputs;
  for (Value input : op.getInputs()) {
    FailureOr<Values> values = flatten(op, input);
    if (failed(values))
      return failure();
    inputs.push_back(*values);
  }
  OpBuilder builder(op);
  auto rowAt = [](const Place &place) { return std::pair(place.row, place.rowOffset); };
  llvm::MapVector<std::pair<AffineExpr, int64_t>, Value> rows;
  for (auto [number, place] : llvm::enumerate(spread.values)) {
    Value &sofar = rows.try_emplace(rowAt(place), op.getInit()).first->second;
    for (int64_t e = 0; e < spread.width; ++e) {
      Place there = place;
      there.columnOffset += e;
      Values arguments{rowOf(builder, loc, there), colOf(builder, loc, there)};
      for (const Values &input : inputs)
        arguments.push_back(elementOf(builder, loc, input[number], e));
      arguments.push_back(sofar);
      sofar = inlinedRegion(builder, op.getBody(), arguments);
    }
  }
  // One exchange for all rows, then the next, so that they do not wait for one another.
  int64_t bits = kernel::rowSharing(spread, op.getType().getCols())->bits;
  for (int64_t bit = kFarthest; bit > 0; bit /= 2)
    if (bits & bit)
      for (auto &[row, value] : rows)
        value = inlinedRegion(builder, op.getCombine(),
                              {value, fromOtherLane(builder, loc, value, bit)});
  Values &results = fragments[op.getResult()];
  for (const Place &place : spread.values)
    results.push_back(splat(builder, loc, valueType(op.getType()), rows.lookup(rowAt(place))));
  return success();
}
