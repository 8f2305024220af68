// Kernels that compute products on Tensor Cores by mma.sync.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"
#include "codegen/schedule/MmaModel.h"
#include "codegen/schedule/ProductKernel.h"
#include "dialects/kernel/form/Product.h"

namespace cameo {

/// How a kernel of mma.sync is written.
struct MmaForm {
  MmaTile tile;
  int64_t m, n, k; // of the instruction
  /// How an operand's tile is copied: lines of it are along depth or across, `vector` elements at
  /// once. Through registers, threads gather `group` elements along depth, so that neighbouring
  /// threads load neighbours across, and write them to shared memory at once. What is multiplied as
  /// TF32 may be rounded where it is stored.
  struct Copy {
    bool alongDepth;
    int64_t vector, group;
    bool isRounded = false;

    bool isGathered() const { return group > vector; }
  };
  Copy row, column;
  int64_t storeVector;
  bool async;             // copies by cp.async, else through registers, in two stages
  int64_t splits = 1;     // parts of the depth, each a block's
  int64_t depthLoops = 1; // that steps go along, as along one

  /// Elements that lines of an operand's tile are apart beside their own: those of 32 bits that go
  /// across depth, so that four lines are in different banks.
  int64_t gap(bool isRow, int64_t bytes) const {
    return bytes == 4 && !(isRow ? row : column).alongDepth ? 8 : 0;
  }
};

/// The loops of depth as steps go over them: runs along the innermost `count` of more than one
/// index (at least one loop), as along one, each in pieces of a tile's depth, of which the last may
/// be ragged.
struct DepthLoops {
  llvm::SmallVector<unsigned> outer, inner;
};
DepthLoops depthLoops(const Product &product, int64_t count);

/// Writes the kernel: one block per tile, or a part of the depth of one.
void emitMma(KernelWriter &kernel, const Product &product, const MmaForm &form,
             const DepthParts &parts);

} // namespace cameo
