// What of a model cannot be compiled, and why, collected so that all of it is reported at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo::onnx {

class Refusals {
public:
  struct Problem {
    mlir::Operation *op; // the function for what its inputs and outputs lack
    std::string reason;
  };

  /// Records why `op` is refused, the nearest supported form included; gives failure. One reason
  /// for a node, but several for a function, whose inputs have no op of their own.
  llvm::LogicalResult add(mlir::Operation *op, const llvm::Twine &reason);
  /// A node behind one that is refused: nothing is known of it, and nothing is to be said.
  void hide(mlir::Operation *op) { refused.insert(op); }
  /// Whether a node is recorded, or hidden behind one that is.
  bool contains(mlir::Operation *op) const { return refused.contains(op); }
  llvm::ArrayRef<Problem> problems() const { return recorded; }

private:
  std::vector<Problem> recorded;
  llvm::DenseSet<mlir::Operation *> refused;
};

} // namespace cameo::onnx
