// Arithmetic of the GPU where the host's differs or needs a library.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Builders.h"
#include "llvm/IR/Module.h"

namespace cameo {

/// Rewrites `op` (of the llvm dialect) if the host would compute something else, or call a library:
/// division by zero, conversions out of range, roundings to f16 and bf16.
void lowerArithmetic(mlir::Operation *op, mlir::OpBuilder &builder);

/// Replaces calls of libdevice functions by calls through the thread's function table. The thread
/// is the first parameter of each function. An error names the first function that is not there.
llvm::Error bindMathCalls(llvm::Module &module);

} // namespace cameo
