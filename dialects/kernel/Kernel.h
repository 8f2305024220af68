// SPDX-License-Identifier: Apache-2.0
// The kernel dialect's C++ interface.
#pragma once

#include "dialects/DeclaredAttributes.h"
#include "dialects/kernel/layouts/Spread.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace cameo::kernel {
struct PtxInstruction;
class PtxInstructionCache;

/// A value of `kernel.precision`.
inline constexpr llvm::StringLiteral kTf32 = "tf32";
} // namespace cameo::kernel

#include "dialects/kernel/KernelEnums.h.inc"
#include "dialects/kernel/KernelLayouts.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.h.inc"
// Its attributes have types of the dialect.
#include "dialects/kernel/KernelDialect.h.inc"
#include "dialects/kernel/KernelInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/Kernel.h.inc"
