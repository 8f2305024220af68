// How long a launch might take on a GPU: a roofline over what was counted. An estimate, never a
// measurement; docs/simulator/counters.md has the formula.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_ESTIMATE_H
#define CAMEO_SIM_ESTIMATE_H

#include "runtime/boards.h"
#include "runtime/sim/observe/counters.h"

namespace cameo::sim {

/// What a launch may be limited by.
enum class Resource : uint32_t {
  Memory,
  SharedMemory,
  Fp32,
  Fp64,
  Special,
  TensorCores,
  Launch,
  Count
};
/// "memory", "shared memory", ...
const char *resourceName(Resource resource);

struct Estimate {
  double seconds = 0;
  Resource limit = Resource::Launch;
  double of[uint32_t(Resource::Count)] = {}; // seconds that each takes by itself
};

/// The board called `name`, or null; and all names, for an error.
const CameoBoard *findBoard(const std::string &name);
std::string knownBoards();

/// Whether such code runs on the board, be it as PTX.
bool runsOn(const CameoSimTarget &code, const CameoBoard &board);

/// `bufferBytes`: of all buffers that the launch was given, each once; 0: not known.
Estimate estimateLaunch(const KernelCounters &work, const CameoBoard &board, uint64_t bufferBytes);

/// What a launch was counted to do.
struct LaunchCounters {
  std::string kernel;
  KernelCounters work;
  const CameoSimTarget *target = nullptr;
  const CameoBoard *board = nullptr; // null: no estimate
  Estimate estimate;
};

} // namespace cameo::sim

#endif
