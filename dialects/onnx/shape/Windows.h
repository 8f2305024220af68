// Shapes of what windows slide over: convolutions and pools.
//
// Rules check attributes and sizes, reporting what does not go together, and give the windows that
// the result's sizes follow from, so that whoever lowers the operator asks instead of computing
// them again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

namespace cameo::onnx {

/// A window along one spatial dimension: position `o` of `count` has its taps at
/// o * stride + k * dilation - before for k < kernel.
struct Window {
  mlir::OpFoldResult kernel;
  int64_t stride, dilation;
  mlir::OpFoldResult input, before, after, count;
  /// Of ConvTranspose: `input` less count * stride, where that is one number for all sizes.
  std::optional<int64_t> more = {};
};
using Windows = llvm::SmallVector<Window>;

struct WindowShape {
  Windows windows; // one a spatial dimension
  Sizes result;    // [N, C, spatial...]
};

/// `operands` are X, W and, where there is one, B.
mlir::FailureOr<WindowShape> inferConv(SizeBuilder &s, mlir::Operation *op,
                                       llvm::ArrayRef<Sizes> operands);
/// The windows are those of the convolution that is transposed: they slide over the result, `input`
/// of each, and X has one element per position.
mlir::FailureOr<WindowShape> inferConvTranspose(SizeBuilder &s, mlir::Operation *op,
                                                llvm::ArrayRef<Sizes> operands);
/// `operands` are X, W, offset and, where there are any, B and mask.
mlir::FailureOr<WindowShape> inferDeformConv(SizeBuilder &s, mlir::Operation *op,
                                             llvm::ArrayRef<Sizes> operands);
/// MaxPool, AveragePool and LpPool.
mlir::FailureOr<WindowShape> inferPool(SizeBuilder &s, mlir::Operation *op, const Sizes &x);
mlir::FailureOr<Sizes> inferGlobalPool(SizeBuilder &s, mlir::Operation *op, const Sizes &x);

} // namespace cameo::onnx
