// How long kernels are estimated to run on a target's board: one model for all classes of
// schedules, so that their times can be compared.
//
// A kernel's blocks run in rounds of as many as multiprocessors have room for. What a block does
// takes each resource for some time; blocks that are together wait for the one that takes longest,
// and at least as long as one of them takes by itself. No kernel is faster than its traffic with
// memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"
#include "dialects/rt/Rt.h"

#include <vector>

namespace cameo {

/// What a block does, or does in each of its steps.
struct BlockWork {
  double matrix = 0, arithmetic = 0; // cycles of a multiprocessor's Tensor Cores; of its lanes
  double slots = 0;                  // instructions that its warps issue
  double sharedBytes = 0;            // to and from shared memory
  double l2Bytes = 0;                // to and from the L2 cache, which may pass them on
  // What costs so much on some architectures alone (CameoTiming). Turns of shared memory beside
  // those of its bytes: of loads that go to registers, and of warps' accesses to less than all banks.
  // Instructions of warps beside `slots`, counted by what asks for them: conversions of operands;
  // places in memory that no other one is a constant away from; copies that may be outside of what
  // is padded; accesses to results, of 32 elements each.
  double turns = 0, conversions = 0, places = 0, checks = 0, results = 0;
  // What a block waits for even if it has a multiprocessor to itself. Its own instructions: cycles of
  // those that wait for one another; products of a warp on Tensor Cores, each of which adds to the
  // one before; barriers. Loads from global memory, one after another, that steps ask for so many
  // steps ahead.
  double chain = 0, products = 0, barriers = 0;
  double loads = 0, ahead = 0;
  double idle = 0; // how many times as long its resources take if no other block keeps them busy
};

struct KernelWork {
  double blocks = 1;
  int64_t threads = 256;   // of a block
  int64_t registers = 32;  // of a thread
  int64_t sharedBytes = 0; // of a block
  double steps = 0;        // of a block: what each takes, and what is done once
  BlockWork step, once;
  double trips = 2; // to memory and back, each of which waits for the one before
  double dramBytes = 0;
  double launches = 1;            // of the kernel, one after another; all else is of each
  std::vector<KernelWork> beside; // other launches that it needs
  bool onMatrix = false;          // whether Tensor Cores are at work
  // For what machine code says instead of `step`:
  double multiplyAdds = 0; // of a block in all its steps, those of empty places in tiles, too
  double loads = 0;        // from global memory that a step waits for, one after another,
  double ahead = 0;        // which are asked for so many steps ahead
};

struct TimeEstimate {
  double microseconds;
  rt::Limit limit; // what most of them go to
};

/// What a kernel of products does with whole rows on the way to its results.
struct RowWork {
  int64_t columns = 0;   // that tiles have at least; 0: there is nothing of the kind
  double registers = 0;  // of an element that a thread has behind the products
  double operations = 0; // on an element

  /// Behind the products of a tile of so many elements.
  void addTo(KernelWork &kernel, double elements) const;
};

/// Shared memory of a product's kernel for the indices by which operands are gathered.
struct IndexBytes {
  int64_t row = 0, column = 0; // for each row and each column of a tile

  int64_t of(int64_t rows, int64_t columns) const { return row * rows + column * columns; }
};

class TimeModel {
public:
  explicit TimeModel(const Target &target) : target(target), timing(target.timing()) {}

  /// Cycles of a multiprocessor for multiply-adds of operands of so many bits, on Tensor Cores by
  /// mma.sync, and by its lanes.
  double matrixCycles(double multiplyAdds, unsigned bits) const;
  double laneCycles(double multiplyAdds, unsigned bits) const;
  /// Blocks that a multiprocessor runs at once; 0: not even one.
  int64_t blocksPerSm(const KernelWork &work) const;
  /// Cycles of so many blocks of `threads` together for this work of each.
  double cycles(const BlockWork &work, int64_t threads, double together) const;
  /// Cycles that loads from global memory take of each step, for those that are not ahead.
  double waitCycles(double loads, double ahead) const;
  /// Of a launch, with what it costs to launch, without those beside it. Infinite where no block
  /// fits.
  TimeEstimate estimate(const KernelWork &work) const;
  /// The same in microseconds, of all of the kernel's launches and those beside it.
  double microseconds(const KernelWork &work) const;

private:
  /// Instructions that are issued, and turns of shared memory, with those that the architecture's
  /// timing counts.
  double slots(const BlockWork &work) const;
  double sharedCycles(const BlockWork &work) const;
  /// Of resources that so many blocks use together.
  double resourceCycles(const BlockWork &work, double together) const;
  /// What a block takes at least.
  double aloneCycles(const BlockWork &work, int64_t threads) const;
  /// What blocks wait for that need so many cycles.
  rt::Limit limitOf(const BlockWork &work, int64_t threads, double cycles) const;

  const Target &target;
  const CameoTiming &timing;
};

} // namespace cameo
