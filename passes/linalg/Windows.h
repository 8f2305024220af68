// Windows that slide over the spatial dimensions of a tensor: geometry of pools and convolutions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Generics.h"

namespace cameo {

/// A window along one spatial dimension: position `o` of `count` has its taps at
/// o * stride + k * dilation - before for k < kernel.
struct Window {
  mlir::OpFoldResult kernel;
  int64_t stride, dilation;
  mlir::OpFoldResult input, before, after, count;
};
using Windows = llvm::SmallVector<Window>;

/// The windows of a pool or convolution over `x` [N, C, spatial...]; attributes auto_pad, pads,
/// strides, dilations and ceil_mode of `op`.
mlir::FailureOr<Windows> slidingWindows(Lowering &l, mlir::Operation *op, const Lowered &x,
                                        llvm::ArrayRef<mlir::OpFoldResult> kernel);

/// The input index of tap `k` at position `o`, and whether it can be outside.
mlir::Value tapIndex(mlir::OpBuilder &b, mlir::Location loc, const Window &window, mlir::Value o,
                     mlir::Value k);
bool alwaysInside(const Window &window);

/// How many taps at position `o` lie in [-low, input + high).
mlir::Value tapsInside(mlir::OpBuilder &b, mlir::Location loc, const Window &window, mlir::Value o,
                       mlir::OpFoldResult low, mlir::OpFoldResult high);

} // namespace cameo
