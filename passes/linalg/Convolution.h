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

/// Sizes with dimension `at` as `outer` and `inner`.
Sizes splitSizes(const Sizes &sizes, unsigned at, mlir::OpFoldResult outer,
                 mlir::OpFoldResult inner);
/// The loops n, [g,] f, o..., c, k... of a convolution and where they read and write.
struct ConvolutionLoops {
  mlir::AffineMap input, weight, out;
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
};
ConvolutionLoops convolutionLoops(mlir::MLIRContext *context, const Convolution &conv);

/// A convolution's operands as its loops read them: with groups, channels are [g, c].
struct GroupedOperands {
  Lowered input, weight;
  Sizes out;           // of the sum
  Sizes before, after; // padding
};
GroupedOperands groupedOperands(Lowering &l, mlir::Location loc, const Convolution &conv);

/// The convolution as one dispatch, in its result's sizes.
Lowered convolve(Lowering &l, mlir::Location loc, const Convolution &conv);

/// Inside a dispatch: a tensor with zeros around its last dimensions.
mlir::Value padWithZeros(Lowering &l, mlir::OpBuilder &b, mlir::Location loc, const Lowered &input,
                         const Sizes &before, const Sizes &after);
/// The same with elements of a value of the plan's type.
mlir::Value padWith(Lowering &l, mlir::OpBuilder &b, mlir::Location loc, const Lowered &input,
                    const Sizes &before, const Sizes &after, mlir::TypedAttr value);
/// Inside a dispatch: the sum, of sizes `out`, which are n, a group where there are several,
/// a channel of it and others, and the bias, rounded to the type of the result.
mlir::Value addBias(Lowering &l, mlir::OpBuilder &b, mlir::Location loc, const Convolution &conv,
                    mlir::Value sum, mlir::Value init, const Sizes &out);

} // namespace cameo
