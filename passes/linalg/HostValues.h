// Values of tensors that are known on the host: what shapes may depend on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/Passes.h"
#include "passes/linalg/PlanSizes.h"

namespace cameo {

using onnx::Sizes;

class Lowering;

/// A value is known from a constant, from shapes, or read from an input of the model.
class HostValues {
public:
  explicit HostValues(Lowering &l) : l(l) {}

  /// The values of an operand in row-major order, at most `limit`; failure, reported for `op`,
  /// where they are computed on the device or too many.
  mlir::FailureOr<Sizes> values(mlir::Operation *op, unsigned operand, int64_t limit = 4096);
  /// The same of any value, without a report.
  mlir::FailureOr<Sizes> tryValues(mlir::Value onnxValue, int64_t limit = 4096);

private:
  bool isKnown(mlir::Value value, int64_t limit) const;
  void evaluate(mlir::Value value, int64_t limit);
  mlir::FailureOr<Sizes> readInput(mlir::BlockArgument argument, int64_t limit);
  std::string describeDeviceValue(mlir::Value value);

  /// The most numbers of an input that the plan reads.
  static constexpr int64_t kMostRead = 1024;

  Lowering &l;
  llvm::DenseMap<mlir::Value, Sizes> cache;
  llvm::DenseMap<mlir::Value, int64_t> failures; // for limits up to this one
};

} // namespace cameo
