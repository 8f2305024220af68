// The most that sizes can be that a fetch decides.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Rt.h"

#include "mlir/IR/Builders.h"

namespace cameo {

/// Values are found where the builder stands, in front of all fetches, or made there.
class SizeBounds {
public:
  explicit SizeBounds(mlir::OpBuilder &builder) : builder(builder) {}

  /// A value that is no less than `size`, of which is known what does not come from a fetch; null where nothing
  /// bounds it.
  mlir::Value of(mlir::Value size);

private:
  bool isFetched(mlir::Value value);
  mlir::Value known(mlir::Value value);
  mlir::Value compute(mlir::Value size);
  template <typename Op> mlir::Value make(mlir::Operation *like, mlir::Value a, mlir::Value b);

  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, bool> fetched; // whether it depends on one
  llvm::DenseMap<mlir::Value, mlir::Value> copies, bounds;
};

} // namespace cameo
