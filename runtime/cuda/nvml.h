// A GPU's clocks, power and temperature through NVIDIA's management library, where there is one: it
// comes with the driver, but not into every container. Only what is measured is told by it, so that
// each figure may be missing.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CUDA_NVML_H
#define CAMEO_RUNTIME_CUDA_NVML_H

#include "runtime/core/status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace cameo::runtime::cuda {

// Zero: the library does not tell.
struct NvmlReading {
  unsigned smClock = 0, memoryClock = 0; // MHz
  unsigned power = 0;                    // milliwatts
  unsigned temperature = 0;              // degrees Celsius
  uint64_t slowedBy = 0;                 // bits as slowdownNames() knows them
};

class Nvml {
public:
  // `pciBus` as DeviceInfo has it. `library` is the one to open, for tests; null:
  // libnvidia-ml.so.1. A failure's message is short enough to stand in a table.
  static Status open(const std::string &pciBus, std::unique_ptr<Nvml> &nvml,
                     const char *library = nullptr);
  ~Nvml();

  // "580.65.06"; "": not told.
  const std::string &driver() const { return driverText; }
  NvmlReading read() const;
  // Millijoules since the driver was loaded, of the whole board.
  Status energy(uint64_t &millijoules) const;

private:
  struct Functions;
  Nvml();

  std::unique_ptr<Functions> functions;
  void *device = nullptr;
  std::string driverText;
};

// "power cap, thermal slowdown"; "none".
std::string slowdownNames(uint64_t reasons);

} // namespace cameo::runtime::cuda

#endif
