// wgmma as operations of warpgroups.
//
// The warps of a warpgroup execute each of these instructions together, with the same descriptors
// (PTX ISA, "wgmma.mma_async", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group": .aligned),
// so one warp's wait tells that all of the operation is done. Here each warp executes them for
// itself: what the first one does is noted, and the others must do the same in the same order.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/instruct.h"

#include <algorithm>

namespace cameo::sim {

AsyncOperations::WgmmaWarp *AsyncOperations::wgmmaWarp(const Warp &warp) {
  const Worker &worker = *warp.block->worker;
  if (!(worker.checks & (kCheckRace | kCheckSync)))
    return nullptr;
  const uint32_t warps = warp.block->warpCount;
  if (wgmmaWarps_.empty()) {
    wgmmaWarps_.resize(worker.cluster.size * size_t(warps));
    warpgroups_.resize(worker.cluster.size *
                       size_t((warps + kWarpgroupWarps - 1) / kWarpgroupWarps));
  }
  return &wgmmaWarps_[warp.clock];
}

AsyncOperations::Warpgroup &AsyncOperations::warpgroup(const Warp &warp) {
  uint32_t perBlock = (warp.block->warpCount + kWarpgroupWarps - 1) / kWarpgroupWarps;
  return warpgroups_[warp.block->rank * perBlock + warp.id / kWarpgroupWarps];
}

void AsyncOperations::reportParted(Warpgroup &group, const Warp &warp, uint32_t lanes,
                                   uint32_t site, uint32_t otherSite, std::string detail) {
  group.parted = true; // one report is enough
  Fault fault = makeFault(warp.fibers[0], FaultKind::DivergentWgmma, site);
  fault.lanes = lanes;
  fault.otherSite = otherSite;
  fault.detail = std::move(detail);
  warp.block->worker->state->log.add(std::move(fault));
}

/// Compares the warp's next instruction with what the other warps have executed.
void AsyncOperations::follow(const Warp &warp, const WgmmaStep &step) {
  if (!(warp.block->worker->checks & kCheckSync))
    return;
  Warpgroup &group = warpgroup(warp);
  size_t index = wgmmaWarps_[warp.clock].steps++;
  if (index == group.steps.size())
    return group.steps.push_back(step);
  const WgmmaStep &first = group.steps[index];
  if (group.parted ||
      (first.site == step.site && first.code == step.code && first.operands == step.operands))
    return;
  bool same = first.site == step.site && first.code == step.code;
  reportParted(group, warp, warp.all, step.site, same ? kNoSite : first.site,
               format(same ? "warp %u of the warpgroup executes it with other operands"
                           : "warp %u of the warpgroup executes another instruction instead",
                      first.warp));
}

/// An instruction that lanes come to one by one, or one lane for all of a warp in the vectorised
/// form. The first one speaks for the warp. Whether this is the first.
bool AsyncOperations::followLane(const Fiber &fiber, WgmmaWarp &own, uint64_t code, uint32_t site) {
  if (++own.lanes[fiber.thread.lane] <= own.lanesMost)
    return false;
  ++own.lanesMost;
  own.lastSite = site;
  follow(*fiber.warp, {code, {}, site, fiber.warp->id});
  return true;
}

/// Lanes that have left out what others of their warp have executed since the last wgmma.
void AsyncOperations::checkLanes(const Warp &warp, WgmmaWarp &own) {
  uint32_t missing = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    missing |= uint32_t(own.lanes[lane] != own.lanesMost) << lane;
  missing &= warp.all;
  std::fill(std::begin(own.lanes), std::end(own.lanes), 0);
  own.lanesMost = 0;
  Warpgroup &group = warpgroup(warp);
  if (missing && !group.parted && !warp.block->warpForm && warp.block->worker->checks & kCheckSync)
    reportParted(group, warp, missing, own.lastSite, kNoSite, "other lanes of the warp execute it");
}

uint32_t AsyncOperations::issueWgmma(Warp &warp, const WgmmaStep &step) {
  WgmmaWarp *own = wgmmaWarp(warp);
  if (!own)
    return 0;
  Fiber &fiber = warp.fibers[0];
  if (warp.block->worker->checks & kCheckSync) {
    if (warp.id / kWarpgroupWarps * kWarpgroupWarps + kWarpgroupWarps > warp.block->warpCount)
      reportBadOperand(fiber, step.site, "the block has not all four warps of the warpgroup");
    if (!own->fenced)
      reportBadOperand(fiber, step.site, "no wgmma.fence precedes the warp's first wgmma");
  }
  own->fenced = true;
  checkLanes(warp, *own);
  follow(warp, step);
  Warpgroup &group = warpgroup(warp);
  uint32_t index = own->issued++ - group.first;
  if (index == group.operations.size())
    group.operations.push_back(begin(fiber, Agent::Wgmma, step.site));
  return group.operations[index];
}

void AsyncOperations::fenceWgmma(const Fiber &fiber, uint64_t code, uint32_t site) {
  WgmmaWarp *own = wgmmaWarp(*fiber.warp);
  if (!own)
    return;
  own->fenced = true;
  followLane(fiber, *own, code, site);
}

void AsyncOperations::commitWgmma(const Fiber &fiber, uint64_t code, uint32_t site) {
  WgmmaWarp *own = wgmmaWarp(*fiber.warp);
  if (own && followLane(fiber, *own, code, site))
    own->groups.push_back(own->issued);
}

void AsyncOperations::waitForWgmma(const Fiber &fiber, uint64_t code, uint32_t site) {
  WgmmaWarp *own = wgmmaWarp(*fiber.warp);
  if (!own || !followLane(fiber, *own, code, site))
    return;
  const uint32_t groupsInFlight = Instruction{code}.modifier(0);
  if (own->groups.size() <= groupsInFlight)
    return;
  uint32_t end = own->groups[own->groups.size() - groupsInFlight - 1];
  if (end <= own->observed)
    return;
  const Block &block = *fiber.block;
  Warpgroup &group = warpgroup(*fiber.warp);
  for (uint32_t i = own->observed; i < end; ++i)
    observe(group.operations[i - group.first], fiber, /*wholeWarp=*/true);
  own->observed = end;
  // What all warps have observed, and so issued, needs no number any more.
  uint32_t firstWarp = fiber.warp->id / kWarpgroupWarps * kWarpgroupWarps, all = end;
  for (uint32_t w = firstWarp; w < std::min(firstWarp + kWarpgroupWarps, block.warpCount); ++w)
    all = std::min(all, wgmmaWarps_[block.firstClock + w].observed);
  for (uint32_t i = group.first; i < all; ++i)
    drop(group.operations[i - group.first]);
  group.operations.erase(group.operations.begin(),
                         group.operations.begin() + ptrdiff_t(all - group.first));
  group.first = all;
}

void AsyncOperations::finishWgmma(const Worker &worker) {
  if (wgmmaWarps_.empty())
    return;
  for (const Block &block : worker.blocks)
    for (uint32_t id = 0; id < block.warpCount; ++id) {
      const Warp &warp = block.warps[id];
      WgmmaWarp &own = wgmmaWarps_[warp.clock];
      checkLanes(warp, own);
      Warpgroup &group = warpgroup(warp);
      if (group.parted || own.steps >= group.steps.size())
        continue;
      const WgmmaStep &missing = group.steps[own.steps];
      reportParted(group, warp, warp.all, missing.site, kNoSite,
                   format("warp %u of the warpgroup executes it, this one does not", missing.warp));
    }
}

} // namespace cameo::sim
