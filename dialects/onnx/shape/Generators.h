// Shapes of operators that make tensors out of sizes: Shape, Size, ConstantOfShape and Range.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Shapes.h"

namespace cameo::onnx {

/// The sizes that Shape gives.
Sizes shapeValues(Shapes &shapes, mlir::Operation *op);
/// The number of elements that Size gives.
mlir::OpFoldResult sizeValue(Shapes &shapes, mlir::Operation *op);
/// The element that ConstantOfShape repeats, of a signless type; null where there is none.
mlir::TypedAttr fillValue(ConstantOfShapeOp op);

} // namespace cameo::onnx
