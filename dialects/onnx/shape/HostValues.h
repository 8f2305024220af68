// Values of tensors that are known on the host: what shapes may depend on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

namespace cameo::onnx {

class Shapes;

/// A value is known from a constant, from shapes, or read from an input of the model; where all else fails and it
/// is needed, the device's numbers are read back.
class HostValues {
public:
  HostValues(Shapes &shapes, Refusals &refusals) : shapes(shapes), refusals(refusals) {}

  /// The values of an operand in row-major order, at most `limit`, read back where the device computes them;
  /// failure, refused for `op`, where they are too many, or nobody knows how many.
  mlir::FailureOr<Sizes> values(mlir::Operation *op, unsigned operand, int64_t limit = 4096);
  /// The only number of an operand of at most one dimension.
  mlir::FailureOr<mlir::OpFoldResult> number(mlir::Operation *op, unsigned operand);
  /// The same of any value, without a refusal.
  mlir::FailureOr<Sizes> tryValues(mlir::Value value, int64_t limit = 4096);

private:
  mlir::FailureOr<Sizes> required(mlir::Operation *op, unsigned operand, int64_t limit);
  bool isKnown(mlir::Value value, int64_t limit) const;
  void evaluate(mlir::Value value, int64_t limit);
  mlir::FailureOr<Sizes> readInput(mlir::BlockArgument argument, int64_t limit);
  std::string describeDeviceValue(mlir::Value value);
  bool mayFetch(mlir::Value value, int64_t limit);
  mlir::FailureOr<Sizes> fetch(mlir::Value value, int64_t limit);

  /// The most numbers of an input that are read.
  static constexpr int64_t kMaxHostReads = 1024;

  Shapes &shapes;
  Refusals &refusals;
  llvm::DenseMap<mlir::Value, Sizes> cache;
  llvm::DenseMap<mlir::Value, int64_t> failures; // for limits up to this one
};

/// A tensor whose values are on the host.
struct HostArray {
  llvm::SmallVector<int64_t> shape;
  Sizes values; // row-major
  mlir::OpFoldResult at(llvm::ArrayRef<int64_t> indices) const;
};

/// The host values of an operand with a shape known at compile time; no refusal.
mlir::FailureOr<HostArray> hostArray(Shapes &shapes, mlir::Operation *op, unsigned operand);

/// Sizes known at compile time and few elements, or failure.
mlir::FailureOr<llvm::SmallVector<int64_t>> hostShape(llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Values of a host tensor of this shape, from its indices.
Sizes hostElements(llvm::ArrayRef<int64_t> shape,
                   llvm::function_ref<mlir::OpFoldResult(llvm::ArrayRef<int64_t> indices)> element);

} // namespace cameo::onnx
