// A dispatch as schedule classes read it: what makes one element of several, and what is
// elementwise work on that.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

namespace cameo {

/// How an operation reads a tensor: with which indices, and what is padded to be it.
struct Access {
  mlir::Value tensor;      // as the operation reads it
  mlir::tensor::PadOp pad; // null where nothing is padded
  mlir::Value source;      // what is padded, or the tensor; a block argument where
                           // it is memory
  mlir::AffineMap map;
};

Access accessOf(mlir::Value tensor, mlir::AffineMap map);

/// Visits each value and operation once, however often it is used.
class Computation {
public:
  explicit Computation(kernel::DispatchOp op);

  kernel::DispatchOp op;
  llvm::SmallVector<mlir::Value> results;
  /// Operations that results are computed from, each after those that it reads.
  llvm::SmallVector<mlir::Operation *> operations;
  /// Those of them that make one element of several: reductions and scans.
  llvm::SmallVector<mlir::Operation *> combining;
  /// Where there is one such operation, with one result, and all results of the dispatch are that,
  /// or elementwise work that has read it at the place that it writes: the operation's result.
  mlir::Value root;

  /// Whether the value is, or is computed from, a result of a combining operation.
  bool isCombined(mlir::Value value) const { return combined.contains(value); }

  /// Whether elements of its results depend on combined ones at their own place alone.
  bool isElementwiseOnCombined(mlir::Operation *inner) const;

private:
  llvm::DenseSet<mlir::Value> combined;
};

} // namespace cameo
