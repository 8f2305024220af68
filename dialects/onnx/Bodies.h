// Whether the graphs of control flow fit their operator.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo::onnx {

/// What is wrong with the inputs and outputs of an operator's graphs, or an empty string.
std::string bodyProblem(mlir::Operation *op);

} // namespace cameo::onnx
