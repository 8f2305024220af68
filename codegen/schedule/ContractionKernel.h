// Kernels that compute products by tiles in shared memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/ProductKernel.h"

namespace cameo {

/// What a block computes at once, and elements a thread.
struct ContractionTile {
  int64_t rows, columns, depth, threadRows, threadColumns;
  int64_t threads() const { return rows / threadRows * (columns / threadColumns); }

  /// Shared memory of a block in bytes: both operands' tiles in the sums' type, twice, so that one
  /// pair is filled while the other is multiplied.
  int64_t sharedBytes(mlir::Type sumType) const {
    return 2 * depth * (rowStride() + columnStride()) * sumType.getIntOrFloatBitWidth() / 8;
  }
  /// From a step of depth to the next in shared memory.
  int64_t rowStride() const { return rows + kSkew; }
  int64_t columnStride() const { return columns + kSkew; }

private:
  /// Shared memory rows are this much longer than the tile, against bank conflicts of transposed
  /// writes; a multiple of 16 bytes.
  static constexpr int64_t kSkew = 4;
};

/// How many elements are accessed at once.
struct ContractionVectors {
  struct Copy {
    int64_t across, depth;
  };
  Copy row, column;
  int64_t store; // at most; less where a result's elements are further apart
};

/// The columns that a thread has beside one another.
inline constexpr int64_t kGroup = 4;

/// Writes the kernel: one block per tile, or a part of the depth of one.
void emitContraction(KernelWriter &kernel, const Product &product, const ContractionTile &tile,
                     const ContractionVectors &vectors, const DepthParts &parts);

} // namespace cameo
