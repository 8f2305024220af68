// The nvvm dialect's instructions as those of `kernel.ptx`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// Replaces every operation of nvvm in `module` that has a twin among the instructions of
/// `kernel.ptx` by that. What has none stays, for others to handle; an operation whose types or
/// attributes no instruction has is an error, and all of them are in the one that is returned.
llvm::Error replaceNvvmInstructions(mlir::Operation *module);

} // namespace cameo
