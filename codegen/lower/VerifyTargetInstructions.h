// Whether a target has the instructions that kernels use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"
#include "dialects/kernel/Kernel.h"

namespace cameo {

/// An error that names an instruction which `target` lacks, with what has it.
mlir::LogicalResult verifyTargetInstruction(kernel::PtxOp op, const Target &target);

} // namespace cameo
