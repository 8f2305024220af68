// Interfaces of the dialect's ops: sizes and host values of results, and what to use instead of an operator.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Shapes.h"

#include "mlir/IR/OpDefinition.h"

#include "dialects/onnx/Interfaces.h.inc"

namespace cameo::onnx {

/// Attaches the dialect's own interfaces to its ops.
void attachShapeRules(mlir::MLIRContext &context);   // shape/ShapeRules.cpp
void attachNearestForms(mlir::MLIRContext &context); // NearestForms.cpp

} // namespace cameo::onnx
