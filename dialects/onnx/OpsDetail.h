// What the generated op definitions call: one assembly format for all ops.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace cameo::onnx::detail {

/// `onnx.Add(%a, %b) {attributes} ({regions}) : (types) -> types`
mlir::ParseResult parseOp(mlir::OpAsmParser &parser, mlir::OperationState &result);
void printOp(mlir::OpAsmPrinter &printer, mlir::Operation *op);

} // namespace cameo::onnx::detail
