// `kernel.ptx` on the way to PTX.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo {

/// Whether some kernel of `module` has instructions for expandPtx().
bool hasPtxInstructions(mlir::Operation *module);

/// Replaces every `kernel.ptx` in `module` by inline assembly.
void expandPtx(mlir::Operation *module);

} // namespace cameo
