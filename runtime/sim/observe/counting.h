// What the engine keeps to count the work of a worker, and the calls it makes as kernels run. All
// of them but countedAccess are made only where Block::counting is not null.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_COUNTING_H
#define CAMEO_SIM_COUNTING_H

#include "runtime/sim/observe/counters.h"
#include "runtime/sim/observe/lane_log.h"

namespace cameo::sim {

struct Block;
struct Fiber;
struct Warp;

struct Counting {
  Counter counter;
  LaneLog logs[32]; // of the block's warps
};

/// CameoSimApi::access with counting: one lane's part of an access by its warp.
void *countedAccess(CameoSimThread *thread, void *address, uint32_t bytes, uint32_t alignment,
                    uint32_t space, uint32_t kind, uint32_t site);
/// One lane executes an instruction of cameo_sim_instruction, or waits for an mbarrier.
void countInstruction(Fiber &fiber, uint64_t code, const uint32_t *words, uint32_t site);
/// A warp has completed a shuffle, a vote or bar.warp.sync: `op` is an Op of block.h.
void countCollective(Warp &warp, uint32_t op);
/// A warp executes an instruction of cameo_sim_blocking_instruction together.
void countTogether(Warp &warp, uint64_t code, uint32_t lanes);
/// All lanes of warp number `warp` are at the same point.
void countConvergence(Block &block, uint32_t warp);

} // namespace cameo::sim

#endif
