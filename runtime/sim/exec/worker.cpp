// A worker: runs clusters of a launch one after the other on its own fibers, stacks and shared
// memory. A cluster is one block where the launch says nothing else.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/exec/entry_points.h"
#include "runtime/sim/observe/converge.h"

#include <algorithm>
#include <cstring>
#include <xmmintrin.h>

namespace cameo::sim {
namespace {
constexpr uint32_t kStampLimit = 0x70000000u;
constexpr unsigned kDefaultControl = 0x1f80; // MXCSR at reset: all exceptions masked
} // namespace

Worker::Worker() = default;

bool Worker::prepare(LaunchState &launchState) {
  state = &launchState;
  checks = state->checks;
  std::fill(std::begin(cache.entries), std::end(cache.entries), nullptr);
  const Launch &launch = *state->launch;
  uint32_t size = state->clusterSize, threads = state->threads;
  uint32_t warpCount = (threads + kLanes - 1) / kLanes;
  if (uint32_t wanted = std::max(kMaxThreads, size * warpCount * kLanes); wanted > fiberCapacity) {
    fibers.reset(new Fiber[wanted]());
    warps.reset(new Warp[wanted / kLanes]());
    fiberCapacity = wanted;
    copyQueues.clear();
    warpCopies.clear();
  }
  uint32_t perBlock = state->sequential() ? 1 : state->warpForm ? threads / kLanes : threads;
  if (!window.reserve(size) || !stacks.reserve(size * perBlock, state->stackBytes, state->guards))
    return false;
  if (checks & kCheckRace && !clocks)
    clocks.reset(new Clocks());
  if (checks & kCheckMemory && !patterns)
    patterns.reset(new WarpPatterns());
  plans.restart();
  epoch.close();
  if (checks & kCheckInit && shadow.windows < size) {
    shadow.initialised.reset(new uint8_t[size_t(size) * kSharedWindow]);
    shadow.windows = size;
  }

  shadow.races.restart();
  executions.assign(launch.kernel->block_count, 0);
  while (state->counting && counting.size() < size)
    counting.emplace_back(new Counting());
  for (auto &one : counting)
    one->counter.counters = KernelCounters();
  tracing.resize(std::max<size_t>(tracing.size(), size));
  blocks.assign(size, Block());
  cluster.blocks = blocks.data();
  cluster.size = size;
  for (uint32_t rank = 0; rank < size; ++rank)
    prepareBlock(blocks[rank], rank);
  return true;
}

void Worker::prepareBlock(Block &block, uint32_t rank) {
  const Launch &launch = *state->launch;
  uint32_t threads = state->threads;
  block.worker = this;
  block.cluster = &cluster;
  block.rank = rank;
  block.main = &main;
  block.shared = window.data() + size_t(rank) * kSharedWindow;
  block.threads = threads;
  block.warpCount = (threads + kLanes - 1) / kLanes;
  block.firstClock = rank * block.warpCount;
  block.warps = warps.get() + block.firstClock;
  block.fibers = fibers.get() + size_t(block.firstClock) * kLanes;
  block.sequential = state->sequential();
  block.warpForm = state->warpForm;
  block.shuffled = state->seed != 0;
  block.clocks = checks & kCheckRace ? clocks.get() : nullptr;
  block.counting = state->counting ? counting[rank].get() : nullptr;
  block.tracing = nullptr;
  const uint32_t *cluster = state->cluster;
  uint32_t fiberCount = block.sequential && !block.warpForm ? 1 : threads;
  for (uint32_t i = 0; i < fiberCount; ++i) {
    Fiber &fiber = block.fibers[i];
    fiber = Fiber();
    CameoSimThread &thread = fiber.thread;
    thread.api = state->api;
    thread.shared = block.shared;
    thread.tid[0] = i % launch.block[0];
    thread.tid[1] = i / launch.block[0] % launch.block[1];
    thread.tid[2] = i / launch.block[0] / launch.block[1];
    memcpy(thread.ntid, launch.block, sizeof thread.ntid);
    memcpy(thread.nctaid, launch.grid, sizeof thread.nctaid);
    thread.lane = i % kLanes;
    thread.warp = i / kLanes;
    for (uint32_t d = 0; d < 3; ++d)
      thread.nclusterid[d] = launch.grid[d] / cluster[d];
    memcpy(thread.cluster_nctaid, cluster, sizeof thread.cluster_nctaid);
    thread.cluster_ctaid[0] = rank % cluster[0];
    thread.cluster_ctaid[1] = rank / cluster[0] % cluster[1];
    thread.cluster_ctaid[2] = rank / cluster[0] / cluster[1];
    thread.cluster_ctarank = rank;
    thread.cluster_nctarank = state->clusterSize;
    thread.executions = executions.data();
    fiber.warp = &block.warps[i / kLanes];
    fiber.block = &block;
    fiber.bit = 1u << thread.lane;
    fiber.linear = i;
  }
  for (uint32_t w = 0; w < block.warpCount; ++w) {
    Warp &warp = block.warps[w];
    warp.block = &block;
    warp.fibers = &block.fibers[size_t(w) * kLanes];
    warp.id = w;
    warp.clock = block.firstClock + w;
    uint32_t lanes = std::min(kLanes, threads - w * kLanes);
    warp.all = lanes == kLanes ? ~0u : (1u << lanes) - 1;
  }
}

void Worker::run() {
  // A GPU keeps denormals and rounds to nearest, whatever the application has set.
  const unsigned applications = _mm_getcsr();
  _mm_setcsr(kDefaultControl);
  claimClusters();
  _mm_setcsr(applications);
}

void Worker::claimClusters() {
  while (!state->stop.load(std::memory_order_relaxed)) {
    uint64_t first = state->nextCluster.fetch_add(state->chunk, std::memory_order_relaxed);
    if (first >= state->clusterCount)
      return;
    uint64_t last = std::min(first + state->chunk, state->clusterCount);
    for (uint64_t i = first; i < last; ++i)
      runCluster(uint64_t((static_cast<unsigned __int128>(i) * state->stride + state->offset) %
                          state->clusterCount));
  }
}

uint64_t LaunchState::linearBlock(uint64_t order) const {
  if (clusterSize == 1)
    return order;
  uint64_t rank = order % clusterSize, index = order / clusterSize;
  const uint32_t *grid = launch->grid;
  uint64_t clusters[2] = {grid[0] / cluster[0], grid[1] / cluster[1]};
  uint64_t x = index % clusters[0] * cluster[0] + rank % cluster[0];
  uint64_t y = index / clusters[0] % clusters[1] * cluster[1] + rank / cluster[0] % cluster[1];
  uint64_t z = index / clusters[0] / clusters[1] * cluster[2] + rank / cluster[0] / cluster[1];
  return (z * grid[1] + y) * grid[0] + x;
}

void Worker::startFiber(Fiber &fiber, uint32_t stack) {
  // What switch.S pops: r15, r14, r13, r12, rbx, rbp, then the address to go on at.
  void **sp = reinterpret_cast<void **>(stacks.top(stack)) - 8;
  std::fill(sp, sp + 8, nullptr);
  ++sp; // the stack is 16-byte aligned once they are popped
  sp[3] = &fiber;
  sp[6] = reinterpret_cast<void *>(cameo_sim_fiber_start);
  fiber.sp = static_cast<void *>(sp);
  fiber.waitOp = 0;
}

void Worker::startBlock(Block &block, uint64_t order) {
  const Launch &launch = *state->launch;
  uint64_t linear = state->linearBlock(order);
  block.linear = linear;
  block.id[0] = uint32_t(linear % launch.grid[0]);
  block.id[1] = uint32_t(linear / launch.grid[0] % launch.grid[1]);
  block.id[2] = uint32_t(linear / launch.grid[0] / launch.grid[1]);
  block.live = block.threads;
  block.deadlock = false;
  block.random = mixBits(state->seed ^ mixBits(linear));
  block.tracing = nullptr;
  if (state->trace &&
      (state->trace->block == TraceSelection::kAll || state->trace->block == linear)) {
    tracing[block.rank].reset(new Tracing());
    block.tracing = tracing[block.rank].get();
  }
  ++counters.blocks;
  counters.threads += block.threads;

  if (checks & kCheckMemory && state->sharedBytes)
    memset(block.shared, 0xff, state->sharedBytes); // NaN in every floating-point format
  uint8_t *initialised =
      checks & kCheckInit ? shadow.initialised.get() + size_t(block.rank) * kSharedWindow : nullptr;
  if (initialised)
    memset(initialised, 0, state->sharedBytes);
  if (notesIntervals())
    epoch.startBlock(state->sharedBytes, initialised, checks & kCheckRace);

  // The vectorised form reads the block's number from the context of the warp's first thread.
  uint32_t perFiber = block.warpForm ? kLanes : 1;
  uint32_t started = block.sequential ? 1 : block.threads / perFiber;
  uint32_t firstStack = block.rank * started;
  for (uint32_t i = 0; i < started; ++i)
    startFiber(block.fibers[size_t(i) * perFiber], firstStack + i);
  uint32_t contexts = block.sequential && !block.warpForm ? 1 : block.threads;
  for (uint32_t i = 0; i < contexts; i += perFiber) {
    CameoSimThread &thread = block.fibers[i].thread;
    memcpy(thread.ctaid, block.id, sizeof block.id);
    for (uint32_t d = 0; d < 3; ++d)
      thread.clusterid[d] = block.id[d] / state->cluster[d];
    if (block.warpForm) // an odd number: products of odd numbers stay so
      thread.lane_order = block.shuffled ? uint32_t(mixBits(block.random + i) >> 32) | 1 : 0;
  }
  bool marked = checks && !stacks.guarded();
  for (uint32_t i = 0; marked && i < started; ++i)
    stacks.mark(firstStack + i);
  if (block.sequential)
    return;
  for (uint32_t w = 0; w < block.warpCount; ++w) {
    Warp &warp = block.warps[w];
    warp.live = warp.ready = warp.all;
    warp.holder = warp.fibers;
    warp.groupCount = 0;
    warp.clusterArrival = warp.clusterWait = {0, 0, 0};
  }
  block.readyWarps = block.warpCount == kMaxWarps ? ~0u : (1u << block.warpCount) - 1;
  block.fullBarriers = 0;
  for (uint32_t i = 0; i < block.threads; ++i)
    block.fibers[i].bulkGroups = block.fibers[i].clusterPhase = 0;
  memset(block.barriers, 0, sizeof block.barriers);
}

void Worker::runCluster(uint64_t index) {
  Block &first = blocks.front();
  if (first.clocks) {
    uint32_t warpCount = cluster.size * first.warpCount;
    if (stamp > kStampLimit) {
      shadow.races.clear();
      *clocks = Clocks();
      stamp = kFirstStamp;
    }
    clocks->start(warpCount, stamp);
    cluster.releasing.clear();
    cluster.released.clear();
    cluster.uses.assign(cluster.size > 1 ? size_t(cluster.size) * warpCount : 0, Cluster::Use());
  }
  if (checks & (kCheckRace | kCheckSync))
    async.restart(*this);
  mapFences.clear();
  cluster.firstOrder = index * cluster.size;
  cluster.owner = state->ownerOf(index);
  cluster.arrived = 0;
  cluster.phase = 1;
  for (Block &block : blocks)
    startBlock(block, cluster.firstOrder + block.rank);
  if (!first.sequential) {
    mbarrierWaiters.clear();
    bulkLoads.clear();
    bulkStores.clear();
    mbarrierClocks.clear();
    barrierArrivals.clear();
    fruitlessPolls = 0;
    for (CopyQueue &queue : copyQueues)
      queue.clear();
    for (WarpCopyQueue &queue : warpCopies)
      queue.clear();
  }

  Fiber *start = &first.fibers[0];
  if (first.shuffled && !first.sequential) {
    uint32_t perFiber = first.warpForm ? kLanes : 1;
    Block &any = blocks[size_t(first.random >> 32) % blocks.size()];
    start = &any.fibers[any.random % (any.threads / perFiber) * perFiber];
  }
  cameo_sim_enter(&main, start);

  if (!bulkStores.empty())
    finishBulkStores(*this, nullptr, 0, /*reads=*/false);
  bool left = false, deadlock = false;
  for (Block &block : blocks) {
    for (uint32_t w = 0; block.live && w < block.warpCount; ++w)
      converge(block, w); // of a block that was given up
    left |= block.live != 0;
    deadlock |= block.deadlock;
  }
  if (deadlock)
    reportDeadlock();
  if (checks && !stacks.guarded())
    reportStacks();
  if (checks & (kCheckRace | kCheckSync) && !left)
    async.finish(*this);
  if (first.clocks)
    stamp = clocks->latest() + 1;
  // A block that was given up leaves its results undone; without checks there is nothing more to
  // learn from the others.
  if (left && !checks)
    state->stop.store(true, std::memory_order_relaxed);
}

void Worker::syncWarps(const Block &block, uint32_t warpsThere, ClockRow *arrivals) {
  const bool all = warpsThere == (block.warpCount == kMaxWarps ? ~0u : (1u << block.warpCount) - 1);
  if (!all || !notesIntervals() || async.any() || arrivals) {
    changeClocks().syncWarps(block.firstClock, warpsThere);
    for (uint32_t rest = arrivals ? warpsThere : 0; rest; rest &= rest - 1)
      clocks->acquire(block.firstClock + uint32_t(__builtin_ctz(rest)), *arrivals);
    if (arrivals)
      arrivals->clear();
    return;
  }
  clocks->syncWarps(block.firstClock, warpsThere);
  epoch.open();
}

const CameoSimAccessSite &Worker::matrixAccess(CameoSimAccess kind, uint32_t matrices,
                                               uint32_t site) {
  constexpr uint32_t kRowBytes = 16, kAllMatrices = 4, kShared = 3;
  CameoSimAccessSite &access =
      matrixAccesses[uint64_t(site) << 8 | uint64_t(matrices) << 4 | uint64_t(kind)];
  access = {kRowBytes,
            kRowBytes,
            kShared,
            uint32_t(kind),
            site,
            0,
            matrices == kAllMatrices ? CAMEO_SIM_ALL_LANES : 0,
            0};
  return access;
}

void Worker::undefine(uint64_t offset, uint32_t bytes) {
  if (!(checks & kCheckInit))
    return;
  if (notesIntervals())
    epoch.undefine(uint32_t(offset), bytes);
  else
    memset(shadow.initialised.get() + offset, 0, bytes);
}

KernelCounters Worker::countedWork() const {
  if (!counters.blocks) // it came too late for this launch, and holds what it did in another
    return KernelCounters();
  const Launch &launch = *state->launch;
  KernelCounters work;
  for (const Block &block : blocks)
    work.add(block.counting->counter.counters);
  work.blocks = counters.blocks;
  work.threads = counters.threads;
  work.warps = counters.blocks * blocks.front().warpCount;
  for (uint32_t i = 0; i < launch.kernel->block_count; ++i)
    for (uint32_t kind = 0; kind < CAMEO_SIM_COUNTS; ++kind)
      work.operations[kind] +=
          executions[i] * launch.image->blocks[launch.kernel->first_block + i].counts[kind];
  return work;
}

void Worker::reportDeadlock() {
  // Lanes that wait for the same thing, then warps that look alike.
  struct Waiting {
    uint32_t op, detail, site, lanes, warps;
  };
  Fault fault;
  fault.kind = FaultKind::Deadlock;
  for (const Block &block : blocks) {
    std::vector<Waiting> all;
    auto note = [&](Waiting waiting) {
      for (Waiting &known : all)
        if (known.op == waiting.op && known.detail == waiting.detail &&
            known.site == waiting.site && known.lanes == waiting.lanes) {
          known.warps |= waiting.warps;
          return;
        }
      all.push_back(waiting);
    };
    for (uint32_t w = 0; w < block.warpCount; ++w) {
      const Warp &warp = block.warps[w];
      for (uint32_t rest = warp.live; rest;) {
        const Fiber &fiber = block.warpForm ? *warp.holder : warp.fibers[__builtin_ctz(rest)];
        Waiting waiting{fiber.waitOp, fiber.waitDetail, fiber.waitSite, 0, 1u << w};
        for (uint32_t lanes = rest; lanes; lanes &= lanes - 1) {
          const Fiber &other = warp.fibers[__builtin_ctz(lanes)];
          if (block.warpForm ||
              (other.waitOp == fiber.waitOp && other.waitDetail == fiber.waitDetail &&
               other.waitSite == fiber.waitSite))
            waiting.lanes |= other.bit;
        }
        rest &= ~waiting.lanes;
        note(waiting);
      }
      if (uint32_t exited = warp.all & ~warp.live)
        note({0, 0, kNoSite, exited, 1u << w});
    }

    std::string where = cluster.size == 1
                            ? ""
                            : format("block (%u,%u,%u), ", block.id[0], block.id[1], block.id[2]);
    if (!block.live) {
      fault.detail += "\n  " + where + "all threads have exited";
      continue;
    }
    for (const Waiting &waiting : all) {
      std::string who =
          where + describeSet("warp", waiting.warps) + ", " + describeSet("lane", waiting.lanes);
      if (!waiting.op) {
        fault.detail += "\n  " + who + " have exited";
        continue;
      }
      if (!fault.lanes) {
        fault.block = block.linear;
        fault.warp = uint32_t(__builtin_ctz(waiting.warps));
        fault.lanes = waiting.lanes;
        fault.site = waiting.site;
      }
      fault.detail += "\n  " + who + " wait for ";
      if (waiting.op == kOpBarrier) {
        const Barrier &barrier = block.barriers[waiting.detail];
        fault.detail += format("barrier %u (%u of %u threads are there)", waiting.detail,
                               barrier.arrived, barrier.count ? barrier.count : block.live);
      } else if (waiting.op == kOpMbarrier) {
        fault.detail += format("the mbarrier at shared+0x%x", waiting.detail);
      } else if (waiting.op == kOpClusterBarrier) {
        fault.detail += format("the cluster's barrier (%u of %u threads have arrived)",
                               cluster.arrived, cluster.live());
      } else {
        fault.detail += format("a %s of %s", describeOp(waiting.op),
                               describeSet("lane", waiting.detail).c_str());
      }
      fault.detail += describeSite(state->launch->image, waiting.site);
    }
  }
  state->log.add(std::move(fault));
}

void Worker::reportStacks() {
  for (const Block &block : blocks) {
    uint32_t perFiber = block.warpForm ? kLanes : 1;
    uint32_t started = block.sequential ? 1 : block.threads / perFiber;
    for (uint32_t i = 0; i < started; ++i)
      if (!stacks.intact(block.rank * started + i))
        state->log.add(
            makeFault(block.fibers[size_t(i) * perFiber], FaultKind::StackOverflow, kNoSite));
  }
}

} // namespace cameo::sim
