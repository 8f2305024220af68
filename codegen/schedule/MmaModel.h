// What kernels of mma.sync cost: the tiles that there are, and what they take of a multiprocessor.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/TimeModel.h"

namespace cameo {

/// Bytes of depth that warps multiply at once, at most: two pieces of 16 bytes, which is what an
/// ldmatrix of four matrices loads of 16 rows.
inline constexpr int64_t kDepthBytes = 32;

/// Of the deepest tiles.
inline constexpr int64_t kMostDepthBytes = 128;

/// What a block computes at once: elements; warps; steps of depth that are in shared memory.
struct MmaTile {
  int64_t rows, columns, depth;
  int64_t warpRows, warpColumns;
  int64_t stages;
  int64_t rowGap = 0, columnGap = 0; // elements between lines across depth

  int64_t threads() const { return 32 * warpRows * warpColumns; }
  /// Shared memory of both operands, whose elements have so many bytes.
  int64_t operandBytes(int64_t bytes) const {
    return stages * (rows + rowGap + columns + columnGap) * depth * bytes;
  }
  /// Bytes of depth that warps multiply at once, with an instruction of so many: its own where an
  /// ldmatrix of 32 rows has four matrices, too. Fragments then take half the registers.
  int64_t fragmentBytes(int64_t instruction) const {
    bool areLong = rows / warpRows % 32 == 0 && columns / warpColumns % 32 == 0;
    return areLong ? instruction : kDepthBytes;
  }
  /// Rows of a warp's sums that go to the results at once, at least: those of an instruction.
  static constexpr int64_t kLeastStagedRows = 16;
  /// Rows of a warp's sums that go to the results at once, through shared memory: an equal part of
  /// all, for which the operands' memory has room.
  int64_t stagedRows(int64_t bytes) const;
  /// Of these, of all warps and of 32 bits each.
  int64_t stagingBytes(int64_t bytes) const { return warpRows * stagedRows(bytes) * columns * 4; }
  int64_t sharedBytes(int64_t bytes) const {
    return std::max(operandBytes(bytes), stagingBytes(bytes));
  }
};

/// A product as the estimate sees it.
struct MmaWork {
  double rows, columns, batch;
  double runs, depth; // pieces of depth that steps go over, and elements of each
  int64_t bytes;      // of an operand's element
  double resultBytes; // of an element
  double dramBytes;
  /// How tiles are copied: elements that are loaded, and written to shared memory, at once;
  /// instructions in the loop for the place of each load, and more of them where a step has some
  /// of several taps; registers of an element on its way.
  struct Copy {
    double vector, group, place, taps, registers;
    bool isAcross = false, isGathered = false; // lines of its tile, or threads, go across depth
    bool isPadded = false, isRounded = false;  // to tf32, where it is stored
  };
  Copy row, column;
  bool async;                                    // by cp.async, else through registers
  int64_t instructionBytes;                      // of depth
  int64_t rowGap = 0, columnGap = 0;             // of its tiles
  int64_t perInstruction = 16 * 8 * kDepthBytes; // multiply-adds, times bytes of an element
  std::vector<KernelWork> beside = {};           // other launches that it needs
  RowWork ofRows = {};                           // on the way to the results
  IndexBytes indices = {};                       // of shared memory
  double results = 1;                            // accesses to memory for one of the product
};

/// Registers of a thread, an upper estimate: sums, fragments of two steps, what is copied,
/// addresses.
int64_t registersPerThread(const MmaTile &tile, const MmaWork &work);

/// What a kernel with that tile takes.
KernelWork mmaKernel(const MmaTile &tile, const MmaWork &work, const Target &target);

struct TimedTile {
  MmaTile tile;
  double microseconds; // estimated
  KernelWork work;
};

/// How many tiles schedules are chosen from.
extern const size_t kMmaShapes;

/// The tiles that the target can run, the fastest first; behind all others those that leave room
/// for one small block. They are those that schedules are chosen from, or `all` that warps make
/// whose own tiles are of a usual size: too many to be estimated for every schedule.
llvm::SmallVector<TimedTile, 0> mmaTiles(const MmaWork &work, const Target &target,
                                         bool all = false);

} // namespace cameo
