// Whether a target has the instructions that kernels use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// An error that names each instruction of `kernel.ptx` in kernels of the device stage under
/// `module` which `target` lacks, with what has it.
llvm::Error verifyTargetInstructions(mlir::Operation *module, const Target &target);

} // namespace cameo
