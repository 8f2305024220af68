// How wide the indices of a dispatch's kernels are, and how kernels with 32-bit ones reach tensors
// of any size.
//
// 64-bit indices take twice the registers and instructions of 32-bit ones, and hardly any run needs
// them. A dispatch whose work falls apart along the first dimension of its tensors, the only one
// that is known at run time only, has one kernel: its blocks along z compute chunks of that
// dimension, each with operands that begin at the chunk. The 64-bit part of an address is in where
// the operands begin; within a chunk 32 bits reach everything. In most runs there is one chunk.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace cameo {

/// Elements of a tensor that kernels with 32-bit indices reach, with room for whole tiles.
inline constexpr int64_t kIndexBound = int64_t(1) << 30;

/// Chunks of a dispatch along the first dimension of those of its tensors that have it.
struct Chunks {
  int64_t size; // of a chunk, at most
  /// By block arguments that have the dimension: elements from one index along it to the next.
  llvm::DenseMap<mlir::Value, int64_t> steps;
  /// Scalars (block arguments) that are the dimension's size.
  llvm::DenseSet<mlir::Value> extents;
};

/// Nothing where the work does not fall apart, or the rest of some tensor is not known to be small
/// enough.
std::optional<Chunks> chunksOf(kernel::DispatchOp op, int64_t bound);

/// Whether every index of the kernel stays well below 2^31: each tensor has less than `bound`
/// elements.
bool fitsIn32Bits(kernel::DispatchOp op, int64_t bound);

/// For a dispatch with sizes known only at run time: a condition of the plan under which
/// fitsIn32Bits would hold. Null where it cannot be told from tensors' sizes alone.
mlir::Value fitsAtRunTime(kernel::DispatchOp op, int64_t bound);

} // namespace cameo
