// Clusters of blocks: their barrier, and the lives of blocks whose shared memory others use (PTX
// ISA, "Parallel Synchronization and Communication Instructions: barrier.cluster"; "State Spaces:
// Shared State Space").
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/instruct.h"

#include <algorithm>

namespace cameo::sim {
namespace {

/// What was released before is ordered before what the fiber does from now on.
void passBarrier(Fiber &fiber) {
  fiber.clusterPhase = 0;
  if (fiber.block->clocks)
    fiber.block->worker->changeClocks().acquire(fiber.warp->clock, fiber.block->cluster->released);
}

/// Ends the phase if all threads that have not exited have arrived.
void endPhaseIfComplete(Cluster &cluster) {
  if (!cluster.arrived || cluster.arrived != cluster.live())
    return;
  uint32_t phase = cluster.phase++;
  if (cluster.phase == 0) // 0 stands for no phase
    ++cluster.phase;
  cluster.arrived = 0;
  std::swap(cluster.released, cluster.releasing);
  cluster.releasing.clear();
  for (uint32_t rank = 0; rank < cluster.size; ++rank) {
    Block &block = cluster.blocks[rank];
    for (uint32_t i = 0; i < block.threads; ++i) {
      Fiber &fiber = block.fibers[i];
      if (fiber.clusterPhase != phase || fiber.waitOp != kOpClusterBarrier)
        continue;
      passBarrier(fiber);
      fiber.waitOp = 0;
      fiber.warp->ready |= fiber.bit;
      block.readyWarps |= 1u << fiber.warp->id;
    }
  }
}

/// All lanes of a warp must execute the same barrier.cluster instruction if it is aligned.
void meet(Fiber &fiber, Warp::ClusterMeeting &meeting, bool aligned, uint32_t site) {
  if (!aligned || !(fiber.block->worker->checks & kCheckSync))
    return;
  if (meeting.phase != fiber.clusterPhase)
    meeting = {fiber.clusterPhase, site, 0};
  if (meeting.site == site) {
    meeting.lanes |= fiber.bit;
    return;
  }
  Fault fault = makeFault(fiber, FaultKind::DivergentBarrier, site);
  fault.otherSite = meeting.site;
  fault.values[0] = meeting.lanes;
  fault.values[1] = 1;
  fiber.block->worker->state->log.add(std::move(fault));
}

Fault lifetimeFault(const Fiber &fiber, const Block &target, uint32_t site, const char *what) {
  Fault fault = makeFault(fiber, FaultKind::BlockLifetime, site);
  fault.detail = format("of block (%u,%u,%u): %s", target.id[0], target.id[1], target.id[2], what);
  return fault;
}

/// The last thread of a block exits: what others have done to its shared memory must be ordered
/// before that.
void endBlock(Fiber &last) {
  Block &block = *last.block;
  Cluster &cluster = *block.cluster;
  const Clocks &clocks = *block.clocks;
  for (uint32_t warp = 0; warp < clocks.warps; ++warp) {
    const Cluster::Use &use = cluster.uses[size_t(block.rank) * clocks.warps + warp];
    if (!use.stamp)
      continue;
    bool ordered = use.doneAfter && int32_t(cluster.phase - use.doneAfter) > 0;
    for (uint32_t own = 0; own < block.warpCount && !ordered; ++own)
      ordered = clocks.knownBy(block.firstClock + own)[warp] >= use.stamp;
    if (ordered)
      continue;
    const Block &user = cluster.blocks[warp / block.warpCount];
    Fault fault = lifetimeFault(user.fibers[warp % block.warpCount * kLanes], block, use.site,
                                "it can end before this, as nothing makes it wait");
    fault.lanes = use.lanes;
    block.worker->state->log.add(std::move(fault));
  }
  block.worker->async.finish(block);
}

} // namespace

void arriveAtClusterBarrier(Fiber &fiber, bool releases, bool aligned, uint32_t site) {
  Cluster &cluster = *fiber.block->cluster;
  if (fiber.clusterPhase)
    return reportBadOperand(fiber, site,
                            "arrives at the cluster's barrier again without having waited");
  fiber.clusterPhase = cluster.phase;
  meet(fiber, fiber.warp->clusterArrival, aligned, site);
  ++cluster.arrived;
  if (releases && fiber.block->clocks)
    fiber.block->worker->changeClocks().release(fiber.warp->clock, cluster.releasing);
  endPhaseIfComplete(cluster);
}

static bool passesClusterBarrier(Fiber &fiber, bool aligned, uint32_t site) {
  Cluster &cluster = *fiber.block->cluster;
  if (!fiber.clusterPhase) {
    reportBadOperand(fiber, site, "waits at the cluster's barrier without having arrived");
    return true;
  }
  meet(fiber, fiber.warp->clusterWait, aligned, site);
  if (fiber.clusterPhase != cluster.phase) {
    passBarrier(fiber);
    return true;
  }
  fiber.waitOp = kOpClusterBarrier;
  fiber.waitDetail = 0;
  fiber.waitSite = site;
  fiber.warp->ready &= ~fiber.bit;
  return false;
}

bool waitAtClusterBarrier(Fiber &fiber, bool aligned, uint32_t site) {
  if (!fiber.block->warpForm)
    return passesClusterBarrier(fiber, aligned, site);
  // Every lane has arrived for itself, and all wait in one call.
  Warp &warp = *fiber.warp;
  bool passes = true;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    passes &= passesClusterBarrier(warp.fibers[lane], aligned, site);
  warp.holder = &fiber;
  return passes;
}

void leaveCluster(Fiber &fiber) {
  Cluster &cluster = *fiber.block->cluster;
  Warp &warp = *fiber.warp;
  uint32_t lanes = fiber.block->warpForm ? warp.all : fiber.bit;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    if (warp.fibers[__builtin_ctz(rest)].clusterPhase == cluster.phase)
      --cluster.arrived;
    else if (cluster.size > 1 && fiber.block->clocks)
      fiber.block->worker->changeClocks().release(warp.clock,
                                                  cluster.releasing); // arrived for good
  if (!fiber.block->live && fiber.block->clocks && cluster.size > 1)
    endBlock(fiber);
  endPhaseIfComplete(cluster);
}

bool mayReach(Fiber &fiber, const Block &target, CameoSimAccess kind, uint32_t site) {
  Worker &worker = *fiber.block->worker;
  if (!target.live) {
    worker.state->log.add(lifetimeFault(fiber, target, site, "it has ended"));
    return false;
  }
  const Clocks *clocks = fiber.block->clocks;
  if (!clocks)
    return true;
  const uint32_t *known = clocks->knownBy(fiber.warp->clock) + target.firstClock;
  if (!std::any_of(known, known + target.warpCount,
                   [&](uint32_t stamp) { return stamp >= clocks->first; }))
    worker.state->log.add(
        lifetimeFault(fiber, target, site, "it may not have begun, as nothing waits for that"));
  Cluster::Use &use =
      fiber.block->cluster->uses[size_t(target.rank) * clocks->warps + fiber.warp->clock];
  uint32_t now = clocks->warp[fiber.warp->clock].event;
  use.lanes = use.stamp == now && use.site == site ? use.lanes | fiber.bit : fiber.bit;
  use.stamp = now;
  use.site = site;
  // What has been read has been read when the thread arrives, even if it releases nothing.
  const Cluster &cluster = *fiber.block->cluster;
  use.doneAfter = kind != CAMEO_SIM_READ                ? 0
                  : fiber.clusterPhase == cluster.phase ? cluster.phase + 1
                                                        : cluster.phase;
  return true;
}

char *checkClusterAccess(Fiber &fiber, char *address, uint32_t bytes, uint32_t alignment,
                         CameoSimAccess kind, uint32_t site, uint32_t asyncOperation) {
  Worker &worker = *fiber.block->worker;
  const Block *owner = worker.blockOf(address);
  bool fits = owner && uint64_t(address - owner->shared) <= kSharedWindow - bytes;
  if (!fits || reinterpret_cast<uintptr_t>(address) % alignment) {
    reportBadOperand(fiber, site,
                     fits ? "the address in the cluster's shared memory is misaligned"
                          : "the address is not in the cluster's shared memory");
    return worker.scratch;
  }
  if (owner != fiber.block && !mayReach(fiber, *owner, kind, site))
    return worker.scratch;
  if (asyncOperation)
    return checkAsyncAccess(fiber, asyncOperation, address, bytes, alignment, 7, kind, site);
  return static_cast<char *>(checkAccess(&fiber.thread, address, bytes, alignment, 7, kind, site));
}

} // namespace cameo::sim
