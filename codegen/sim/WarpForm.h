// The vectorised form of a kernel (runtime/sim/abi.h) from its scalar form, as LLVM IR:
//
//   between two points where lanes wait    ==>  for lane in 0..31 { that code for the lane }
//   what all lanes have in common          ==>  once for the warp, outside of these loops
//   a value that lives longer than a loop  ==>  an array of 32, one row for each lane
//   shuffles and votes                     ==>  reads of other lanes' rows
//
// LLVM's loop vectoriser then turns the lanes of straight-line loops into SIMD lanes, with masks
// where they branch; others run lane by lane, without a switch between stacks, and in an order that
// a run can choose (WarpOrder.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"

#include <array>
#include <string>

namespace cameo {

/// Gives `thread`, a kernel's entry after optimisation, a vectorised form beside it, named
/// `<kernel>$warp`. `block` is its number of threads in x, y and z. Returns null, with the reason
/// in `problem`, where lanes may have to wait at different places or the block is not a whole
/// number of warps.
llvm::Function *makeWarpForm(llvm::Function &thread, const std::array<uint32_t, 3> &block,
                             std::string &problem);

/// Optimises vectorised forms: what lanes have in common leaves their loops, whose lanes become
/// SIMD's.
void optimizeWarpForms(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace cameo
