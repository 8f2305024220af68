// What shape rules and lowerings of Unique and NonMaxSuppression share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Shapes.h"

namespace cameo::onnx {

/// The most elements of a slice of Unique: it is sorted by each.
inline constexpr int64_t kMostUniqueKeys = 64;

/// The axis of Unique, from the start. Without one `x` becomes one line, along which slices have an element each.
mlir::FailureOr<int64_t> uniqueAxis(SizeBuilder &s, mlir::Operation *op, Sizes &x);

/// The most boxes of a class that NonMaxSuppression chooses.
mlir::FailureOr<mlir::OpFoldResult> suppressionLimit(Shapes &shapes, mlir::Operation *op);

} // namespace cameo::onnx
