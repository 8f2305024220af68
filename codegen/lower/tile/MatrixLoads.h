// Operands of matrix instructions out of shared memory, by ldmatrix.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <map>
#include <unordered_map>

namespace cameo {

/// Loads of one kernel. Addresses are in bytes: what depends on the thread is computed at the
/// kernel's entry, once for all loads that have it in common, and those of other steps of depth or
/// of other rows differ from it by a constant that is added, or combined by exclusive or where the
/// tile's pieces are exchanged.
class MatrixLoads {
public:
  /// `thread` is the thread's index, computed at `entry`.
  MatrixLoads(mlir::OpBuilder &entry, mlir::Value thread) : entry(entry), thread(thread) {}

  /// Whether ldmatrix gives threads what the layout wants: registers of 32 bits, of which four
  /// lanes have 16 bytes that are together in the tile, along depth, or across it where elements
  /// have 16 bits, or 8 and are in pairs, which are transposed then; from a place on that is known.
  static bool canLoad(kernel::LoadFragmentOp op);

  /// The registers in the order of the layout; `pointer` is to the tile's first stage.
  llvm::SmallVector<mlir::Value> load(kernel::LoadFragmentOp op, mlir::Value pointer);

private:
  /// How matrices of 8 lines of 16 bytes lie in a tile. Lines are what is together in memory: of
  /// one row or column of the operand along depth, or of one step of depth.
  struct Lines {
    bool isDeep;             // along depth
    bool inPairs;            // bytes across depth, of which lanes get two neighbours
    int64_t elementBytes;    // of memory
    int64_t stride, span;    // bytes from a line to the next; of a swizzled panel, or 0
    int64_t panel;           // bytes from one to the next
    int64_t warps, warpSize; // parts of the operand, and elements of each across depth
    bool isRowOfWarps;       // warps follow each other in a row of the block's
    int64_t warpColumns;
  };
  static Lines linesOf(kernel::LoadFragmentOp op);

  /// Where a matrix is: its first line, and the first byte in that.
  struct Place {
    int64_t line, byte;
  };
  static llvm::SmallVector<Place> placesOf(kernel::LoadFragmentOp op, const Lines &lines);

  /// What a lane adds to an address where bit 3 of it is set, and bit 4: so lanes give addresses of
  /// four matrices.
  struct Steps {
    Place bit3, bit4;
  };
  /// Matrices from this one on that one instruction can load: 1, 2 or 4.
  static unsigned together(llvm::ArrayRef<Place> places, Steps &steps);

  mlir::Value threadPart(const Lines &lines, const Steps &steps, int64_t byte);
  mlir::Value number(int64_t value);
  mlir::Value threadBits(unsigned first, unsigned count);

  /// Addresses of matrices of a tile's stage.
  class Addresses;
  llvm::SmallVector<mlir::Value> loadPairs(kernel::LoadFragmentOp op, Addresses &addresses,
                                           mlir::Type result);

  mlir::OpBuilder &entry;
  mlir::Value thread;
  std::map<std::array<int64_t, 14>, mlir::Value> known;
  std::unordered_map<int64_t, mlir::Value> numbers; // any: no key is a sentinel
  mlir::Value selectors[2]; // of the bytes of the first and the second of a pair
};

} // namespace cameo
