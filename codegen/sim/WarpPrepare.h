// A kernel's code for one lane, before lanes are looped over.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <array>
#include <string>

namespace cameo {

/// Clones `thread`, a kernel's entry, so that everything in which lanes differ is an expression of
/// one value, the lane's number: thread indices, the thread's context, private variables (32 of
/// each), and the operands of collective instructions, which come to lie as rows of 32. Operands of
/// instructions that wait for an mbarrier stay one buffer: the warp waits as one. The value
/// is a call, returned in `lane`, of a function that does not exist. Loops are in simplified form,
/// with phis for what leaves them, and there is one return. Returns null, with the reason in
/// `problem`, where that cannot be done.
llvm::Function *prepareForWarp(llvm::Function &thread, const std::array<uint32_t, 3> &block,
                               llvm::Instruction *&lane, std::string &problem);

/// Whether `call` waits for an mbarrier.
bool isMbarrierWait(const llvm::CallInst &call);

} // namespace cameo
