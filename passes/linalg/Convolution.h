// The operands and windows of a convolution.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/WindowTaps.h"

namespace cameo {

struct Convolution {
  Lowered x, w;
  std::optional<Lowered> bias;
  int64_t groups;
  Windows windows;
  Sizes result;
  bool isGrouped() const { return groups > 1; }
};

/// The operands of Conv or ConvTranspose, and what its rule says of them.
using ConvolutionRule = mlir::FailureOr<onnx::WindowShape> (*)(onnx::SizeBuilder &,
                                                               mlir::Operation *,
                                                               llvm::ArrayRef<Sizes>);
mlir::FailureOr<Convolution> readConvolution(mlir::Operation *op, Lowering &l,
                                             ConvolutionRule rule);

} // namespace cameo
