// Attributes of ONNX nodes with their defaults.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo::onnx {

/// An integer attribute of an ONNX node, or its default.
int64_t intAttribute(mlir::Operation *op, llvm::StringRef name, int64_t otherwise);
float floatAttribute(mlir::Operation *op, llvm::StringRef name, float otherwise);
/// A list of integers, or `count` times the default.
llvm::SmallVector<int64_t> intsAttribute(mlir::Operation *op, llvm::StringRef name, int64_t count,
                                         int64_t otherwise);

} // namespace cameo::onnx
