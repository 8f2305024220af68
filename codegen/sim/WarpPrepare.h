// A kernel's code for one lane, before lanes are looped over.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <array>
#include <string>

namespace cameo {

/// Buffers of waits.
struct WarpWaits {
  llvm::SmallPtrSet<const llvm::Value *, 4> apart;
  /// A buffer of the clone ==> that of the scalar form.
  llvm::DenseMap<const llvm::Value *, const llvm::Value *> original;
};

/// Clones `thread`, a kernel's entry, so that everything in which lanes differ is an expression of
/// one value, the lane's number: thread indices, the thread's context, private variables (32 of
/// each), and the operands of collective instructions, which come to lie as rows of 32. Operands of
/// instructions that wait for an mbarrier stay one buffer: the warp waits as one. But where that
/// buffer, a variable of `thread`, is in `waits.apart`, lanes wait each for itself. The value
/// is a call, returned in `lane`, of a function that does not exist. Loops are in simplified form,
/// with phis for what leaves them, and there is one return. Returns null, with the reason in
/// `problem`, where that cannot be done.
llvm::Function *prepareForWarp(llvm::Function &thread, const std::array<uint32_t, 3> &block,
                               WarpWaits &waits, llvm::Instruction *&lane, std::string &problem);

/// Whether `call` waits for an mbarrier.
bool isMbarrierWait(const llvm::CallInst &call);

/// Whether `call` waits for an mbarrier or at the cluster's barrier.
bool isWait(const llvm::CallInst &call);

} // namespace cameo
