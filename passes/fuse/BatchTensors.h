// Where the operands and results of equal dispatches are, and whether they can be operands and
// results of one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/fuse/Batch.h"
#include "passes/fuse/Skeleton.h"
#include "passes/fuse/StackedConstants.h"

namespace cameo {

/// Why something cannot be is a text; an empty one says that it can.
class BatchTensors {
public:
  explicit BatchTensors(StackedConstants &constants) : constants(constants) {}

  static int64_t resultBytes(kernel::DispatchOp op);
  static int64_t constantBytes(kernel::DispatchOp op);

  /// Adds to the skeleton which concatenations results are parts of, and as numbers, which parts;
  /// and where operands come from: which batch, and as a number, which member of it; or which
  /// tensor, unless `unrelated` ones are to count as equal.
  void describe(kernel::DispatchOp op, bool unrelated, Skeleton &skeleton);

  llvm::StringRef unfitResults(kernel::DispatchOp op);

  /// Sets where the members are in the results of the batch: where the concatenation that they are
  /// parts of wants them, else outermost.
  llvm::StringRef findResults(llvm::ArrayRef<kernel::DispatchOp> members, Batch &batch);
  /// Sets the operands of the batch, with what they need in front of it.
  llvm::StringRef findOperands(mlir::OpBuilder &builder, llvm::ArrayRef<kernel::DispatchOp> members,
                               const Skeleton &first, Batch &batch);
  /// Gives those who read the members' results the batch's, and erases the members.
  void replaceResults(mlir::OpBuilder &builder, llvm::ArrayRef<kernel::DispatchOp> members,
                      kernel::DispatchOp merged, const Batch &batch);

private:
  /// Element `index` along `dim` of the result of a batch.
  struct Lane {
    mlir::Value stack;
    int64_t dim, index;
  };

  bool canStack(llvm::ArrayRef<mlir::Value> tensors);
  std::optional<BatchOperand> stacked(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> tensors,
                                      int64_t step);
  std::optional<BatchOperand> stackedConstants(mlir::OpBuilder &builder,
                                               llvm::ArrayRef<mlir::Value> tensors);
  std::optional<BatchOperand> reshaped(mlir::OpBuilder &builder,
                                       llvm::ArrayRef<mlir::Value> tensors, int64_t step);
  std::optional<BatchOperand> placed(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> tensors);
  void replaceParts(mlir::OpBuilder &builder, mlir::OpOperand &firstUse, mlir::Value whole,
                    int64_t count);
  mlir::Value viewOf(mlir::OpBuilder &builder, mlir::OpResult member, const Lane &lane);

  StackedConstants &constants;
  llvm::DenseMap<mlir::Value, Lane> lanes; // what members' results have become
};

} // namespace cameo
