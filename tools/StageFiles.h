// IR between stages as files: text, with large weights in a file beside it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// Writes `path`, and `path`.weights where the module refers to large resources: the text only
/// names those.
llvm::Error writeStageFile(mlir::ModuleOp module, llvm::StringRef path);

/// Reads what writeStageFile has written, or hand-written text, and verifies it. Null after a
/// diagnostic. Weights stay mapped from their file for as long as the context lives.
mlir::OwningOpRef<mlir::ModuleOp> readStageFile(llvm::StringRef path, mlir::MLIRContext *context);

} // namespace cameo
