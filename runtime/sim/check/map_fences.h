// Tensor maps in memory, as the instructions that use them see them.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_MAP_FENCES_H
#define CAMEO_SIM_MAP_FENCES_H

#include "runtime/sim/exec/memory.h"
#include "runtime/sim/isa/instruct.h"

#include <cstdint>
#include <vector>

namespace cameo::sim {

struct Fiber;

constexpr uint32_t kTensorMapBytes = 128;

/// A fence.proxy.tensormap::generic.acquire that a thread of the cluster has executed.
struct MapFence {
  const char *map;
  uint32_t thread, stamp; // as Clocks has them
  uint32_t scope;         // CameoSimScope
  /// By thread of the cluster: stamps that a release fence follows which is ordered before this
  /// one. Empty: none.
  std::vector<uint32_t> released;
};

void executeMapFence(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site);
/// Whether the map is a parameter of the kernel, which is constant: nothing orders its use.
bool isMapParameter(const Fiber &fiber, const char *map);
/// Whether an instruction can read the map, or use it, too, for which the fiber's block must have
/// acquired it. If it cannot read it, there is a report.
bool mayReadMap(Fiber &fiber, const char *map, uint32_t site);
void checkMapUse(Fiber &fiber, const char *map, uint32_t site);
/// Whether the fiber's block has acquired a map in global memory after `write`, by a thread of this
/// cluster, which is ordered before the fiber. True, too, if it has never acquired it, which
/// checkMapUse() reports.
bool hasAcquiredWrite(const Fiber &fiber, const char *map, const Access &write);

} // namespace cameo::sim

#endif
