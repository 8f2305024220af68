// `kernel.ptx`, and what of nvvm has no intrinsic, on the way to PTX.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo {

/// Whether some kernel of `module` has instructions for expandPtx().
bool hasPtxInstructions(mlir::Operation *module);

/// Replaces every `kernel.ptx` in `module` by inline assembly.
void expandPtx(mlir::Operation *module);

/// Whether some operation of nvvm in `module` has no translation to LLVM IR: MLIR's
/// convert-nvvm-to-llvm must make it inline assembly.
bool hasNvvmAssembly(mlir::Operation *module);

} // namespace cameo
