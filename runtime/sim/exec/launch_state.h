// One launch, as all workers see it.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_LAUNCH_STATE_H
#define CAMEO_SIM_LAUNCH_STATE_H

#include "runtime/sim/check/report.h"
#include "runtime/sim/engine.h"
#include "runtime/sim/exec/memory.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace cameo::sim {

/// One launch, shared by the workers that run it.
struct LaunchState {
  const Launch *launch = nullptr;
  const CameoSimApi *api = nullptr;
  uint32_t checks = 0;
  uint64_t seed = 0;
  uint32_t threads = 0;
  uint32_t sharedBytes = 0;
  bool warpForm = false;
  size_t stackBytes = 0; // of a fiber
  bool guards = false;
  uint32_t cluster[3] = {1, 1, 1}; // blocks
  uint32_t clusterSize = 1;        // in all
  uint64_t clusterCount = 0;
  uint64_t chunk = 1;
  uint64_t stride = 1, offset = 0; // cluster i runs as (i * stride + offset) mod clusterCount
  std::vector<Range> ranges;
  std::vector<Range *> byParameter; // null where a parameter has no range of its own
  bool knowsWrites = false; // which ranges the kernel writes: the others are Range::readOnly
  std::vector<std::unique_ptr<Allocation>> foreign; // of ranges outside the engine's allocations
  FaultLog log;
  bool parallel = false; // more than one worker
  /// Of global memory's race shadow, where blocks run in parallel: hashed by address, a cache line
  /// each.
  struct alignas(64) RegionLock {
    std::atomic<uint8_t> held{0};
  };
  static constexpr uint32_t kRegionLocks = 1024;
  static constexpr uint32_t kRegionBytes = 4096;
  std::vector<RegionLock> regionLocks;
  /// Records of this launch have owners beyond this, a number for each cluster.
  uint32_t lastOwner = 0;
  static constexpr uint32_t kOwners = 1u << 30; // of more clusters, some share a number
  std::atomic<uint64_t> nextCluster{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> outOfMemory{false};
  bool counting = false;
  const TraceSelection *trace = nullptr; // null unless this launch is traced
  std::mutex tracing;                    // held while lines are written

  uint32_t ownerOf(uint64_t cluster) const { return lastOwner + 1 + uint32_t(cluster % kOwners); }
  /// Whether accesses of the range are recorded, to be checked for races.
  bool records(const Range &range) const {
    return !range.readOnly && (knowsWrites || range.allocation->notesReads());
  }
  bool sequential() const { return launch->noSync && clusterSize == 1; }
  /// A block's number in the grid. `order` counts the blocks cluster by cluster.
  uint64_t linearBlock(uint64_t order) const;
};

inline uint64_t mixBits(uint64_t x) { // splitmix64's finaliser
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

} // namespace cameo::sim

#endif
