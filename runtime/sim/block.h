// The engine's own state: fibers, warps, blocks and workers. Not for users of the engine.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_BLOCK_H
#define CAMEO_SIM_BLOCK_H

#include "runtime/sim/counting.h"
#include "runtime/sim/engine.h"
#include "runtime/sim/instructions.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/report.h"
#include "runtime/sim/stacks.h"
#include "runtime/sim/trace.h"

#include <atomic>

namespace cameo::sim {

constexpr uint32_t kLanes = 32;
constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxWarps = kMaxThreads / kLanes;
constexpr uint32_t kBarriers = 16;
// Descriptors of matrix instructions keep bits 4 to 17 of a shared address, so the window of a
// block is aligned to 2^18.
constexpr uint32_t kSharedWindow = 256u << 10;

struct Block;
struct Warp;
struct Worker;

/// One GPU thread. Where the warp form of a kernel runs, the stack is the warp's, and the thread
/// that a call names holds it while the warp waits. switch.S knows the offsets of sp and result.
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
};
static_assert(offsetof(Fiber, sp) == 80 && offsetof(Fiber, result) == 88, "see switch.S");

/// What a fiber waits for. Low byte: the kind of shuffle or vote, where nothing else is said.
enum Op : uint32_t {
  kOpShuffle = 0x100,
  kOpVote = 0x200,
  kOpWarpSync = 0x300,
  kOpBarrier = 0x400,
  kOpInstruction = 0x500, // low byte: a CameoSimOpcode
  kOpMbarrier = 0x600
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
  Fiber *fibers; // kLanes in a row
  uint32_t id;
  uint32_t all;   // lanes that exist
  uint32_t live;  // lanes that have not exited
  uint32_t ready; // lanes that can run; in the warp form, the warp can when all of them can
  Fiber *holder;  // warp form: holds the warp's stack while it waits
  uint32_t groupCount;
  Group groups[kLanes];
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

/// Happens-before within a block. Every warp counts its synchronisations; an access is stamped with
/// its warp's count. Stamps grow from block to block of a worker, so shadows need no clearing.
struct Clocks {
  uint32_t event[kMaxWarps];            // the stamp of accesses now
  uint32_t lastFull[kMaxWarps];         // stamps up to here are ordered for all lanes of the warp
  bool partial[kMaxWarps];              // lanes synchronised in part since then
  uint32_t known[kMaxWarps][kMaxWarps]; // [w][v]: stamps of warp v that are ordered before warp w
  uint32_t lanes[kMaxWarps][kLanes][kLanes]; // [w][l][m]: stamps of lane m ordered before lane l

