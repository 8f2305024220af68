// Sizes without IR: attributes for expressions over named sizes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

namespace cameo::onnx {

/// Named sizes are string attributes, expressions are array attributes of an operation's number and
/// its operands: MLIR keeps one of each kind, so that equal ones are equal whoever made them.
class SymbolicSizes : public SizeBuilder {
public:
  using SizeBuilder::SizeBuilder;

  /// A size known at run time only. Sizes of one name are equal; one without a name equals no
  /// other.
  static mlir::OpFoldResult size(mlir::StringAttr name);

  mlir::OpFoldResult read(mlir::Value input, int64_t position, bool real) override;
  Sizes fetch(mlir::Value tensor, int64_t count, bool real) override;
  mlir::OpFoldResult decided(mlir::OpResult result, unsigned dim) override;
  mlir::OpFoldResult counted(mlir::Operation *op) override;
  mlir::StringAttr nameOf(mlir::OpFoldResult value) const override;

  /// True of a node that a run has to check.
  bool isCheckedAtRunTime(mlir::Operation *op) const { return checked.contains(op); }

protected:
  mlir::OpFoldResult create(SizeOperation op, llvm::ArrayRef<mlir::OpFoldResult> operands) override;
  void checkAtRunTime(mlir::Operation *op, mlir::OpFoldResult, const llvm::Twine &,
                      mlir::OpFoldResult, mlir::OpFoldResult) override {
    checked.insert(op);
  }
  bool isSize(mlir::OpFoldResult given) const override;

private:
  llvm::DenseSet<mlir::Operation *> checked;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::OpFoldResult> ofResults;
};

} // namespace cameo::onnx
