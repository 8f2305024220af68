// SPDX-License-Identifier: Apache-2.0
// The rt dialect's C++ interface.
#pragma once

#include "dialects/DeclaredAttributes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "dialects/rt/RtDialect.h.inc"
#include "dialects/rt/RtEnums.h.inc"

namespace cameo::rt {
/// On a result that is a tap, and on the step that it becomes: kernels have counted another one's elements.
inline constexpr llvm::StringLiteral kCountsAttr = RtDialect::CountsAttrHelper::getNameStr();
/// On a result of a function: it is not an output, but a value that a run shows on its way.
inline constexpr llvm::StringLiteral kTapAttr = RtDialect::TapAttrHelper::getNameStr();
} // namespace cameo::rt

#define GET_ATTRDEF_CLASSES
#include "dialects/rt/RtAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/rt/RtTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/rt/Rt.h.inc"
