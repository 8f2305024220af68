// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/watchdog.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>

#include <poll.h>
#include <unistd.h>

namespace cameo::cli {

Watchdog::Watchdog(double seconds, int exitCode) {
  if (!(seconds > 0))
    return;
  if (::pipe(pipe) != 0) {
    std::perror("error: --timeout");
    _exit(exitCode);
  }
  thread = std::thread([this, seconds, exitCode] { run(seconds, exitCode); });
}

Watchdog::~Watchdog() {
  if (!thread.joinable())
    return;
  close(pipe[1]);
  thread.join();
  close(pipe[0]);
}

void Watchdog::watch(std::shared_ptr<runtime::Device> watched) {
  std::lock_guard<std::mutex> lock(mutex);
  device = std::move(watched);
}

// Waits with poll: a condition variable with a steady clock would ask for a newer glibc.
void Watchdog::run(double seconds, int exitCode) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(std::min(seconds, 1e9)));
  for (;;) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count() + 1;
    struct pollfd waited = {pipe[0], POLLIN, 0};
    int events = poll(&waited, 1, int(std::clamp<int64_t>(left, 0, INT_MAX)));
    if (events > 0 || (events < 0 && errno != EINTR))
      return;
    if (Clock::now() >= end)
      break;
  }
  std::lock_guard<std::mutex> lock(mutex);
  std::string last = device ? device->lastLaunched() : "the device was being opened";
  std::fprintf(stderr, "error: not done after %g s%s%s\n", seconds, last.empty() ? "" : "; ",
               last.c_str());
  _exit(exitCode);
}

} // namespace cameo::cli
