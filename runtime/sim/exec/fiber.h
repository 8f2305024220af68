// One GPU thread, and what it may wait for.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_FIBER_H
#define CAMEO_SIM_FIBER_H

#include "runtime/sim/abi.h"
#include "runtime/sim/check/clocks.h"
#include "runtime/sim/exec/memory.h"

#include <cstddef>
#include <cstdint>

namespace cameo::sim {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxWarps = kMaxThreads / kLanes;
constexpr uint32_t kBarriers = 16;
// Descriptors of matrix instructions keep bits 4 to 17 of a shared address, so the window of a
// block is aligned to 2^18.
constexpr uint32_t kSharedWindow = 256u << 10;
constexpr uint32_t kMaxClusterBlocks = 16;
constexpr size_t kSharedGranules = kMaxClusterBlocks * (kSharedWindow / kGranule);
constexpr uint32_t kMaxClusterWarps = kMaxClusterBlocks * kMaxWarps;

struct Block;
struct Warp;

/// One GPU thread. Where the vectorised form of a kernel runs, the stack is the warp's, and the
/// thread that a call names holds it while the warp waits. switch.S knows the offsets of sp and
/// result.
struct Fiber {
  CameoSimThread thread; // first: kernels hold its address
  void *sp;
  uint64_t result; // what the blocking call returns when the fiber resumes
  Warp *warp;
  Block *block;
  uint32_t bit;    // 1 << lane
  uint32_t linear; // in the block
  // What it waits for, for reports.
  uint32_t waitOp;     // an Op, 0 while running
  uint32_t waitDetail; // mask of a collective; number of a barrier
  uint32_t waitSite;
  uint32_t bulkGroups; // cp.async.bulk.commit_group so far
  // Phase of the cluster's barrier in which it has arrived, without having waited since; 0: none.
  uint32_t clusterPhase;
};
static_assert(offsetof(Fiber, sp) == 144 && offsetof(Fiber, result) == 152, "see switch.S");

/// What a fiber waits for. Low byte: the kind of shuffle or vote, where nothing else is said.
enum Op : uint32_t {
  kOpShuffle = 0x100,
  kOpVote = 0x200,
  kOpWarpSync = 0x300,
  kOpBarrier = 0x400,
  kOpInstruction = 0x500, // low byte: a CameoSimOpcode
  kOpMbarrier = 0x600,
  kOpClusterBarrier = 0x700
};

} // namespace cameo::sim

#endif
