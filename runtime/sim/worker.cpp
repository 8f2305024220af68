// A worker: runs blocks of a launch one after the other on its own fibers, stacks and shared
// memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/block.h"

#include <algorithm>
#include <cstring>
#include <xmmintrin.h>

namespace cameo::sim {
namespace {
constexpr uint32_t kStampLimit = 0xf0000000u;
constexpr unsigned kDefaultControl = 0x1f80; // MXCSR at reset: all exceptions masked
} // namespace

Worker::Worker() = default;

bool Worker::prepare(LaunchState &launchState) {
  state = &launchState;
  checks = state->checks;
  std::fill(std::begin(cache.entries), std::end(cache.entries), nullptr);
  const Launch &launch = *state->launch;
  uint32_t threads = state->threads;
  if (!fibers) {
    fibers.reset(new Fiber[kMaxThreads]());
    warps.reset(new Warp[kMaxWarps]());
  }
  if (!window.reserve() || !stacks.reserve(launch.noSync     ? 1
                                           : state->warpForm ? threads / kLanes
                                                             : threads,
                                           state->stackBytes, state->guards))
    return false;
  if (checks & kCheckRace && !clocks)
    clocks.reset(new Clocks());
  if (checks & kCheckInit && !shadow.initialised)
    shadow.initialised.reset(new uint8_t[kSharedWindow]);

  shadow.races.restart();

  block.worker = this;
  block.main = &main;
  block.shared = window.data();
  block.fibers = fibers.get();
  block.warps = warps.get();
  block.threads = threads;
  block.warpCount = (threads + kLanes - 1) / kLanes;
  block.sequential = launch.noSync;
  block.warpForm = state->warpForm;
  block.shuffled = state->seed != 0;
  block.clocks = checks & kCheckRace ? clocks.get() : nullptr;
  executions.assign(launch.kernel->block_count, 0);
  if (state->counting && !counting)
    counting.reset(new Counting());
  if (state->counting)
    counting->counter.counters = KernelCounters();
  block.counting = state->counting ? counting.get() : nullptr;
  block.tracing = nullptr;
  uint32_t fiberCount = block.sequential && !block.warpForm ? 1 : threads;
  for (uint32_t i = 0; i < fiberCount; ++i) {
    Fiber &fiber = fibers[i];
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
    thread.executions = executions.data();
    fiber.warp = &warps[i / kLanes];
    fiber.block = &block;
    fiber.bit = 1u << thread.lane;
    fiber.linear = i;
  }
  for (uint32_t w = 0; w < block.warpCount; ++w) {
    Warp &warp = warps[w];
    warp.block = &block;
    warp.fibers = &fibers[size_t(w) * kLanes];
    warp.id = w;
    uint32_t lanes = std::min(kLanes, threads - w * kLanes);
    warp.all = lanes == kLanes ? ~0u : (1u << lanes) - 1;
  }
  return true;
}

void Worker::run() {
  // A GPU keeps denormals and rounds to nearest, whatever the application has set.
  const unsigned applications = _mm_getcsr();
  _mm_setcsr(kDefaultControl);
  claimBlocks();
  _mm_setcsr(applications);
}

void Worker::claimBlocks() {
  while (!state->stop.load(std::memory_order_relaxed)) {
    uint64_t first = state->nextBlock.fetch_add(state->chunk, std::memory_order_relaxed);
    if (first >= state->blockCount)
      return;
    uint64_t last = std::min(first + state->chunk, state->blockCount);
    for (uint64_t i = first; i < last; ++i)
      runBlock(uint64_t((static_cast<unsigned __int128>(i) * state->stride + state->offset) %
                        state->blockCount));
  }
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

void Worker::runBlock(uint64_t linear) {
  const Launch &launch = *state->launch;
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
    tracing.reset(new Tracing());
    block.tracing = tracing.get();
  }
  ++counters.blocks;
  counters.threads += block.threads;

  if (checks & kCheckMemory && state->sharedBytes)
    memset(block.shared, 0xff, state->sharedBytes); // NaN in every floating-point format
  if (checks & kCheckInit)
    memset(shadow.initialised.get(), 0, state->sharedBytes);
  if (block.clocks) {
    if (++blockSerial == 0 || stamp > kStampLimit) {
      shadow.races.clear();
      memset(block.clocks, 0, sizeof *block.clocks);
      blockSerial = 1;
      stamp = 1;
    }
    block.clocks->start(block.warpCount, stamp);
  }

  // The warp form reads the block's number from the context of the warp's first thread.
  uint32_t perFiber = block.warpForm ? kLanes : 1;
  uint32_t started = block.sequential ? 1 : block.threads / perFiber;
  for (uint32_t i = 0; i < started; ++i)
    startFiber(fibers[size_t(i) * perFiber], i);
  uint32_t contexts = block.sequential && !block.warpForm ? 1 : block.threads;
  for (uint32_t i = 0; i < contexts; i += perFiber)
    memcpy(fibers[i].thread.ctaid, block.id, sizeof block.id);
  bool marked = checks && !stacks.guarded();
  for (uint32_t i = 0; marked && i < started; ++i)
    stacks.mark(i);
  if (!block.sequential) {
    for (uint32_t w = 0; w < block.warpCount; ++w) {
      Warp &warp = warps[w];
      warp.live = warp.ready = warp.all;
      warp.holder = warp.fibers;
      warp.groupCount = 0;
    }
    block.readyWarps = block.warpCount == kMaxWarps ? ~0u : (1u << block.warpCount) - 1;
    block.fullBarriers = 0;
    mbarrierWaiters.clear();
    bulkLoads.clear();
    bulkStores.clear();
    mbarrierClocks.clear();
    fruitlessPolls = 0;
    for (CopyQueue &queue : copyQueues)
      queue = CopyQueue();
    for (uint32_t i = 0; i < block.threads; ++i)
      fibers[i].bulkGroups = 0;
    memset(block.barriers, 0, sizeof block.barriers);
  }

  Fiber *first = &fibers[0];
  if (block.shuffled && !block.sequential)
    first = &fibers[block.random % started * perFiber];
  cameo_sim_enter(&main, first);

  if (!bulkStores.empty())
    finishBulkStores(*this, nullptr, 0);
  for (uint32_t w = 0; block.live && w < block.warpCount; ++w)
    converge(block, w); // of a block that was given up
  if (block.deadlock)
    reportDeadlock();
  if (marked)
    reportStacks();
  if (block.clocks)
    stamp = block.clocks->latest(block.warpCount) + 1;
  // A block that was given up leaves its results undone; without checks there is nothing more to
  // learn from the others.
  if (block.live && !checks)
    state->stop.store(true, std::memory_order_relaxed);
}

KernelCounters Worker::countedWork() const {
  if (!counters.blocks) // it came too late for this launch, and holds what it did in another
    return KernelCounters();
  const Launch &launch = *state->launch;
  KernelCounters work = counting->counter.counters;
  work.blocks = counters.blocks;
  work.threads = counters.threads;
  work.warps = counters.blocks * block.warpCount;
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
  std::vector<Waiting> all;
  auto note = [&](Waiting waiting) {
    for (Waiting &known : all)
      if (known.op == waiting.op && known.detail == waiting.detail && known.site == waiting.site &&
          known.lanes == waiting.lanes) {
        known.warps |= waiting.warps;
        return;
      }
    all.push_back(waiting);
  };
  for (uint32_t w = 0; w < block.warpCount; ++w) {
    const Warp &warp = warps[w];
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

  Fault fault;
  fault.kind = FaultKind::Deadlock;
  fault.block = block.linear;
  for (const Waiting &waiting : all) {
    std::string who =
        describeSet("warp", waiting.warps) + ", " + describeSet("lane", waiting.lanes);
    if (!waiting.op) {
      fault.detail += "\n  " + who + " have exited";
      continue;
    }
    if (!fault.lanes) {
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
    } else {
      fault.detail +=
          format("a %s of %s", describeOp(waiting.op), describeSet("lane", waiting.detail).c_str());
    }
    fault.detail += describeSite(state->launch->image, waiting.site);
  }
  state->log.add(std::move(fault));
}

void Worker::reportStacks() {
  uint32_t perFiber = block.warpForm ? kLanes : 1;
  uint32_t started = block.sequential ? 1 : block.threads / perFiber;
  for (uint32_t i = 0; i < started; ++i)
    if (!stacks.intact(i))
      state->log.add(makeFault(fibers[size_t(i) * perFiber], FaultKind::StackOverflow, kNoSite));
}

} // namespace cameo::sim
