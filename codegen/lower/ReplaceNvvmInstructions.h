// One spelling of the GPU's instructions at the device stage: that of `kernel.ptx`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo {

/// Whether cameo-replace-nvvm-instructions may have something to do.
bool mayHaveNvvmInstructions(mlir::Operation *module);

} // namespace cameo
