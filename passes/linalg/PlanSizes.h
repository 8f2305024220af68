// Sizes as values of the host plan.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

#include "mlir/IR/Builders.h"

namespace cameo {

/// Expressions are `arith` and `math` operations where the builder stands, constants among them;
/// what the model is given are values, too, some of which have a name.
class PlanSizes : public onnx::SizeBuilder {
public:
  PlanSizes(mlir::OpBuilder &b, onnx::Refusals &refusals);

  /// A fresh plan: the builder stands at its beginning.
  void begin(mlir::Location loc);
  /// What is made from now on is for the node there.
  void setLocation(mlir::Location loc) { at = loc; }
  mlir::Location location() const { return at; }
  void setName(mlir::Value size, mlir::StringAttr name) { names[size] = name; }
  /// The tensor of the plan that an input of the model has become.
  void setInput(mlir::Value input, mlir::Value tensor) { inputs[input] = tensor; }
  mlir::OpFoldResult read(mlir::Value input, int64_t position, bool real) override;
  /// Gives the tensor of the plan that a value of the model has become, where the value was lowered.
  std::function<mlir::Value(mlir::Value)> tensorOf;
  onnx::Sizes fetch(mlir::Value tensor, int64_t count, bool real) override;
  mlir::OpFoldResult decided(mlir::OpResult result, unsigned dim) override {
    return ofResults.at({result, dim});
  }
  /// The size that an operator of the plan gives beside a result.
  void decide(mlir::OpResult result, unsigned dim, mlir::Value size) {
    ofResults[{result, dim}] = size;
    decidedSizes.insert(size);
  }
  mlir::OpFoldResult counted(mlir::Operation *op) override { return counts.lookup(op); }
  /// Reads what `counted` gives for the operator from a tensor of the plan, of one number (i64).
  void setCount(mlir::Operation *op, mlir::Value tensor);
  mlir::StringAttr nameOf(mlir::OpFoldResult value) const override;

  /// The i1 of a condition.
  mlir::Value isTrue(mlir::OpFoldResult condition);
  /// An SSA value of an OpFoldResult, in the plan.
  mlir::Value value(mlir::OpFoldResult ofr);

protected:
  mlir::OpFoldResult create(onnx::SizeOperation op,
                            llvm::ArrayRef<mlir::OpFoldResult> operands) override;
  void checkAtRunTime(mlir::Operation *op, mlir::OpFoldResult condition, const llvm::Twine &message,
                      mlir::OpFoldResult a, mlir::OpFoldResult b) override;
  bool isSize(mlir::OpFoldResult given) const override;

private:
  mlir::Value compare(onnx::SizeOperation op, mlir::Value left, mlir::Value right);
  mlir::Value wide(mlir::OpFoldResult number);
  mlir::Value createWide(onnx::SizeOperation op, llvm::ArrayRef<mlir::OpFoldResult> operands);

  mlir::OpBuilder &b;
  mlir::Location at;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> names; // of inputs' sizes
  llvm::DenseMap<mlir::Value, mlir::Value> inputs;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> ofResults;
  llvm::DenseSet<mlir::Value> decidedSizes;
  llvm::DenseMap<mlir::Operation *, mlir::Value> counts;
};

} // namespace cameo
