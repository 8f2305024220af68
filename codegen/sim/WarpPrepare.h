// Which calls of the engine wait.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/IR/Instructions.h"

namespace cameo {

/// Whether `call` waits for an mbarrier.
bool isMbarrierWait(const llvm::CallInst &call);

/// Whether `call` waits for an mbarrier or at the cluster's barrier.
bool isWait(const llvm::CallInst &call);

/// Whether a lane waits for an mbarrier with its own context: SpreadLanesPass.
bool isOwnWait(const llvm::Instruction &instruction);

/// The offset in CameoSimApi of the function in which the warp waits or acts as one, if
/// `instruction` calls one.
std::optional<size_t> warpCollective(const llvm::Instruction &instruction);

} // namespace cameo
