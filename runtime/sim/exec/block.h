// The engine's own state: fibers, warps, blocks and workers. Not for users of the engine.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_BLOCK_H
#define CAMEO_SIM_BLOCK_H

#include "runtime/sim/access_plans.h"
#include "runtime/sim/async.h"
#include "runtime/sim/barrier_epoch.h"
#include "runtime/sim/clocks.h"
#include "runtime/sim/counting.h"
#include "runtime/sim/engine.h"
#include "runtime/sim/instructions.h"
#include "runtime/sim/map_fences.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/report.h"
#include "runtime/sim/stacks.h"
#include "runtime/sim/trace.h"
#include "runtime/sim/warp_checks.h"

#include <atomic>

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
struct Cluster;
struct Warp;
struct Worker;

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

struct Barrier {
  uint32_t arrived; // threads
  uint32_t count;   // as given; 0: all threads of the block
  uint32_t site;    // of the first to arrive
  uint32_t warps;   // with a lane here
  uint32_t passers; // warps that have arrived without waiting
  uint32_t lanes[kMaxWarps];
};

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

/// cp.async of one thread: copies of which it does not know that they are done, and where its
/// committed groups end among them. Those before `moved` have been done when they were given to an
/// mbarrier, and their thread knows nothing of that yet.
struct PendingCopy {
  char *target;
  const char *source;
  uint32_t bytes, sourceBytes;
  uint32_t site;
  uint32_t operation; // AsyncOperations
  bool raced;         // its read, which has been reported
};
struct CopyQueue {
  std::vector<PendingCopy> copies;
  std::vector<size_t> groups;
  size_t done = 0, moved = 0;
  void clear() {
    copies.clear();
    groups.clear();
    done = moved = 0;
  }
};

/// The same of a warp whose lanes all issue the same copies, commits and waits, where nothing is
/// checked: a ring. Copies and groups' ends are counted from the block's beginning on.
struct WarpCopyQueue {
  struct Copy {
    CameoSimWarpCopy operands;
    uint32_t bytes;
    uint32_t lanes; // others had operands that are not allowed
  };
  std::vector<Copy> ring; // as many as a power of two
  std::vector<size_t> groups;
  size_t begin = 0, end = 0;
  Copy &at(size_t index) { return ring[index & (ring.size() - 1)]; }
  void clear() {
    groups.clear();
    begin = end = 0;
  }
};

/// A bulk copy under way: of a tensor, or of plain bytes where `map` is null. A copy from shared
/// memory to that of another block is a load.
struct BulkTransfer {
  Fiber *issuer = nullptr;
  const char *map = nullptr;
  char *shared = nullptr, *global = nullptr;
  bool fromShared = false; // `global` is in the issuer's shared memory
  char *barrier = nullptr; // loads: where the bytes count
  uint32_t bytes = 0;
  uint32_t group = 0; // stores: which of the thread's; 0: none yet
  uint32_t operation = CAMEO_SIM_EXCH;
  int32_t coordinates[5] = {0, 0, 0, 0, 0};
  uint32_t offsets[3] = {0, 0, 0};
  uint32_t site = 0;
  uint32_t asyncOperation = 0;  // AsyncOperations; of a store, it reads shared memory
  uint32_t globalOperation = 0; // of a store: it writes global memory
  bool done = false;            // a store: some wait has seen that its source has been read
  ClockRow issued;              // loads: what is ordered before the issue
};

/// A thread that waits for a phase of an mbarrier to end.
struct MbarrierWaiter {
  Fiber *fiber;
  uint64_t code;
  const uint32_t *words;
  uint32_t *result;
  bool blocks; // else it wants to know only, and is told as soon as nothing else can go on
};

/// What is ordered before those who see a phase of an mbarrier end, and the operations that they
/// know to be done: of the phase that has not ended yet, and of all before it.
struct MbarrierClock {
  const char *object = nullptr;
  ClockRow pending, released;
  std::vector<uint32_t> pendingOperations, releasedOperations;
  std::vector<size_t> seen; // by warp: how many released operations it knows of
  // Who has initialised it, and whether a fence has followed.
  uint32_t initThread = 0, initStamp = 0, initSite = kNoSite;
  bool initFenced = true;
};

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

/// The table that kernels call through; `counting`: accesses are counted as well as checked.
const CameoSimApi &api(bool counting);

