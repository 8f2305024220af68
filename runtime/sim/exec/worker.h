// A host thread that runs clusters of a launch, and all state that it keeps for the one that runs.
// This is the header that most of the engine's own files need.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_WORKER_H
#define CAMEO_SIM_WORKER_H

#include "runtime/sim/check/access_plans.h"
#include "runtime/sim/check/async.h"
#include "runtime/sim/check/barrier_epoch.h"
#include "runtime/sim/check/checks.h"
#include "runtime/sim/check/map_fences.h"
#include "runtime/sim/check/warp_checks.h"
#include "runtime/sim/exec/cluster.h"
#include "runtime/sim/exec/launch_state.h"
#include "runtime/sim/exec/pending.h"
#include "runtime/sim/exec/stacks.h"
#include "runtime/sim/instructions.h"
#include "runtime/sim/observe/counting.h"
#include "runtime/sim/observe/trace.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace cameo::sim {

struct Worker {
  LaunchState *state = nullptr;
  uint32_t checks = 0;
  Fiber main{};
  std::vector<Block> blocks; // of the cluster
  Cluster cluster{};
  uint32_t fiberCapacity = 0;
  std::unique_ptr<Fiber[]> fibers;
  std::unique_ptr<Warp[]> warps;
  std::unique_ptr<Clocks> clocks;
  Stacks stacks;
  SharedWindow window;
  SharedShadow shadow;
  AccessPlans plans;
  std::unordered_map<uint64_t, CameoSimAccessSite> matrixAccesses;
  BarrierEpoch epoch;           // of a block that is not a part of a cluster
  uint32_t stamp = kFirstStamp; // next cluster's first stamp
  Counters counters;
  RangeCache cache;
  std::unique_ptr<WarpPatterns> patterns; // where memory is checked
  std::vector<uint32_t> operands;         // of a warp's instruction, by lane
  std::vector<CopyQueue> copyQueues;      // by thread, as many as were needed
  std::vector<WarpCopyQueue> warpCopies;  // by warp, as many as were needed
  std::vector<MbarrierWaiter> mbarrierWaiters;
  std::vector<BulkTransfer> bulkLoads, bulkStores; // in the order of their issue
  std::vector<MbarrierClock> mbarrierClocks;       // where races are checked
  std::vector<ClockRow> barrierArrivals;           // as well: by bar.arrive, [block][barrier]
  AsyncOperations async;                           // as well
  std::vector<MapFence> mapFences;                 // as well: acquires, in their order
  uint64_t fruitlessPolls = 0;                     // tests of mbarriers since a phase ended
  alignas(64) char scratch[256];                   // stands in for memory after a reported access
  std::vector<std::unique_ptr<Counting>> counting; // by block of the cluster
  std::vector<std::unique_ptr<Tracing>> tracing;
  std::vector<uint64_t> executions; // CameoSimThread::executions

  Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;
  /// Makes ready for a launch; false without memory.
  bool prepare(LaunchState &launch);
  CopyQueue &copyQueue(const Fiber &fiber) {
    size_t index = size_t(&fiber - fibers.get());
    if (copyQueues.size() <= index)
      copyQueues.resize(fiberCapacity);
    return copyQueues[index];
  }
  WarpCopyQueue &warpCopyQueue(const Fiber &first) {
    size_t index = size_t(&first - fibers.get()) / kLanes;
    if (warpCopies.size() <= index)
      warpCopies.resize(fiberCapacity / kLanes);
    return warpCopies[index];
  }
  /// A place of the cluster's shared memory, counted from the first block's window on; beyond all
  /// windows for other addresses.
  uint64_t sharedOffset(const char *address) const { return uint64_t(address - window.data()); }
  /// The block that an address of the cluster's shared memory belongs to, or null.
  Block *blockOf(const char *address) {
    uint64_t rank = sharedOffset(address) / kSharedWindow;
    return rank < blocks.size() ? &blocks[size_t(rank)] : nullptr;
  }
  MbarrierClock &mbarrierClock(const char *object) {
    for (MbarrierClock &clock : mbarrierClocks)
      if (clock.object == object)
        return clock;
    mbarrierClocks.emplace_back();
    mbarrierClocks.back().object = object;
    return mbarrierClocks.back();
  }
  /// ldmatrix and stmatrix of so many matrices, as checkWarpAccesses has accesses.
  const CameoSimAccessSite &matrixAccess(CameoSimAccess kind, uint32_t matrices, uint32_t site);
  /// The clocks of the cluster, to be changed.
  Clocks &changeClocks();
  /// Whether accesses of shared memory are noted from barrier to barrier: who accesses it through
  /// the asynchronous proxy wants to know what a barrier has ordered, and no fence.
  bool notesIntervals() const {
    return checks & kCheckMemory && state->warpForm && cluster.size == 1 &&
           state->launch->kernel->generic_proxy_only;
  }
  /// Warps of a block have met at a barrier, a bit each; others have arrived there without waiting
  /// (null: none), which is forgotten.
  void syncWarps(const Block &block, uint32_t warpsThere, ClockRow *arrivals);
  /// Bytes of shared memory, from the first block's window on, are not initialised any more.
  void undefine(uint64_t offset, uint32_t bytes);
  /// Claims blocks of the launch until there are none left.
  void run();
  /// What it has counted of the launch.
  KernelCounters countedWork() const;

private:
  void claimClusters();
  void prepareBlock(Block &block, uint32_t rank);
  void runCluster(uint64_t index);
  void startBlock(Block &block, uint64_t order);
  void startFiber(Fiber &fiber, uint32_t stack);
  void reportDeadlock();
  void reportStacks();
};

inline Clocks &Worker::changeClocks() {
  if (epoch.isOpen())
    flushDeferred(*this);
  return *clocks;
}

} // namespace cameo::sim

#endif
