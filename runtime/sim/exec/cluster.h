// The blocks that run together, their barrier and their shared memory.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_CLUSTER_H
#define CAMEO_SIM_CLUSTER_H

#include "runtime/sim/exec/block.h"

#include <vector>

namespace cameo::sim {

/// The blocks that run together, and their barrier. Their shared memory windows lie in a row.
struct Cluster {
  Block *blocks;
  uint32_t size;
  uint64_t firstOrder; // of its first block: LaunchState::linearBlock
  uint32_t owner;      // of what its accesses leave in the shadows
  uint32_t arrived;    // at the barrier
  uint32_t phase;      // of the barrier; counts from 1
  // Where races are checked: stamps by warp of what the arrivals of this phase release, and of the
  // phase before.
  ClockRow releasing, released;
  /// Where races are checked: the last use of a block's shared memory by a warp of another block,
  /// [block][warp].
  struct Use {
    uint32_t stamp = 0, site = 0, lanes = 0;
    uint32_t doneAfter = 0; // this phase of the barrier; 0: only what orders memory tells
  };
  std::vector<Use> uses;

  uint32_t live() const {
    uint32_t threads = 0;
    for (uint32_t i = 0; i < size; ++i)
      threads += blocks[i].live;
    return threads;
  }
};

/// barrier.cluster.arrive and wait: cluster.cpp. The second tells whether the phase is over; if it
/// is not, `fiber` has been put to sleep.
void arriveAtClusterBarrier(Fiber &fiber, bool releases, bool aligned, uint32_t site);
bool waitAtClusterBarrier(Fiber &fiber, bool aligned, uint32_t site);
/// A thread has exited, perhaps the last of its block.
void leaveCluster(Fiber &fiber);
/// Whether `fiber` may use the shared memory of `target`, a block of its cluster: it has begun, as
/// far as the fiber can know, and has not ended. If not, there is a report.
bool mayReach(Fiber &fiber, const Block &target, CameoSimAccess kind, uint32_t site);
/// Checks an access of shared memory of any block of the cluster, as checkAccess does, and that the
/// block is there; `asyncOperation`: an operation of AsyncOperations does it. Where to access;
/// scratch memory after a report.
char *checkClusterAccess(Fiber &fiber, char *address, uint32_t bytes, uint32_t alignment,
                         CameoSimAccess kind, uint32_t site, uint32_t asyncOperation = 0);

} // namespace cameo::sim

#endif
