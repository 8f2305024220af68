// IR between stages as files: bytecode with everything in it, or text with large weights beside it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// Writes bytecode where `path` ends in .mlirbc, else text. Text refers to large weights by
/// #onnx.external: they go into `path`.weights, and the module's attributes become such references.
/// On standard output ("-") and in devices they stay in the text.
llvm::Error writeStageFile(mlir::ModuleOp module, llvm::StringRef path);

/// Reads MLIR of either form and verifies it: the IR, the checksum of bytecode and those of weights
/// in files. Null after a diagnostic. Weights stay mapped from their file for as long as the
/// context lives.
mlir::OwningOpRef<mlir::ModuleOp> readStageFile(llvm::StringRef path, mlir::MLIRContext *context);

} // namespace cameo
