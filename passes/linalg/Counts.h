// How many elements of a line are chosen, and which.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Scanning.h"

namespace cameo {

/// Places of a line that a condition holds for.
class Choice {
public:
  using Condition =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value place)>; // i1

  Choice(Lowering &l, mlir::Location loc, mlir::OpFoldResult length, Condition isChosen);

  /// How many are chosen up to a place, with it, as an index inside of a body.
  mlir::Value countAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value place) const;
  /// The place of chosen number `number`, inside of a body; the line's length where there is none.
  mlir::Value placeOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value number) const;
  /// Reads back how many are chosen, for the operator's shape rule.
  void count(mlir::Operation *op);
  /// The places of all `count` that are chosen, in memory.
  Lowered places(mlir::OpFoldResult count) const;

private:
  Lowering &l;
  mlir::Location loc;
  mlir::OpFoldResult length;
  RunningTotals totals;
};

/// An element of integers as an index, inside of a body.
mlir::Value indexAt(mlir::OpBuilder &b, mlir::Location loc, const Lowered &indices,
                    mlir::ValueRange at);

} // namespace cameo
