// The 32-bit words that values for matrix instructions are made of.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace cameo {

/// Whether `call` is one of an instruction whose operands a warp has in rows: of matrices.
bool isMatrixInstruction(const llvm::CallInst &call);

/// Word `index` of `value`, as a value of 32 bits: what it was put together from, where that can be
/// seen, or what `builder` takes out of it.
llvm::Value *wordOf(llvm::IRBuilderBase &builder, llvm::Value *value, unsigned index);

} // namespace cameo
