// The table that simulated kernels call through.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/checks.h"
#include "runtime/sim/exec/entry_points.h"
#include "runtime/sim/exec/fiber.h"
#include "runtime/sim/isa/execute.h"
#include "runtime/sim/observe/counting.h"
#include "runtime/sim/observe/trace.h"

#include <math.h>

namespace cameo::sim {
namespace {
// math.h of C++ overloads these names; a signature chooses.
using Float1 = float (*)(float);
using Float2 = float (*)(float, float);
using Double1 = double (*)(double);
using Double2 = double (*)(double, double);
} // namespace

const CameoSimApi &api(bool counting) {
#define CAMEO_SIM_FILL1(NAME) static_cast<Float1>(::NAME##f), static_cast<Double1>(::NAME),
#define CAMEO_SIM_FILL2(NAME) static_cast<Float2>(::NAME##f), static_cast<Double2>(::NAME),
  static const CameoSimApi table = {CAMEO_SIM_ABI_VERSION,
                                    uint32_t(sizeof(Fiber)),
                                    cameo_sim_barrier,
                                    cameo_sim_shuffle,
                                    cameo_sim_vote,
                                    cameo_sim_warp_sync,
                                    checkAccess,
                                    cameo_sim_instruction,
                                    cameo_sim_blocking_instruction,
                                    executeForWarp,
                                    executeMatrices,
                                    executeWarpCopies,
                                    CAMEO_SIM_MATH1(CAMEO_SIM_FILL1)
                                        CAMEO_SIM_MATH2(CAMEO_SIM_FILL2) checkWarpAccesses,
                                    traceInstruction};
#undef CAMEO_SIM_FILL1
#undef CAMEO_SIM_FILL2
  static const CameoSimApi countingTable = [] {
    CameoSimApi changed = table;
    changed.access = countedAccess;
    return changed;
  }();
  return counting ? countingTable : table;
}

} // namespace cameo::sim
