// What of a model cannot be compiled, and why, collected so that all of it is reported at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo::onnx {

class Refusals {
public:
  /// What is refused: a node, or one of the model's inputs and outputs, which have no op of their own.
  enum class Subject { Input, Output, Node };
  struct Problem {
    mlir::Operation *op; // the function for its inputs and outputs
    Subject subject;
    std::string reason;
  };

  /// Records why `op` is refused, the nearest supported form included; gives failure. One reason
  /// for a node, but several for inputs and outputs of a function.
  llvm::LogicalResult add(mlir::Operation *op, const llvm::Twine &reason,
                          Subject subject = Subject::Node);
  /// A node behind one that is refused: nothing is known of it, and nothing is to be said.
  void hide(mlir::Operation *op) { refused.insert(op); }
  /// Takes back what is recorded of a node that is taken out of the model.
  void forget(mlir::Operation *op);
  /// Whether a node is recorded, or hidden behind one that is.
  bool contains(mlir::Operation *op) const { return refused.contains(op); }
  llvm::ArrayRef<Problem> problems() const { return recorded; }

private:
  std::vector<Problem> recorded;
  llvm::DenseSet<mlir::Operation *> refused;
};

} // namespace cameo::onnx
