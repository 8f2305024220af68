// Several dispatches that differ in numbers and tensors alone, as one description with a dimension
// more.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/IR/Builders.h"

namespace cameo {

/// What the members of a batch have as an operand: all the same tensor, or member i element
/// `first + i * step` of a tensor along a dimension that the operand does not have.
struct BatchOperand {
  mlir::Value tensor;
  bool isShared = true;
  int64_t dim = 0, first = 0, step = 1;
};

/// See the file comment.
struct Batch {
  int64_t count;
  /// Member i has the numbers (Skeleton.h) of member 0 and i times these.
  llvm::SmallVector<int64_t> steps;
  llvm::SmallVector<BatchOperand> operands; // inputs
  /// By result: which dimension of the batch's result the members are.
  llvm::SmallVector<int64_t> resultDims;
};

/// Whether the dispatch's body has nothing that a batch could not have.
bool canBatch(kernel::DispatchOp op);

/// `type` with a dimension of `count` more, before dimension `dim`.
mlir::RankedTensorType withDimension(mlir::Type type, int64_t dim, int64_t count);

/// The batch of which `first` is member 0, where `builder` stands. Nothing is erased or replaced.
kernel::DispatchOp buildBatch(mlir::OpBuilder &builder, mlir::Location loc,
                              kernel::DispatchOp first, const Batch &batch);

} // namespace cameo
