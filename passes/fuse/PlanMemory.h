// How many bytes of the arena are in use at each step of a plan.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <set>
#include <vector>

namespace cameo {

/// Whether a plan does something there, and does not only name sizes, memory or parts of memory.
bool isStep(mlir::Operation *op);

/// Tensors are in use from the step that writes them, or a part of them, to the last one that reads
/// them. Sizes known only at run time are guessed.
class PlanMemory {
public:
  /// Steps are told by their places in the block.
  PlanMemory(mlir::Block &block, const llvm::DenseMap<mlir::Operation *, int64_t> &places);

  /// Says that a dispatch is at another place, unless more than the most that is in use in the plan
  /// would be in use then.
  bool move(kernel::DispatchOp op, int64_t from, int64_t to);
  /// Another dispatch has these results now.
  void replace(mlir::ValueRange results, mlir::ValueRange by);

private:
  struct Tensor {
    double bytes; // in the arena
    std::set<int64_t> steps;
  };

  std::optional<unsigned> tensorOf(mlir::Value value);
  llvm::SmallVector<unsigned> tensorsOf(mlir::Operation *op);
  void add(const Tensor &tensor, double sign);

  std::vector<Tensor> tensors;
  llvm::DenseMap<mlir::Value, unsigned> numbers; // of those with memory of their own
  std::vector<double> inUse;                     // by place
  double most = 0;
};

} // namespace cameo
