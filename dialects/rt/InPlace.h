// Launches that may write over what they read.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Rt.h"

namespace cameo::rt {

/// On a launch: positions of operands, of one that it writes and of one that it only reads, pair by
/// pair (an array of i64). With tensors, the memory of both may be the same: what a thread reads of
/// it, it overwrites itself, later. With buffers, it is the same.
inline constexpr llvm::StringLiteral kInPlaceAttr = RtDialect::InPlaceAttrHelper::getNameStr();

/// On a launch that runs only where the one whose results it writes does not, for one of the two
/// has an empty grid; it reads the same.
inline constexpr llvm::StringLiteral kFallbackAttr =
    kernel::KernelDialect::FallbackAttrHelper::getNameStr();

} // namespace cameo::rt
