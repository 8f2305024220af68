// The blocking half of the ABI: which fiber runs next, rendezvous of warp collectives, barriers.
//
// Each cameo_sim_*_body is called by its namesake in switch.S with the calling fiber saved, and
// returns the fiber to go on with.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/execute.h"
#include "runtime/sim/isa/instruct.h"
#include "runtime/sim/observe/converge.h"

#include <cstring>

namespace cameo::sim {
namespace {

/// A set bit of `mask`: the lowest, or a random one where order is shuffled.
inline uint32_t pick(Block &block, uint32_t mask) {
  if (__builtin_expect(block.shuffled, 0)) {
    block.random = mixBits(block.random);
    uint32_t skip =
        uint64_t(uint32_t(block.random >> 32)) * uint32_t(__builtin_popcount(mask)) >> 32;
    while (skip--)
      mask &= mask - 1;
  }
  return uint32_t(__builtin_ctz(mask));
}

/// Polls of mbarriers in a row, with nothing else left to run, after which a block is given up.
constexpr uint64_t kMaxFruitlessPolls = 1u << 20;

/// Nothing can go on: those that merely asked whether an mbarrier's phase is over are told no.
bool answerPolls(Block &block) {
  std::vector<MbarrierWaiter> &waiters = block.worker->mbarrierWaiters;
  if (++block.worker->fruitlessPolls > kMaxFruitlessPolls)
    return false;
  size_t kept = 0;
  for (const MbarrierWaiter &waiter : waiters) {
    if (waiter.blocks) {
      waiters[kept++] = waiter;
      continue;
    }
    *waiter.result = 0;
    waiter.fiber->warp->ready |= waiter.fiber->bit;
    waiter.fiber->block->readyWarps |= 1u << waiter.fiber->warp->id;
  }
  bool any = kept != waiters.size();
  waiters.resize(kept);
  return any;
}

/// A fiber of the warp that can run, or null.
inline Fiber *runnable(Block &block, Warp &warp) {
  if (block.warpForm)
    return warp.ready && warp.ready == warp.live ? warp.holder : nullptr;
  return warp.ready ? &warp.fibers[pick(block, warp.ready)] : nullptr;
}

/// A fiber that can run, of this block or of the others of its cluster in turn; or null.
inline Fiber *anyRunnable(Block &block) {
  Cluster &cluster = *block.cluster;
  uint32_t rank = block.rank;
  if (__builtin_expect(cluster.size > 1 && block.shuffled, 0)) {
    block.random = mixBits(block.random);
    rank = uint32_t(block.random >> 32) % cluster.size;
  }
  for (uint32_t i = 0; i < cluster.size; ++i) {
    Block &one = cluster.blocks[rank];
    while (one.readyWarps) {
      uint32_t w = pick(one, one.readyWarps);
      if (Fiber *fiber = runnable(one, one.warps[w]))
        return fiber;
      one.readyWarps &= ~(1u << w);
    }
    rank = rank + 1 == cluster.size ? 0 : rank + 1;
  }
  return nullptr;
}

/// The fiber to run after one that cannot go on. In natural order a warp runs as long as it can.
Fiber *next(Block &block, Warp *warp) {
  if (!block.shuffled)
    if (Fiber *fiber = runnable(block, *warp))
      return fiber;
  do {
    if (Fiber *fiber = anyRunnable(block))
      return fiber;
    // Loads are done as late as can be.
  } while (__builtin_expect(!block.worker->mbarrierWaiters.empty(), 0) &&
           (finishBulkLoad(*block.worker) || answerPolls(block)));
  block.deadlock = block.cluster->live() != 0;
  return block.main;
}

/// After a rendezvous that `fiber` completed: it goes on, or any other.
inline Fiber *resumeAny(Fiber &fiber) {
  return fiber.block->shuffled ? next(*fiber.block, fiber.warp) : &fiber;
}

/// Gives the block up; its fibers are never resumed.
Fiber *abandon(Fiber &fiber, Fault fault) {
  fiber.block->worker->state->log.add(std::move(fault));
  return fiber.block->main;
}

/// A kernel that was declared free of synchronisation has none to run.
Fiber *misuse(Fiber &fiber, uint32_t site) {
  Fault fault = makeFault(fiber, FaultKind::BadBarrier, site);
  fault.detail = "the kernel is declared free of synchronisation";
  return abandon(fiber, std::move(fault));
}

// ---- Warp collectives ----

/// PTX ISA, shfl.sync. Lanes of `arrived` take part.
void shuffle(Warp &warp, const Group &group) {
  bool strict = warp.block->worker->checks & kCheckSync;
  for (uint32_t rest = group.arrived; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    Fiber &fiber = warp.fibers[lane];
    int offset = int(warp.b[lane] & 31), clamp = int(warp.c[lane] & 31);
    int segment = int(warp.c[lane] >> 8 & 31);
    int max = (lane & segment) | (clamp & ~segment);
    int min = lane & segment;
    int source = 0;
    bool inRange = false;
    switch (group.op & 0xff) {
    case CAMEO_SIM_SHFL_UP:
      source = lane - offset;
      inRange = source >= max;
      break;
    case CAMEO_SIM_SHFL_DOWN:
      source = lane + offset;
      inRange = source <= max;
      break;
    case CAMEO_SIM_SHFL_BFLY:
      source = lane ^ offset;
      inRange = source <= max;
      break;
    default:
      source = min | (offset & ~segment);
      inRange = source <= max;
      break;
    }
    if (!inRange)
      source = lane;
    if (__builtin_expect(!(group.arrived >> source & 1), 0)) {
      if (strict) {
        Fault fault = makeFault(fiber, FaultKind::InactiveLane, fiber.waitSite);
        fault.values[0] = uint32_t(source);
        fault.values[1] = group.mask;
        warp.block->worker->state->log.add(std::move(fault));
      }
      source = lane;
    }
    fiber.result = warp.value[source] | uint64_t(inRange) << 32;
  }
}

void vote(Warp &warp, const Group &group) {
  uint32_t ballot = 0;
  for (uint32_t rest = group.arrived; rest; rest &= rest - 1)
    if (uint32_t lane = uint32_t(__builtin_ctz(rest)); warp.value[lane])
      ballot |= 1u << lane;
  uint32_t result = ballot;
  switch (group.op & 0xff) {
  case CAMEO_SIM_VOTE_ANY:
    result = ballot != 0;
    break;
  case CAMEO_SIM_VOTE_ALL:
    result = ballot == group.arrived;
    break;
  case CAMEO_SIM_VOTE_UNI:
    result = ballot == 0 || ballot == group.arrived;
    break;
  default:
    break;
  }
  for (uint32_t rest = group.arrived; rest; rest &= rest - 1)
    warp.fibers[__builtin_ctz(rest)].result = result;
}

/// All lanes are there: does the work and makes them ready.
void complete(Warp &warp, uint32_t index) {
  Group group = warp.groups[index];
  warp.groups[index] = warp.groups[--warp.groupCount];
  Block &block = *warp.block;
  if (group.arrived == warp.live)
    converge(block, warp.id);
  if (__builtin_expect(block.counting != nullptr, 0)) {
    if ((group.op & ~0xffu) == kOpInstruction)
      countTogether(warp, warp.codes[__builtin_ctz(group.arrived)], group.arrived);
    else
      countCollective(warp, group.op);
  }
  switch (group.op & ~0xffu) {
  case kOpShuffle:
    shuffle(warp, group);
    break;
  case kOpVote:
    vote(warp, group);
    break;
  case kOpInstruction:
    executeTogether(warp, group.arrived, group.site);
    break;
  default:
    // Shuffles and votes order no memory accesses (CUDA C++ Programming Guide, warp shuffle
    // functions); bar.warp.sync does.
    if (block.clocks)
      block.worker->changeClocks().syncLanes(warp.clock, group.arrived, warp.all);
    break;
  }
  warp.ready |= group.arrived;
  block.readyWarps |= 1u << warp.id;
  ++block.worker->counters.collectives;
}

/// `fiber` reaches a collective. Threads that have exited are not waited for.
inline Fiber *arrive(Fiber &fiber, uint32_t op, uint32_t mask, uint32_t site) {
  Warp &warp = *fiber.warp;
  if (__builtin_expect(!(mask & fiber.bit) || fiber.block->sequential, 0)) {
    if (fiber.block->sequential)
      return misuse(fiber, site);
    Fault fault = makeFault(fiber, FaultKind::NotInMask, site);
    fault.values[0] = mask;
    return abandon(fiber, std::move(fault));
  }
  fiber.waitOp = op;
  fiber.waitDetail = mask;
  fiber.waitSite = site;
  uint32_t index = 0;
  while (index < warp.groupCount && warp.groups[index].mask != mask)
    ++index;
  Group &group = warp.groups[index];
  if (index == warp.groupCount) {
    group = {mask, 0, op, site};
    ++warp.groupCount;
  } else if (__builtin_expect(group.op != op, 0)) {
    Fault fault = makeFault(fiber, FaultKind::MismatchedOp, site);
    fault.otherSite = group.site;
    fault.values[0] = group.op;
    fault.values[1] = op;
    fault.values[2] = group.arrived;
    return abandon(fiber, std::move(fault));
  }
  group.arrived |= fiber.bit;
  if (group.arrived == (mask & warp.live)) {
    complete(warp, index);
    return resumeAny(fiber);
  }
  warp.ready &= ~fiber.bit;
  return next(*fiber.block, &warp);
}

// ---- Barriers ----

/// bar.sync is an aligned instruction: all threads of a warp must reach the same one (PTX ISA,
/// bar.sync). Threads that have exited do not count.
void checkAligned(Block &block, const Barrier &barrier) {
  if (block.warpForm) // all lanes arrive in one call
    return;
  for (uint32_t rest = barrier.warps; rest; rest &= rest - 1) {
    uint32_t w = uint32_t(__builtin_ctz(rest));
    Warp &warp = block.warps[w];
    uint32_t here = barrier.lanes[w];
    uint32_t same = 0;
    const Fiber &first = warp.fibers[__builtin_ctz(here)];
    for (uint32_t lanes = here; lanes; lanes &= lanes - 1) {
      uint32_t lane = uint32_t(__builtin_ctz(lanes));
      if (warp.fibers[lane].waitSite == first.waitSite)
        same |= 1u << lane;
    }
    uint32_t odd = here != warp.live ? warp.live & ~here : here & ~same;
    if (!odd)
      continue;
    const Fiber &other = warp.fibers[__builtin_ctz(odd)];
    Fault fault = makeFault(first, FaultKind::DivergentBarrier, first.waitSite);
    fault.lanes = same;
    fault.otherSite = here & odd ? other.waitSite : kNoSite;
    fault.values[0] = odd;
    fault.values[1] = here & odd ? 1 : 0;
    block.worker->state->log.add(std::move(fault));
  }
}

/// What bar.arrive has released at a barrier.
ClockRow &barrierArrivals(const Block &block, uint32_t id) {
  auto &rows = block.worker->barrierArrivals;
  const size_t index = size_t(block.rank) * kBarriers + id;
  if (rows.size() <= index)
    rows.resize(index + 1);
  return rows[index];
}

void releaseBarrier(Block &block, uint32_t id) {
  Barrier &barrier = block.barriers[id];
  if (block.worker->checks & kCheckSync)
    checkAligned(block, barrier);
  if (block.clocks) {
    uint32_t warps = barrier.warps;
    for (uint32_t w = 0; !barrier.count && w < block.warpCount; ++w)
      if (!block.warps[w].live) // exited: arrived for good
        warps |= 1u << w;
    block.worker->syncWarps(block, warps, barrier.passers ? &barrierArrivals(block, id) : nullptr);
  }
  for (uint32_t rest = barrier.warps; rest; rest &= rest - 1) {
    uint32_t w = uint32_t(__builtin_ctz(rest));
    block.warps[w].ready |= barrier.lanes[w];
    barrier.lanes[w] = 0;
  }
  block.readyWarps |= barrier.warps;
  block.fullBarriers &= ~(1u << id);
  barrier.warps = 0;
  barrier.passers = 0;
  barrier.arrived = 0;
  ++block.worker->counters.barriers;
}

/// Checks that `fiber` may come to a barrier, of which it may be the first.
bool joinBarrier(Fiber &fiber, uint32_t id, uint32_t count, uint32_t site, Fault &fault) {
  Block &block = *fiber.block;
  if (__builtin_expect(id >= kBarriers || count % kLanes || count > block.threads, 0)) {
    fault = makeFault(fiber, FaultKind::BadBarrier, site);
    fault.values[0] = id;
    fault.values[1] = count;
    return false;
  }
  Barrier &barrier = block.barriers[id];
  if (!barrier.arrived) {
    barrier.count = count;
    barrier.site = site;
    if (!count)
      block.fullBarriers |= 1u << id;
  } else if (__builtin_expect(barrier.count != count, 0)) {
    fault = makeFault(fiber, FaultKind::MismatchedBarrier, site);
    fault.otherSite = barrier.site;
    fault.values[0] = id;
    fault.values[1] = count;
    fault.values[2] = barrier.count;
    return false;
  }
  return true;
}

/// What an exited thread leaves behind: collectives and barriers that waited for it alone.
void leave(Fiber &fiber) {
  Warp &warp = *fiber.warp;
  Block &block = *fiber.block;
  uint32_t lanes = block.warpForm ? warp.live : fiber.bit;
  warp.ready &= ~lanes;
  warp.live &= ~lanes;
  block.live -= uint32_t(__builtin_popcount(lanes));
  if (!warp.live)
    converge(block, warp.id);
  for (uint32_t i = warp.groupCount; i--;)
    if (warp.groups[i].arrived == (warp.groups[i].mask & warp.live))
      complete(warp, i);
  for (uint32_t rest = block.fullBarriers; rest; rest &= rest - 1) {
    uint32_t id = uint32_t(__builtin_ctz(rest));
    if (block.barriers[id].arrived == block.live)
      releaseBarrier(block, id);
  }
  leaveCluster(fiber);
}

/// The warps of a block one after the other, on this fiber's stack.
void runWarpsSequentially(Block &block) {
  const Launch &launch = *block.worker->state->launch;
  uint32_t first = block.shuffled ? uint32_t(mixBits(block.random) % block.warpCount) : 0;
  for (uint32_t i = 0; i < block.warpCount; ++i) {
    Warp &warp = block.warps[(first + i) % block.warpCount];
    launch.kernel->warp_entry(&warp.fibers->thread, launch.args);
  }
  block.live = 0;
}

/// The threads of a block one after the other, on this fiber.
void runSequentially(Fiber &fiber) {
  Block &block = *fiber.block;
  if (block.warpForm)
    return runWarpsSequentially(block);
  const Launch &launch = *block.worker->state->launch;
  CameoSimThread &thread = fiber.thread;
  uint32_t n = block.threads;
  // Shuffled: start anywhere, step by a number that has no divisor in common with n; for the n up
  // to kMaxThreads a prime above it will do.
  uint32_t step = block.shuffled ? 1031 : 1;
  uint32_t index = block.shuffled ? uint32_t(mixBits(block.random) % n) : 0;
  uint32_t x = launch.block[0], xy = x * launch.block[1];
  uint32_t tid[3] = {0, 0, 0};
  for (uint32_t i = 0; i < n; ++i) {
    if (block.shuffled) {
      tid[0] = index % x;
      tid[1] = index % xy / x;
      tid[2] = index / xy;
    }
    memcpy(thread.tid, tid, sizeof tid);
    thread.lane = index % kLanes;
    thread.warp = index / kLanes;
    fiber.bit = 1u << thread.lane;
    fiber.linear = index;
    launch.kernel->thread_entry(&thread, launch.args);
    if (!block.shuffled && (index % kLanes == kLanes - 1 || i + 1 == n))
      converge(block, index / kLanes);
    if (block.shuffled) {
      index = (index + step) % n;
      continue;
    }
    ++index;
    if (++tid[0] == x) {
      tid[0] = 0;
      if (++tid[1] == launch.block[1]) {
        tid[1] = 0;
        ++tid[2];
      }
    }
  }
  for (uint32_t w = 0; block.shuffled && w < block.warpCount; ++w)
    converge(block, w);
  block.live = 0;
}

/// mbarrier.try_wait and test_wait: words are the barrier's address, a state (two words) or a
/// parity, and the answer.
Fiber *waitForMbarrier(Fiber &fiber, Instruction instruction, uint32_t *words, uint32_t site) {
  uint32_t *result = words + (instruction.modifier(1) ? 3 : 4);
  Worker &worker = *fiber.block->worker;
  if (mbarrierPhaseIsOver(instruction, fiber, words, site)) {
    *result = 1;
    return &fiber;
  }
  fiber.waitOp = kOpMbarrier;
  fiber.waitDetail = uint32_t(readAddress(words) - fiber.block->shared);
  fiber.waitSite = site;
  worker.mbarrierWaiters.push_back(
      {&fiber, instruction.code, words, result, bool(instruction.modifier(0))});
  fiber.warp->ready &= ~fiber.bit;
  fiber.warp->holder = &fiber;
  return next(*fiber.block, fiber.warp);
}

} // namespace

void wakeMbarrierWaiters(Worker &worker) {
  std::vector<MbarrierWaiter> &waiters = worker.mbarrierWaiters;
  worker.fruitlessPolls = 0;
  size_t kept = 0;
  for (const MbarrierWaiter &waiter : waiters) {
    Fiber &fiber = *waiter.fiber;
    if (!mbarrierPhaseIsOver(Instruction{waiter.code}, fiber, waiter.words, fiber.waitSite)) {
      waiters[kept++] = waiter;
      continue;
    }
    *waiter.result = 1;
    fiber.warp->ready |= fiber.bit;
    fiber.block->readyWarps |= 1u << fiber.warp->id;
  }
  waiters.resize(kept);
}

void arriveAtBarrier(Fiber &fiber, uint32_t id, uint32_t count, uint32_t site) {
  Fault fault;
  if (!count)
    return reportBadOperand(fiber, site, "bar.arrive needs a count of threads");
  if (!joinBarrier(fiber, id, count, site, fault))
    return fiber.block->worker->state->log.add(std::move(fault));
  Barrier &barrier = fiber.block->barriers[id];
  barrier.passers |= 1u << fiber.warp->id;
  if (fiber.block->clocks)
    fiber.block->worker->changeClocks().release(fiber.warp->clock,
                                                barrierArrivals(*fiber.block, id));
  if (++barrier.arrived == count)
    releaseBarrier(*fiber.block, id);
}

Fault makeFault(const Fiber &fiber, FaultKind kind, uint32_t site) {
  Fault fault;
  fault.kind = kind;
  fault.site = site;
  fault.block = fiber.block->linear;
  fault.warp = fiber.linear / kLanes;
  fault.lanes = fiber.bit;
  return fault;
}

} // namespace cameo::sim

