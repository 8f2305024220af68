// The threads that share memory and barriers.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_BLOCK_H
#define CAMEO_SIM_BLOCK_H

#include "runtime/sim/exec/warp.h"

namespace cameo::sim {

struct Cluster;
struct Counting;
struct Tracing;
struct Worker;

struct Barrier {
  uint32_t arrived; // threads
  uint32_t count;   // as given; 0: all threads of the block
  uint32_t site;    // of the first to arrive
  uint32_t warps;   // with a lane here
  uint32_t passers; // warps that have arrived without waiting
  uint32_t lanes[kMaxWarps];
};

struct Block {
  Worker *worker;
  Cluster *cluster;
  uint32_t rank;       // in the cluster
  uint32_t firstClock; // number of its first warp in Clocks
  Fiber *main;         // the worker's own context
  char *shared;
  Fiber *fibers;
  Warp *warps;
  uint32_t threads;
  uint32_t warpCount;
  uint32_t live;         // threads that have not exited
  uint32_t readyWarps;   // superset of the warps with ready lanes
  uint32_t fullBarriers; // bit i: barrier i waits for all threads
  bool sequential;       // threads, or warps, run one after the other
  bool warpForm;
  bool shuffled;
  bool deadlock;
  uint32_t id[3];
  uint64_t linear;
  uint64_t random;
  Barrier barriers[kBarriers];
  Clocks *clocks;     // null unless races are checked
  Counting *counting; // null unless asked for
  Tracing *tracing;   // null unless this block is traced
};

/// A thread's number in its cluster, as Clocks has it.
inline uint32_t threadInCluster(const Fiber &fiber) {
  return fiber.block->firstClock * kLanes + fiber.linear;
}

} // namespace cameo::sim

#endif
