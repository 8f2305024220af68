// Shapes of Resize.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Shapes.h"

namespace cameo::onnx {

struct ResizeShape {
  llvm::SmallVector<int64_t> axes; // those that take part
  Sizes scales;                    // one a dimension, host floats
  Sizes roi;                       // starts and ends, one an axis; empty where none is used
  Sizes result;
};
mlir::FailureOr<ResizeShape> inferResize(Shapes &shapes, mlir::Operation *op);

/// The lesser of two host floats.
mlir::OpFoldResult lesser(SizeBuilder &s, mlir::OpFoldResult a, mlir::OpFoldResult b);

} // namespace cameo::onnx
