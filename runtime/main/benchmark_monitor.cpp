// Clocks and power while a benchmark runs. SPDX-License-Identifier: Apache-2.0
#include "runtime/main/benchmark_monitor.h"

#include <algorithm>
#include <chrono>

namespace cameo::cli {

Monitor::Monitor(const runtime::DeviceInfo &info) {
  if (info.kind != runtime::DeviceKind::Cuda) {
    result.missing = "no GPU";
    return;
  }
  if (runtime::Status status = runtime::cuda::Nvml::open(info.pciBus, nvml); !status.ok())
    result.missing = status.message();
  else
    result.driver = nvml->driver();
}

void Monitor::start() {
  if (!nvml)
    return;
  energyStatus = nvml->energy(energyBefore);
  stopping = false;
  thread = std::thread([this] { watch(); });
}

void Monitor::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  // The system's clock: glibc waits by the steady one only since 2.30.
  auto next = std::chrono::system_clock::now();
  do {
    readings.push_back(nvml->read());
    next += std::chrono::milliseconds(100);
  } while (!wake.wait_until(lock, next, [this] { return stopping; }));
}

MonitorResult Monitor::stop() {
  if (!thread.joinable())
    return result;
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  wake.notify_one();
  thread.join();
  uint64_t energyAfter = 0;
  result.joules = -1;
  if (energyStatus.ok() && nvml->energy(energyAfter).ok())
    result.joules = double(energyAfter - energyBefore) / 1000;
  for (const runtime::cuda::NvmlReading &reading : readings) {
    if (reading.smClock) {
      result.smLow = result.smLow ? std::min(result.smLow, reading.smClock) : reading.smClock;
      result.smHigh = std::max(result.smHigh, reading.smClock);
    }
    result.memoryClock = std::max(result.memoryClock, reading.memoryClock);
    result.watts += double(reading.power) / 1000 / double(readings.size());
    result.hottest = std::max(result.hottest, reading.temperature);
    result.slowedBy |= reading.slowedBy;
  }
  return result;
}

} // namespace cameo::cli
