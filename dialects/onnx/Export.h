// Writes a module of the onnx dialect as an ONNX model of opset kOpset, IR version kIrVersion.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace cameo::onnx {

struct ExportOptions {
  /// From this many bytes of constants on, exportOnnxFile keeps the large ones in a file of their
  /// own, `<file name>.data`, beside the model.
  int64_t externalFrom = int64_t(1) << 30;
};

/// Writes the module's one function. Nodes are named after their locations, inputs and outputs as
/// imported; an output that is an input, a constant or another output becomes an Identity.
/// Fails after an error diagnostic, on an op that is not of the onnx dialect too.
mlir::LogicalResult exportOnnxFile(mlir::ModuleOp module, llvm::StringRef path,
                                   const ExportOptions &options = {});

/// The same into memory, without external data; at most 2 GiB.
mlir::FailureOr<std::string> exportOnnxBuffer(mlir::ModuleOp module);

} // namespace cameo::onnx
