// The order of a plan's operations.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/DenseMap.h"

namespace cameo {

/// How many dispatches follow one another up to each operation of the block, itself included.
/// Operations of one depth do not depend on one another, and making one of them leaves the depth
/// of all others what it was.
llvm::DenseMap<mlir::Operation *, int64_t> depthsOf(mlir::Block &block);

/// Puts operations behind those that define what they use: each stays where it is, if it can, else
/// it is moved back as little as possible.
void restoreOrder(mlir::Block &block);

} // namespace cameo
