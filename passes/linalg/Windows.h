// Windows that slide over the spatial dimensions of a tensor: geometry of pools and convolutions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Generics.h"

namespace cameo {

/// What pools and convolutions say of their windows, checked.
struct WindowAttributes {
  llvm::SmallVector<int64_t> strides, dilations; // one a spatial dimension, 1 to kMostStep
  llvm::SmallVector<int64_t> pads;               // two a dimension, all the first ones first
  llvm::StringRef autoPad;                       // NOTSET, VALID, SAME_UPPER or SAME_LOWER
  bool same() const { return autoPad.starts_with("SAME"); }
};
mlir::FailureOr<WindowAttributes> windowAttributes(Lowering &l, mlir::Operation *op,
                                                   int64_t spatial);

/// Reports or checks a kernel_shape that contradicts the weights' sizes.
llvm::LogicalResult checkKernelShape(Lowering &l, mlir::Operation *op,
                                     llvm::ArrayRef<mlir::OpFoldResult> kernel);

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

/// The windows of the convolution that a ConvTranspose of `x` transposes: they slide over its
/// result, `input` of each, and `x` has an element a position. Attributes as above, output_padding
/// and output_shape.
mlir::FailureOr<Windows> transposedWindows(Lowering &l, mlir::Operation *op, const Lowered &x,
                                           llvm::ArrayRef<mlir::OpFoldResult> kernel);

/// The input index of tap `k` at position `o`, and whether it can be outside.
mlir::Value tapIndex(mlir::OpBuilder &b, mlir::Location loc, const Window &window, mlir::Value o,
                     mlir::Value k);
bool alwaysInside(const Window &window);

/// How many taps at position `o` lie in [-low, input + high).
mlir::Value tapsInside(mlir::OpBuilder &b, mlir::Location loc, const Window &window, mlir::Value o,
                       mlir::OpFoldResult low, mlir::OpFoldResult high);

} // namespace cameo
