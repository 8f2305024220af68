// Kernels of products of which one side has a handful of indices: a matrix by a vector, or by a
// few.
//
// Each element of the large operand is used a few times only, so that what counts is how fast it is
// read: by each thread as it needs it, 16 bytes at a time, without shared memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/ProductKernel.h"

namespace cameo {

/// The thin side's indices at most: a thread has all of them.
inline constexpr int64_t kMostThin = 8;

/// Whether the thin side is the rows; else it is the columns.
bool thinIsRows(const Product &product);

/// How threads share the wide side and the depth. Neighbouring lanes go across first, then along
/// depth; so do warps.
struct SkinnyForm {
  int64_t wide, deep;             // of the wide side and of depth, that a thread has at once
  int64_t laneAcross, laneAlong;  // of a warp
  int64_t warpAcross, warpAlong;  // of a block
  bool alongDepth;                // the wide operand is loaded along depth, not across
  int64_t wideVector, thinVector; // elements that are loaded at once; thin ones along depth
  int64_t storeVector;            // of results at most
  int64_t together;               // steps of depth that are loaded at once, of those a thread has
  int64_t splits = 1;             // parts of the depth, each of other blocks

  int64_t threads() const { return kWarp * warpAcross * warpAlong; }
  int64_t blockWide() const { return wide * laneAcross * warpAcross; }
  /// Threads that share the depth of the same elements.
  int64_t groups() const { return laneAlong * warpAlong; }
  /// Depth that a block has at once.
  int64_t blockDeep() const { return groups() * deep; }
  /// Of the wide and the thin side together, in shared memory for the block's sums.
  int64_t sums(int64_t thin) const { return warpAlong * blockWide() * thin; }
};

/// Writes the kernel: a block computes `blockWide` indices of the wide side with all thin ones; with
/// `parts` the sums of one of them.
void emitSkinny(KernelWriter &kernel, const Product &product, const SkinnyForm &form,
                const DepthParts &parts);

} // namespace cameo
