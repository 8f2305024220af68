// One spelling of the GPU's instructions at the device stage: that of `kernel.ptx`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// Whether replaceNvvmInstructions() may have something to do.
bool mayHaveNvvmInstructions(mlir::Operation *module);

/// Replaces every operation of nvvm in `module` that is an instruction of `kernel.ptx`, too, by
/// that. Other operations stay, for others to handle; one whose types or attributes no instruction
/// has is an error, and all of them are in the one that is returned.
llvm::Error replaceNvvmInstructions(mlir::Operation *module);

} // namespace cameo