using namespace cameo::sim;

namespace {
inline Fiber &fiberOf(CameoSimThread *thread) { return *reinterpret_cast<Fiber *>(thread); }
} // namespace

extern "C" {

__attribute__((visibility("hidden"))) Fiber *cameo_sim_shuffle_body(CameoSimThread *thread,
                                                                    uint32_t kind, uint32_t mask,
                                                                    uint32_t value, uint32_t b,
                                                                    uint32_t c, uint32_t site) {
  Fiber &fiber = fiberOf(thread);
  uint32_t lane = thread->lane;
  fiber.warp->value[lane] = value;
  fiber.warp->b[lane] = b;
  fiber.warp->c[lane] = c;
  return arrive(fiber, kOpShuffle | kind, mask, site);
}

__attribute__((visibility("hidden"))) Fiber *cameo_sim_vote_body(CameoSimThread *thread,
                                                                 uint32_t kind, uint32_t mask,
                                                                 uint32_t predicate,
                                                                 uint32_t site) {
  Fiber &fiber = fiberOf(thread);
  fiber.warp->value[thread->lane] = predicate;
  return arrive(fiber, kOpVote | kind, mask, site);
}

__attribute__((visibility("hidden"))) Fiber *
cameo_sim_warp_sync_body(CameoSimThread *thread, uint32_t mask, uint32_t site) {
  Fiber &fiber = fiberOf(thread);
  if (fiber.block->warpForm) {
    if (fiber.block->clocks)
      fiber.block->worker->changeClocks().syncLanes(fiber.warp->clock, fiber.warp->all,
                                                    fiber.warp->all);
    return &fiber;
  }
  return arrive(fiber, kOpWarpSync, mask, site);
}

__attribute__((visibility("hidden"))) Fiber *
cameo_sim_blocking_instruction_body(CameoSimThread *thread, uint64_t code, uint32_t mask,
                                    uint32_t *words, uint32_t site) {
  Fiber &fiber = fiberOf(thread);
  Instruction instruction{code};
  if (instruction.opcode() == CAMEO_SIM_OP_CLUSTER_WAIT) {
    if (__builtin_expect(fiber.block->counting != nullptr, 0))
      countInstruction(fiber, code, words, site);
    if (fiber.block->sequential)
      return misuse(fiber, site);
    return waitAtClusterBarrier(fiber, instruction.modifier(0), site)
               ? &fiber
               : next(*fiber.block, fiber.warp);
  }
  if (instruction.opcode() == CAMEO_SIM_OP_MBAR_WAIT) {
    if (__builtin_expect(fiber.block->counting != nullptr, 0))
      countInstruction(fiber, code, words, site);
    return fiber.block->sequential ? misuse(fiber, site)
                                   : waitForMbarrier(fiber, instruction, words, site);
  }
  fiber.warp->words[thread->lane] = words;
  fiber.warp->codes[thread->lane] = code;
  return arrive(fiber, kOpInstruction | instruction.opcode(), mask, site);
}

__attribute__((visibility("hidden"))) Fiber *
cameo_sim_barrier_body(CameoSimThread *thread, uint32_t id, uint32_t count, uint32_t site) {
  Fiber &fiber = fiberOf(thread);
  Block &block = *fiber.block;
  if (__builtin_expect(block.sequential, 0))
    return misuse(fiber, site);
  Fault fault;
  if (__builtin_expect(!joinBarrier(fiber, id, count, site, fault), 0))
    return abandon(fiber, std::move(fault));
  fiber.waitOp = kOpBarrier;
  fiber.waitDetail = id;
  fiber.waitSite = site;
  Barrier &barrier = block.barriers[id];
  Warp &warp = *fiber.warp;
  uint32_t lanes = block.warpForm ? warp.live : fiber.bit;
  barrier.lanes[warp.id] |= lanes;
  barrier.warps |= 1u << warp.id;
  if (barrier.lanes[warp.id] == warp.live) {
    converge(block, warp.id);
    if (__builtin_expect(block.counting != nullptr, 0))
      block.counting->counter.instruction(InstructionKind::Barrier);
  }
  barrier.arrived += uint32_t(__builtin_popcount(lanes));
  warp.ready &= ~lanes;
  warp.holder = &fiber;
  if (barrier.arrived == (count ? count : block.live)) {
    releaseBarrier(block, id);
    return resumeAny(fiber);
  }
  return next(block, &warp);
}

/// A fiber's life.
__attribute__((visibility("hidden"), no_sanitize("address"))) Fiber *
cameo_sim_fiber_body(Fiber *fiber) {
  Block &block = *fiber->block;
  if (block.sequential) {
    runSequentially(*fiber);
    return block.main;
  }
  const Launch &launch = *block.worker->state->launch;
  (block.warpForm ? launch.kernel->warp_entry : launch.kernel->thread_entry)(&fiber->thread,
                                                                             launch.args);
  leave(*fiber);
  return next(block, fiber->warp);
}

} // extern "C"
