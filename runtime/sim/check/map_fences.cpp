// Tensor maps in memory, as the instructions that use them see them.
//
// Instructions read tensor maps through a proxy of their own, for which the start of a kernel
// acquires nothing (PTX ISA, "Memory Consistency Model: Memory synchronization"): of a map in
// global memory each block must execute fence.proxy.tensormap::generic.acquire before it uses the
// map, with the scope .sys where the host has written it (CUDA C++ Programming Guide, "Using TMA to
// transfer multi-dimensional arrays"). What threads have written must first be released by a fence
// of the other direction. Maps that are parameters of the kernel need neither.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/map_fences.h"
#include "runtime/sim/exec/worker.h"

#include <algorithm>

namespace cameo::sim {
namespace {

/// The last of the fiber's block's acquires of the map, of `scope` or a wider one, that is ordered
/// before the fiber and of which `suits` holds; or null.
template <typename Suits>
const MapFence *findAcquire(const Fiber &fiber, const char *map, uint32_t scope, Suits suits) {
  const uint32_t perBlock = fiber.block->warpCount * kLanes, self = threadInCluster(fiber);
  const std::vector<MapFence> &fences = fiber.block->worker->mapFences;
  auto found = std::find_if(fences.rbegin(), fences.rend(), [&](const MapFence &fence) {
    return fence.map == map && fence.scope >= scope && fence.thread / perBlock == self / perBlock &&
           fiber.block->clocks->ordered(fence.thread, fence.stamp, self) && suits(fence);
  });
  return found == fences.rend() ? nullptr : &*found;
}

/// Whether no kernel has written the memory that the map is in.
bool isOfHost(const Fiber &fiber, const char *map, uint32_t site) {
  const Range *range = findRange(*fiber.block->worker, map, kTensorMapBytes, 0, site);
  return range && !range->allocation->kernelWritten.load(std::memory_order_relaxed);
}

void acquire(Fiber &fiber, const char *map, uint32_t scope) {
  Clocks &clocks = fiber.block->worker->changeClocks();
  const uint32_t thread = threadInCluster(fiber);
  std::vector<uint32_t> released;
  if (!clocks.fenced.empty()) {
    const uint32_t *row = clocks.fencedFor(thread / kLanes, FencedMemory::TensorMap);
    released.assign(row, row + size_t(clocks.warps) * kLanes);
  }
  // Of several in a row, the first tells as much as the others.
  if (findAcquire(fiber, map, scope,
                  [&](const MapFence &fence) { return fence.released == released; }))
    return;
  fiber.block->worker->mapFences.push_back(
      {map, thread, clocks.warp[thread / kLanes].event, scope, std::move(released)});
}

} // namespace

void executeMapFence(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site) {
  const bool acquires = instruction.modifier(0);
  const char *map = acquires ? readAddress(words) : nullptr;
  if (acquires && isMapParameter(fiber, map))
    return reportBadOperand(fiber, site, "the fence is for tensor maps in global memory");
  if ((acquires && !mayReadMap(fiber, map, site)) || !fiber.block->clocks)
    return;
  if (acquires)
    return acquire(fiber, map, instruction.modifier(1));
  fiber.block->worker->changeClocks().fence(threadInCluster(fiber), CAMEO_SIM_FENCE_MAPS,
                                            fiber.block->warpCount);
}

bool isMapParameter(const Fiber &fiber, const char *map) {
  const Launch &launch = *fiber.block->worker->state->launch;
  for (uint32_t rest = launch.kernel->map_parameters; rest; rest &= rest - 1)
    if (launch.args[__builtin_ctz(rest)] == map)
      return true;
  return false;
}

bool mayReadMap(Fiber &fiber, const char *map, uint32_t site) {
  return isMapParameter(fiber, map) ||
         checkWithoutRaces(fiber, const_cast<char *>(map), kTensorMapBytes, 64, 1, CAMEO_SIM_READ,
                           site) == map;
}

void checkMapUse(Fiber &fiber, const char *map, uint32_t site) {
  if (!fiber.block->clocks || isMapParameter(fiber, map))
    return;
  if (fiber.block->worker->epoch.isOpen())
    flushDeferred(*fiber.block->worker);
  auto any = [](const MapFence &) { return true; };
  const bool acquired = findAcquire(fiber, map, CAMEO_SIM_SCOPE_CTA, any);
  const bool ofHost = isOfHost(fiber, map, site);
  if (acquired && (!ofHost || findAcquire(fiber, map, CAMEO_SIM_SCOPE_SYS, any)))
    return;
  Fault fault = makeFault(fiber, FaultKind::MissingMapFence, site);
  fault.address = reinterpret_cast<uintptr_t>(map);
  fault.bytes = kTensorMapBytes;
  fault.detail = acquired
                     ? "its block's fence.proxy.tensormap::generic.acquire for the tensor map, "
                       "which the host has written, is not .sys"
                     : "no fence.proxy.tensormap::generic.acquire by its block for the tensor "
                       "map before";
  fiber.block->worker->state->log.add(std::move(fault));
}

bool hasAcquiredWrite(const Fiber &fiber, const char *map, const Access &write) {
  auto any = [](const MapFence &) { return true; };
  return !findAcquire(fiber, map, CAMEO_SIM_SCOPE_CTA, any) ||
         findAcquire(fiber, map, CAMEO_SIM_SCOPE_CTA, [&](const MapFence &fence) {
           for (uint32_t lanes = write.lanes; lanes; lanes &= lanes - 1) {
             uint32_t thread = write.warp() * kLanes + uint32_t(__builtin_ctz(lanes));
             if (thread >= fence.released.size() || write.stamp > fence.released[thread])
               return false;
           }
           return true;
         });
}

} // namespace cameo::sim
