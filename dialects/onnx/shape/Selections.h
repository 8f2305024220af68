// What shape rules and lowerings of TopK, NonZero, Compress and Unique share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

namespace cameo::onnx {

/// The most elements of a slice of Unique: it is sorted by each.
inline constexpr int64_t kMostUniqueKeys = 16;

/// The axis of Unique, from the start. Without one `x` becomes one line, along which slices have an element each.
mlir::FailureOr<int64_t> uniqueAxis(SizeBuilder &s, mlir::Operation *op, Sizes &x);

} // namespace cameo::onnx
