// Branches before collectives of a kernel that gets a vectorised form.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace cameo {

/// `function` is as prepareForWarp() leaves it. A branch that only some lanes take according to
/// what is known, but behind which all lanes of the warp must meet, is taken by the warp: by what
/// its lanes say, with a report where they do not agree.
void uniformiseBranches(llvm::Function &function, llvm::Instruction &lane);

} // namespace cameo
