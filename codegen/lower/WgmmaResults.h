// Results of wgmma in flight: registers that the GPU has not written yet.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// Whether kernels of the device stage under `module`, in one spelling (NvvmInstructions.h), use
/// what a wgmma computes only once a wgmma.wait_group has waited for it, on every way there; until
/// then it may be the accumulator of another wgmma, and be passed on. The first uses that come too
/// early are one error.
llvm::Error verifyWgmmaResults(mlir::Operation *module);

} // namespace cameo
