// Taps of windows inside dispatches: their indices, and how many of them lie inside a tensor.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Windows.h"
#include "passes/linalg/Generics.h"

namespace cameo {

using onnx::Window;
using onnx::Windows;

/// The input index of tap `k` at position `o`, and whether it can be outside.
mlir::Value tapIndex(mlir::OpBuilder &b, mlir::Location loc, const Window &window, mlir::Value o,
                     mlir::Value k);
bool alwaysInside(const Window &window);

/// How many taps at position `o` lie in [-low, input + high).
mlir::Value tapsInside(mlir::OpBuilder &b, mlir::Location loc, const Window &window, mlir::Value o,
                       mlir::OpFoldResult low, mlir::OpFoldResult high);

} // namespace cameo
