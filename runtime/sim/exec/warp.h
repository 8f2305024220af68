// The lanes that run together, and their collectives under way.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_WARP_H
#define CAMEO_SIM_WARP_H

#include "runtime/sim/exec/fiber.h"

namespace cameo::sim {

/// Lanes of a warp on their way into one collective. Groups with different masks can be under way
/// at the same time.
struct Group {
  uint32_t mask;
  uint32_t arrived;
  uint32_t op;
  uint32_t site;
};

struct Warp {
  Block *block;
  Fiber *fibers;  // kLanes in a row
  uint32_t id;    // in the block
  uint32_t clock; // in the cluster: its number in Clocks
  uint32_t all;   // lanes that exist
  uint32_t live;  // lanes that have not exited
  uint32_t ready; // lanes that can run; in the vectorised form, the warp can when all of them can
  Fiber *holder;  // vectorised form: holds the warp's stack while it waits
  uint32_t groupCount;
  Group groups[kLanes];
  // barrier.cluster.arrive and wait: where its lanes come to it.
  struct ClusterMeeting {
    uint32_t phase, site, lanes;
  } clusterArrival, clusterWait;
  // Operands of the collectives under way, by lane.
  uint32_t value[kLanes];
  uint32_t b[kLanes];
  uint32_t c[kLanes];
  uint32_t *words[kLanes]; // of instructions
  uint64_t codes[kLanes];
};

} // namespace cameo::sim

#endif
