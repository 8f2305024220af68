// Kernels that compute products on Tensor Cores by mma.sync.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"
#include "codegen/schedule/MmaModel.h"
#include "dialects/kernel/form/Product.h"

namespace cameo {

/// How a kernel of mma.sync is written.
struct MmaForm {
  MmaTile tile;
  int64_t m, n, k; // of the instruction
  /// How an operand's tile is copied: lines of it are along depth or across, `vector` elements at
  /// once.
  struct Copy {
    bool alongDepth;
    int64_t vector;
  };
  Copy row, column;
  int64_t storeVector;
  bool async; // copies by cp.async, else through registers, in two stages

  /// Elements that lines of an operand's tile are apart beside their own: those of 32 bits that go
  /// across depth, so that four lines are in different banks.
  int64_t gap(bool isRow, int64_t bytes) const {
    return bytes == 4 && !(isRow ? row : column).alongDepth ? 8 : 0;
  }
};

/// The loops of depth as steps go over them: runs along the innermost one of more than one index,
/// each in pieces of a tile's depth, of which the last may be ragged.
struct DepthLoops {
  llvm::SmallVector<unsigned> outer;
  unsigned inner;
};
DepthLoops depthLoops(const Product &product);

/// Writes the kernel: a block a tile.
void emitMma(Kernel &kernel, const Product &product, const MmaForm &form);

} // namespace cameo
