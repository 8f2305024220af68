// What fusion has to know of the machines that a model is compiled for: plain numbers, which code
// generation takes from its targets (codegen/Pipeline.cpp). Fusion is done once for all of them, so
// that each number is the least of theirs. The defaults are those of no machine in particular.
//
// Shared memory is not among them. What fusion adds to a kernel is elementwise work, in registers,
// and reductions of rows, whose partial results take a few words a warp. Tiles are what takes
// shared memory; schedules choose them afterwards, so that they fit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cameo {

struct FusionLimits {
  /// Tensors that a kernel reads and writes at most, and operations of its description: registers
  /// and parameters bound both, and every decision reads a description as a whole.
  int64_t tensors = 24;
  int64_t operations = 64;
  /// Host scalars that are passed to a kernel at most.
  int64_t scalars = 48;
  /// Results of one kernel at most: each is a store of its own.
  int64_t results = 4;
  /// What one more launch costs, in bytes of memory traffic: 2 us at 2 TB/s.
  int64_t launchBytes = 4000000;
  /// Rows or columns of a product that a block computes: each element of the other operand is
  /// loaded once for so many.
  int64_t productTile = 64;
  /// Columns of a product at most of which a block computes all, so that it can reduce rows; 0: none.
  int64_t productRow = 0;
  /// Neighbours of a window's result that a thread computes together: what their rows of taps share
  /// is loaded once.
  int64_t windowRun = 4;
  /// How much faster what has been read before is read again: by another block, which finds it in
  /// the L2 cache, and by the same one, which finds it in its own.
  double rereading = 4;
  double overlapping = 12;
  /// Operations on elements in the time in which a byte moves.
  int64_t operationsPerByte = 8;
  /// Rows below which one block per row leaves most multiprocessors idle.
  int64_t rows = 64;
  /// Elements of a row that the threads of a block keep in registers.
  int64_t keptRow = 4096;
  /// Bytes of results that one launch writes for several: beyond that, what reads them would find
  /// them in no cache.
  int64_t batchBytes = 32 << 20;
};

} // namespace cameo
