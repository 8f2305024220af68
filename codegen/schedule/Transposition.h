// Dispatches seen as transpositions: elementwise work whose operands follow one another along
// another dimension than the results do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"
#include "dialects/kernel/form/Computation.h"

namespace cameo {

/// An operand that goes through shared memory.
struct TransposedOperand {
  mlir::BlockArgument tensor;
  mlir::AffineMap place; // indices of a result's element to those of the one it needs
  /// Elements from one index of the results to the next, by dimension (kDynamic where known at run
  /// time only), and at which they begin.
  llvm::SmallVector<int64_t> distances;
  int64_t begin = 0;
  int64_t vector = 1; // elements that may be accessed at once

  int64_t bytes() const {
    return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementTypeBitWidth() / 8;
  }
};

/// See the file comment. All results have the same shape.
struct Transposition {
  llvm::SmallVector<TransposedOperand> operands;
  /// Dimensions of the results, the outermost first, those of one element left out: what is one
  /// dimension in all of the memory is together.
  llvm::SmallVector<llvm::SmallVector<unsigned>> runs;
  llvm::SmallVector<int64_t> extents; // of runs, kDynamic where unknown
  size_t along = 0;                   // the run along which operands' elements follow one another
  int64_t tile;                       // elements along either side of a tile
  int64_t vector;                     // elements of results that may be accessed at once

  size_t last() const { return runs.size() - 1; } // the run along which results' do
};

/// The elements of shared memory in which a block has its tile of an operand: lines of results'
/// neighbours, `words` of 4 bytes or more that have `packed` elements each, and a little room so
/// that threads of a warp are in different banks however they access it.
struct SharedTile {
  int64_t tile, packed, words, skew;
  SharedTile(const Transposition &transposition, const TransposedOperand &operand, int64_t vector);
  int64_t pitch() const { return words | 1; }
  int64_t elements() const {
    return ((tile - 1) * pitch() + (tile - 1) / kBanks * skew + words) * packed;
  }
  static constexpr int64_t kBanks = 32;
};

/// Nothing where the dispatch is not of this form, or computing it so does not pay.
std::optional<Transposition> matchTransposition(const Computation &computation,
                                                int64_t sharedBytes);

} // namespace cameo
