// What kernels call, and the code that switches between fibers (switch.S).
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_ENTRY_POINTS_H
#define CAMEO_SIM_ENTRY_POINTS_H

#include "runtime/sim/abi.h"

namespace cameo::sim {

struct Fiber;

/// The table that kernels call through; `counting`: accesses are counted as well as checked.
const CameoSimApi &api(bool counting);

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
