// Where the lanes of a warp meet, for what counts or traces them.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_CONVERGE_H
#define CAMEO_SIM_CONVERGE_H

#include "runtime/sim/exec/block.h"
#include "runtime/sim/observe/counting.h"
#include "runtime/sim/observe/trace.h"

namespace cameo::sim {

/// All live lanes of a warp have come to the same point.
inline void converge(Block &block, uint32_t warp) {
  if (__builtin_expect(block.counting != nullptr, 0))
    countConvergence(block, warp);
  if (__builtin_expect(block.tracing != nullptr, 0))
    traceConvergence(block, warp);
}

} // namespace cameo::sim

#endif
