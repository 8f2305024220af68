// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/watchdog.h"

#include <chrono>
#include <cstdio>

#include <unistd.h>

namespace cameo::cli {

Watchdog::Watchdog(double seconds, int exitCode) {
  if (seconds > 0)
    thread = std::thread([this, seconds, exitCode] { run(seconds, exitCode); });
}

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    over = true;
  }
  changed.notify_one();
  if (thread.joinable())
    thread.join();
}

void Watchdog::watch(std::shared_ptr<rt::Device> watched) {
  std::lock_guard<std::mutex> lock(mutex);
  device = std::move(watched);
}

void Watchdog::run(double seconds, int exitCode) {
  std::unique_lock<std::mutex> lock(mutex);
  if (changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return over; }))
    return;
  std::string last = device ? device->lastLaunched() : "the device was being opened";
  std::fprintf(stderr, "error: not done after %g s%s%s\n", seconds, last.empty() ? "" : "; ",
               last.c_str());
  _exit(exitCode);
}

} // namespace cameo::cli
