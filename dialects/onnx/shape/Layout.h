// Shapes of operators that move elements: Transpose, DepthToSpace, SpaceToDepth, Expand, Tile and
// Concat.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Shapes.h"

namespace cameo::onnx {

/// Result dimension `i` is dimension `permutation[i]` of the input.
struct TransposeShape {
  llvm::SmallVector<int64_t> permutation;
  Sizes result;
};
mlir::FailureOr<TransposeShape> inferTranspose(Shapes &shapes, mlir::Operation *op);

mlir::FailureOr<Sizes> inferDepthToSpace(SizeBuilder &s, mlir::Operation *op,
                                         llvm::ArrayRef<Sizes> operands);
mlir::FailureOr<Sizes> inferSpaceToDepth(SizeBuilder &s, mlir::Operation *op,
                                         llvm::ArrayRef<Sizes> operands);

/// The input is repeated `repeats` times along each dimension.
struct TileShape {
  Sizes repeats, result;
};
mlir::FailureOr<TileShape> inferTile(Shapes &shapes, mlir::Operation *op);

/// The inputs one after another along `axis`.
struct ConcatShape {
  int64_t axis;
  Sizes result;
};
mlir::FailureOr<ConcatShape> inferConcat(Shapes &shapes, mlir::Operation *op);

/// Refuses or checks sizes that were given as numbers and may be negative.
llvm::LogicalResult checkGivenSizes(SizeBuilder &s, mlir::Operation *op, const Sizes &sizes);

} // namespace cameo::onnx
