// --sim-trace: what warps execute, an instruction a line with the values of all lanes.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_TRACE_H
#define CAMEO_SIM_TRACE_H

#include "runtime/sim/abi.h"
#include "runtime/sim/observe/lane_log.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cameo::sim {

struct Block;

/// What to trace: launches of one kernel, and of them one block (by its linear number) and one
/// warp, or all.
struct TraceSelection {
  static constexpr uint64_t kAll = ~uint64_t(0);
  std::string kernel; // "": nothing
  uint64_t block = kAll;
  uint64_t warp = kAll;
  /// Gets lines, each with its newline; called by any worker, one at a time.
  std::function<void(const std::string &)> sink;
};

/// Reads `kernel[,block[,warp]]`. On failure returns false and says why in `error`.
bool parseTrace(const char *text, TraceSelection &selection, std::string &error);

/// A worker's, of the block that it runs.
struct Tracing {
  LaneLog logs[32]; // values are indices of texts
  std::vector<std::string> texts;
};

/// CameoSimApi::trace.
void traceInstruction(CameoSimThread *thread, const void *elements, uint32_t count, uint32_t bits,
                      uint32_t kind, uint32_t site);
/// All lanes of warp number `warp` are at the same point: its lines are written.
void traceConvergence(Block &block, uint32_t warp);

} // namespace cameo::sim

#endif
