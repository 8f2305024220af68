// Loops that lanes leave at different times, or that some lanes do not enter at all, become loops
// of the whole warp under a mask.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace cameo {

/// In a function made by prepareForWarp:
///
///   if (enters) while (goes) body   ==>  on = enters
///                                        while (any(on)) if (on) { body; on = goes }
///
/// where that pays: the body then is a branch without loops, a mask once lanes are SIMD's. `any` is
/// a vote, or the loop's own condition where all lanes that enter stay equally long. Counters that
/// start at a number of the lane's own become that number plus a counter of the warp. Returns
/// whether a loop has changed.
bool predicateLoops(llvm::Function &function, llvm::Instruction &lane);

} // namespace cameo
