// The check that graphs of control flow fit their operator.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo::onnx {

/// Says what is wrong with the inputs and outputs of an operator's graphs; an empty string if nothing is.
std::string bodyProblem(mlir::Operation *op);

} // namespace cameo::onnx
