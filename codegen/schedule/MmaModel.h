// What kernels of mma.sync cost: the tiles that there are, what they take of a multiprocessor, and
// how long they are estimated to run.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"

#include <optional>

namespace cameo {

/// Bytes of depth that warps multiply at once, at most: two pieces of 16 bytes, which is what an
/// ldmatrix of four matrices loads of 16 rows.
inline constexpr int64_t kDepthBytes = 32;

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
  /// Rows of a warp's sums that go to the results at once, through shared memory: an equal part of
  /// all, for which the operands' memory has room, but at least those of an instruction.
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
  /// Whether tiles are copied by cp.async; else through so many registers an element.
  bool async;
  double rowRegisters, columnRegisters;
  int64_t instructionBytes;                      // of depth
  int64_t rowGap = 0, columnGap = 0;             // of its tiles
  int64_t perInstruction = 16 * 8 * kDepthBytes; // multiply-adds, times bytes of an element
};

/// Multiply-adds a clock cycle and multiprocessor, of operands of `bits` bits.
double matrixRate(const Target &target, unsigned bits);

/// Registers of a thread, an upper estimate: sums, fragments of two steps, what is copied,
/// addresses.
int64_t registersPerThread(const MmaTile &tile, const MmaWork &work);

/// Blocks of the tile that a multiprocessor runs at once; 0: not even one.
int64_t blocksPerSm(const MmaTile &tile, const MmaWork &work, const Target &target);

/// Clock cycles that the product takes on the target's board, by tiles that it can run.
double mmaCycles(const MmaTile &tile, const MmaWork &work, const Target &target);

/// The tile with the fewest of them; nothing where the target can run none.
std::optional<MmaTile> chooseMmaTile(const MmaWork &work, const Target &target);

} // namespace cameo
