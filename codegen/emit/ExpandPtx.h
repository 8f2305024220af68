// `kernel.ptx` on the way to PTX.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo {

/// Whether some kernel of `module` has instructions for cameo-expand-ptx.
bool hasPtxInstructions(mlir::Operation *module);

} // namespace cameo
