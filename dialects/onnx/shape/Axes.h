// Axes as operators give them: counted from either end, in attributes or at run time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

namespace cameo::onnx {

/// An axis counted from the end made one from the start; nothing where it is outside of the rank.
std::optional<int64_t> normalizedAxis(int64_t axis, int64_t rank);
/// The same, refused for `op`.
mlir::FailureOr<int64_t> normalizedAxis(SizeBuilder &s, mlir::Operation *op, int64_t axis,
                                        int64_t rank);
/// The attribute `axis`, normalized; refused where it is outside.
mlir::FailureOr<int64_t> axisAttribute(SizeBuilder &s, mlir::Operation *op, int64_t otherwise,
                                       int64_t rank);
/// "axis 4 is outside [-3, 3)".
std::string outsideText(int64_t axis, int64_t rank);

/// Axes from an attribute or host values, normalized, each at most once; refused for `op`.
mlir::FailureOr<llvm::SmallVector<int64_t>>
normalizedAxes(SizeBuilder &s, mlir::Operation *op, llvm::ArrayRef<int64_t> axes, int64_t rank);

/// Refuses or checks at run time that axes are in range and given once each.
llvm::LogicalResult checkAxes(SizeBuilder &s, mlir::Operation *op,
                              llvm::ArrayRef<mlir::OpFoldResult> axes, int64_t rank);
/// An axis that was checked, counted from the start.
mlir::OpFoldResult fromStart(SizeBuilder &s, mlir::OpFoldResult axis, int64_t rank);

/// Axes as normalizedAxes has them, where they are known only at run time: for each dimension 1 if
/// it is among them, else 0. That each axis is in range and given once is checked at run time.
mlir::FailureOr<Sizes> amongAxes(SizeBuilder &s, mlir::Operation *op,
                                 llvm::ArrayRef<mlir::OpFoldResult> axes, int64_t rank);

/// The sizes that are left, `count` of them, when the dimensions with 1 in `removed` are taken
/// away.
Sizes remainingSizes(SizeBuilder &s, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     llvm::ArrayRef<mlir::OpFoldResult> removed, int64_t count);

/// Host values as numbers, where all of them are known.
std::optional<llvm::SmallVector<int64_t>> knownIntegers(llvm::ArrayRef<mlir::OpFoldResult> values);

} // namespace cameo::onnx