/// A thread's number in its cluster, as Clocks has it.
inline uint32_t threadInCluster(const Fiber &fiber) {
  return fiber.block->firstClock * kLanes + fiber.linear;
}
/// Checks an access of shared memory by an asynchronous operation against what threads have done,
/// without noting it.
void checkRecorded(const Fiber &issuer, uint64_t offset, uint32_t bytes, CameoSimAccess kind,
                   uint32_t site, Agent agent);
/// The same of global memory, where other clusters must see it: it is noted, unless `notes` is
/// false. Whether all is well.
bool checkRecordedGlobal(const Fiber &issuer, const char *address, uint32_t bytes,
                         CameoSimAccess kind, uint32_t site, Agent agent, bool notes);
/// Fills in whose shared memory `offset` is in, and where.
void nameOwner(Fault &fault, const Block &self, uint64_t offset);

/// Checks one access; CameoSimApi::access.
void *checkAccess(CameoSimThread *thread, void *address, uint32_t bytes, uint32_t alignment,
                  uint32_t space, uint32_t kind, uint32_t site);

/// What a global access of the launch may touch and touches, or null. `parameter` and `site` as in
/// CameoSimApi::access.
Range *findRange(Worker &worker, const char *address, uint32_t bytes, uint32_t parameter,
                 uint32_t site);
/// Checks accesses of a warp; CameoSimApi::warp_access.
uint32_t checkWarpAccesses(CameoSimThread *thread, const CameoSimAccessSite *accesses,
                           uint32_t count, char *const *addresses, const uint8_t *lanes,
                           char **allowed);

/// Closes the epoch: flushes accesses that have been deferred since the last barrier to the race
/// shadow, where whatever happens next is checked.
void flushDeferred(Worker &worker);
inline Clocks &Worker::changeClocks() {
  if (epoch.isOpen())
    flushDeferred(*this);
  return *clocks;
}

/// A collective instruction of the vectorised form; CameoSimApi::warp_instruction.
void executeForWarp(CameoSimThread *thread, uint64_t code, uint32_t *words, uint32_t count,
                    uint32_t site);
/// CameoSimApi::warp_matrices.
void executeMatrices(CameoSimThread *thread, const CameoSimStep *steps, uint32_t count,
                     uint32_t *rows, const uint32_t *places);
/// CameoSimApi::warp_copies.
void executeWarpCopies(CameoSimThread *thread, const CameoSimStep *steps, uint32_t count,
                       const CameoSimWarpCopy *copies);
/// Lanes of a warp have all arrived at an instruction.
void executeTogether(Warp &warp, uint32_t lanes, uint32_t site);
/// Does the oldest bulk load that is under way; false if there is none.
bool finishBulkLoad(Worker &worker);
/// Does the stores of `fiber` in its groups up to `lastGroup`, or all stores where it is null.
/// `reads`: the fiber knows from now on that they have read their source, and no more.
void finishBulkStores(Worker &worker, const Fiber *fiber, uint32_t lastGroup, bool reads);
/// A phase of an mbarrier of the block is over.
void wakeMbarrierWaiters(Worker &worker);

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

/// A fault of `fiber`, filled in as far as the fiber tells.
Fault makeFault(const Fiber &fiber, FaultKind kind, uint32_t site);

/// All live lanes of a warp have come to the same point.
inline void converge(Block &block, uint32_t warp) {
  if (__builtin_expect(block.counting != nullptr, 0))
    countConvergence(block, warp);
  if (__builtin_expect(block.tracing != nullptr, 0))
    traceConvergence(block, warp);
}

inline uint64_t mixBits(uint64_t x) { // splitmix64's finaliser
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

} // namespace cameo::sim

extern "C" {
void cameo_sim_enter(cameo::sim::Fiber *self, cameo::sim::Fiber *first);
void cameo_sim_fiber_start();
void cameo_sim_barrier(CameoSimThread *, uint32_t, uint32_t, uint32_t);
uint64_t cameo_sim_shuffle(CameoSimThread *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                           uint32_t);
uint32_t cameo_sim_vote(CameoSimThread *, uint32_t, uint32_t, uint32_t, uint32_t);
void cameo_sim_warp_sync(CameoSimThread *, uint32_t, uint32_t);
void cameo_sim_instruction(CameoSimThread *, uint64_t, uint32_t *, uint32_t);
void cameo_sim_blocking_instruction(CameoSimThread *, uint64_t, uint32_t, uint32_t *, uint32_t);
}

#endif
