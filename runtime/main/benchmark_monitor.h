// A GPU's clocks, power and temperature while it is measured.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_BENCHMARK_MONITOR_H
#define CAMEO_RUNTIME_MAIN_BENCHMARK_MONITOR_H

#include "runtime/core/device.h"
#include "runtime/cuda/nvml.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace cameo::cli {

struct MonitorResult {
  std::string missing; // why there is nothing else; "": there is
  std::string driver;
  // Zero: not told.
  unsigned smLow = 0, smHigh = 0, memoryClock = 0; // MHz
  double watts = 0;                                // mean
  unsigned hottest = 0;                            // degrees Celsius
  uint64_t slowedBy = 0;                           // as runtime::cuda::slowdownNames() knows them
  double joules = 0;                               // of the whole board; negative: not told
};

// Reads ten times a second in a thread of its own from start() to stop().
class Monitor {
public:
  explicit Monitor(const runtime::DeviceInfo &info);
  ~Monitor() { (void)stop(); }
  void start();
  MonitorResult stop();

private:
  void watch();

  std::unique_ptr<runtime::cuda::Nvml> nvml;
  MonitorResult result;
  std::vector<runtime::cuda::NvmlReading> readings;
  runtime::Status energyStatus;
  uint64_t energyBefore = 0;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
};

} // namespace cameo::cli

#endif
