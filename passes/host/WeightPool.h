// The weight section's contents, read from the pool without copying it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Constants.h"
#include "dialects/rt/Rt.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cameo {

/// A constant's elements, with a byte each where they are less than that. Others that are all the same
/// are one element. Nothing where the data are missing.
std::optional<onnx::ConstantBytes> weightContents(rt::ConstantOp constant);

/// Bytes of a constant in the weight section, or failure after a diagnostic for contents that have
/// none: strings, and resources whose data are missing.
llvm::FailureOr<int64_t> weightBytes(rt::ConstantOp constant);

/// Hands out a constant's bytes piece by piece, in order. Only for one that has some.
void forEachPiece(rt::ConstantOp constant, llvm::function_ref<void(llvm::ArrayRef<char>)> piece);

/// The constants that make up the section, each content once, by ascending offset, which all must
/// have.
llvm::SmallVector<rt::ConstantOp> weightSectionOrder(mlir::ModuleOp module);

} // namespace cameo
