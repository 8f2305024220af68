// Instructions that a whole warp executes.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_EXECUTE_H
#define CAMEO_SIM_EXECUTE_H

#include "runtime/sim/abi.h"

namespace cameo::sim {

struct Warp;

/// A collective instruction of the vectorised form; CameoSimApi::warp_instruction.
void executeForWarp(CameoSimThread *thread, uint64_t code, uint32_t *words, uint32_t count,
                    uint32_t site);
/// CameoSimApi::warp_matrices.
void executeMatrices(CameoSimThread *thread, const CameoSimStep *steps, uint32_t count,
                     uint32_t *rows, const uint32_t *places);
/// CameoSimApi::warp_copies.
void executeWarpCopies(CameoSimThread *thread, const CameoSimStep *steps, uint32_t count,
                       const CameoSimWarpCopy *copies);
/// Lanes of a warp have all arrived at an instruction.
void executeTogether(Warp &warp, uint32_t lanes, uint32_t site);

} // namespace cameo::sim

#endif
