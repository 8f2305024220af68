// Sizes of a function's values as far as they have been inferred, and what values on the host hold:
// what shape rules ask for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/HostValues.h"

namespace cameo::onnx {

class Shapes {
public:
  Shapes(SizeBuilder &sizes, Refusals &refusals) : sizes(sizes), host(*this, refusals) {}

  /// What sizes are computed with.
  SizeBuilder &sizes;
  /// Values of tensors on the host.
  HostValues host;

  void define(mlir::Value value, const Sizes &sizes) { known[value] = sizes; }
  /// The sizes of a value; nothing where it was not defined and is not a constant.
  std::optional<Sizes> find(mlir::Value value) const;
  /// The sizes of an operand that was inferred.
  Sizes of(mlir::Operation *op, unsigned operand) const;
  /// Whether the sizes of all operands that are there are known.
  bool hasOperands(mlir::Operation *op) const;
  /// Those of all operands up to the last that is there; none of one that is absent.
  llvm::SmallVector<Sizes> operands(mlir::Operation *op) const;

private:
  llvm::DenseMap<mlir::Value, Sizes> known;
};

/// Whether an optional operand is absent (also beyond the operand list).
bool isAbsent(mlir::Operation *op, unsigned operand);
/// The element type of a tensor as ONNX has it.
mlir::Type elementType(mlir::Value value);

} // namespace cameo::onnx