  void start(uint32_t warps, uint32_t stamp);
  /// Lanes `mask` of warp `w` have synchronised; `all`: the warp's lanes.
  void syncLanes(uint32_t w, uint32_t mask, uint32_t all);
  /// The warps in `warps` have synchronised.
  void syncWarps(uint32_t warps);
  /// Through an mbarrier: what warp `w` has done is added to `row`, or what is in `row` is ordered
  /// before what it does from now on. Lanes of a warp are not told apart.
  void release(uint32_t w, uint32_t *row);
  void acquire(uint32_t w, const uint32_t *row);
  uint32_t latest(uint32_t warps) const;
  /// Whether what `thread` did at `stamp` is ordered before what `self` does now.
  bool ordered(uint32_t thread, uint32_t stamp, uint32_t self) const {
    if (thread == self)
      return true;
    uint32_t v = thread / kLanes, w = self / kLanes;
    if (v != w)
      return stamp <= known[w][v];
    return stamp <= lastFull[w] ||
           (partial[w] && stamp <= lanes[w][self % kLanes][thread % kLanes]);
  }
};

/// One launch, shared by the workers that run it.
struct LaunchState {
  const Launch *launch = nullptr;
  const CameoSimApi *api = nullptr;
  uint32_t checks = 0;
  uint64_t seed = 0;
  uint32_t tag = 0;
  uint32_t threads = 0;
  uint32_t sharedBytes = 0;
  bool warpForm = false;
  size_t stackBytes = 0; // of a fiber
  bool guards = false;
  uint64_t blockCount = 0;
  uint64_t chunk = 1;
  uint64_t stride = 1, offset = 0; // block i runs as (i * stride + offset) mod blockCount
  std::vector<Range> ranges;
  std::vector<Range *> byParameter; // null where a parameter has no range of its own
  std::vector<std::unique_ptr<Allocation>> foreign; // of ranges outside the engine's allocations
  FaultLog log;
  static constexpr uint32_t kCellLocks = 4096;
  bool parallel = false;                       // more than one worker
  std::vector<std::atomic<uint8_t>> cellLocks; // of global memory's race shadow
  std::atomic<uint64_t> nextBlock{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> outOfMemory{false};
  bool counting = false;
  const TraceSelection *trace = nullptr; // null unless this launch is traced
  std::mutex tracing;                    // held while lines are written
};

struct Block {
  Worker *worker;
  Fiber *main; // the worker's own context
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

/// cp.async of one thread: copies that are not done, and where its committed groups end among them.
struct PendingCopy {
  char *target;
  const char *source;
  uint32_t bytes, sourceBytes;
  uint32_t site;
};
struct CopyQueue {
  std::vector<PendingCopy> copies;
  std::vector<size_t> groups;
  size_t done = 0;
};

/// A bulk copy under way: of a tensor, or of plain bytes where `map` is null.
struct BulkTransfer {
  Fiber *issuer = nullptr;
  const char *map = nullptr;
  char *shared = nullptr, *global = nullptr;
  char *barrier = nullptr; // loads: where the bytes count
  uint32_t bytes = 0;
  uint32_t group = 0; // stores: which of the thread's; 0: none yet
  uint32_t operation = CAMEO_SIM_EXCH;
  int32_t coordinates[5] = {0, 0, 0, 0, 0};
  uint32_t offsets[3] = {0, 0, 0};
  uint32_t site = 0;
};

/// A thread that waits for a phase of an mbarrier to end.
struct MbarrierWaiter {
  Fiber *fiber;
  uint64_t code;
  const uint32_t *words;
  uint32_t *result;
  bool blocks; // else it wants to know only, and is told as soon as nothing else can go on
};

/// What is ordered before those who see a phase of an mbarrier end: stamps by warp.
struct MbarrierClock {
  const char *object;
  uint32_t known[kMaxWarps];
};

struct Worker {
  LaunchState *state = nullptr;
  uint32_t checks = 0;
  Fiber main{};
  Block block{};
  std::unique_ptr<Fiber[]> fibers;
  std::unique_ptr<Warp[]> warps;
  std::unique_ptr<Clocks> clocks;
  Stacks stacks;
  SharedWindow window;
  SharedShadow shadow;
  uint32_t stamp = 1;       // next block's first stamp
  uint32_t blockSerial = 0; // tag of the current block's records in the shadow
  Counters counters;
  RangeCache cache;
  std::vector<uint32_t> operands;    // of a warp's instruction, by lane
  std::vector<CopyQueue> copyQueues; // by thread, as many as were needed
  std::vector<MbarrierWaiter> mbarrierWaiters;
  std::vector<BulkTransfer> bulkLoads, bulkStores; // in the order of their issue
  std::vector<MbarrierClock> mbarrierClocks;       // where races are checked
  uint64_t fruitlessPolls = 0;                     // tests of mbarriers since a phase ended
  alignas(64) char scratch[256];                   // stands in for memory after a reported access
  std::unique_ptr<Counting> counting;
  std::unique_ptr<Tracing> tracing;
  std::vector<uint64_t> executions; // CameoSimThread::executions

  Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;
  /// Makes ready for a launch; false without memory.
  bool prepare(LaunchState &launch);
  CopyQueue &copyQueue(uint32_t thread) {
    if (copyQueues.size() <= thread)
      copyQueues.resize(state->threads);
    return copyQueues[thread];
  }
  MbarrierClock &mbarrierClock(const char *object) {
    for (MbarrierClock &clock : mbarrierClocks)
      if (clock.object == object)
        return clock;
    mbarrierClocks.push_back({object, {}});
    return mbarrierClocks.back();
  }
  /// Claims blocks of the launch until there are none left.
  void run();
  /// What it has counted of the launch.
  KernelCounters countedWork() const;

private:
  void claimBlocks();
  void runBlock(uint64_t linear);
  void startFiber(Fiber &fiber, uint32_t stack);
  void reportDeadlock();
  void reportStacks();
};

/// The table that kernels call through; `counting`: accesses are counted as well as checked.
const CameoSimApi &api(bool counting);

/// Checks one access; CameoSimApi::access.
void *checkAccess(CameoSimThread *thread, void *address, uint32_t bytes, uint32_t alignment,
                  uint32_t space, uint32_t kind, uint32_t site);

/// CameoSimApi::warp_access.
void accessByWarp(CameoSimThread *thread, uint32_t lanes, void **addresses, uint32_t bytes,
                  uint32_t alignment, uint32_t space, uint32_t kind, uint32_t site);

/// A collective instruction of the warp form; CameoSimApi::warp_instruction.
void executeForWarp(CameoSimThread *thread, uint64_t code, uint32_t *words, uint32_t count,
                    uint32_t site);
/// Lanes of a warp have all arrived at an instruction.
void executeTogether(Warp &warp, uint32_t lanes, uint32_t site);
/// Does the oldest bulk load that is under way; false if there is none.
bool finishBulkLoad(Worker &worker);
/// Does the stores of `fiber` in its groups up to `lastGroup`, or all stores where it is null.
void finishBulkStores(Worker &worker, const Fiber *fiber, uint32_t lastGroup);
/// A phase of an mbarrier of the block is over.
void wakeMbarrierWaiters(Block &block);

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
