// --timeout: ends a program whose GPU, or whose driver, does not come back.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_WATCHDOG_H
#define CAMEO_RUNTIME_MAIN_WATCHDOG_H

#include "runtime/core/device.h"

#include <memory>
#include <mutex>
#include <thread>

namespace cameo::cli {

// While it lives. A thread of its own, as a call into the driver may be what does not return; and
// the end of the process, as work that hangs cannot be taken back.
class Watchdog {
public:
  // 0 seconds: none.
  Watchdog(double seconds, int exitCode);
  ~Watchdog();
  // Whose last launch the message tells.
  void watch(std::shared_ptr<runtime::Device> device);

private:
  void run(double seconds, int exitCode);

  int pipe[2] = {-1, -1}; // closing its second end tells the thread that all is over
  std::mutex mutex;       // of `device`
  std::shared_ptr<runtime::Device> device;
  std::thread thread;
};

} // namespace cameo::cli

#endif
