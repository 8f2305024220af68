// The fake driver's clocks and memory sizes.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_clock.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fakecuda {

namespace {

struct HostClock {
  uint64_t epoch = 0;
  double now = 0;
};
thread_local HostClock hostClock;

size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

} // namespace

double Clock::run(Engine engine, double ready, double duration) {
  if (engine == Engine::None || duration <= 0)
    return ready + duration;
  std::map<double, double> &times = busy[static_cast<int>(engine)];
  double start = ready;
  auto next = times.upper_bound(start);
  if (next != times.begin())
    start = std::max(start, std::prev(next)->second);
  for (; next != times.end() && next->first < start + duration; ++next)
    start = std::max(start, next->second);
  double end = start + duration;
  // Neighbours that touch become one, so that the map stays small.
  auto entry = times.emplace(start, end).first;
  if (next != times.end() && next->first <= end) {
    entry->second = next->second;
    times.erase(next);
  }
  if (entry != times.begin() && std::prev(entry)->second >= start) {
    std::prev(entry)->second = entry->second;
    times.erase(entry);
  }
  return end;
}

double Clock::quantised(double microseconds) const {
  return std::floor(microseconds / model.resolution) * model.resolution;
}

double &Clock::host() {
  latest = std::max(latest, hostClock.epoch == epoch ? hostClock.now : 0);
  if (hostClock.epoch != epoch)
    hostClock = {epoch, latest};
  return hostClock.now;
}

void Clock::reset() {
  for (auto &times : busy)
    times.clear();
  model = ClockModel();
  ++epoch;
  latest = 0;
}

bool MemoryBlocks::allocate(size_t bytes, size_t total, int &block) {
  block = -1;
  if (bytes > total)
    return false;
  if (bytes > blockBytes / 2) {
    size_t taken = roundUp(bytes, blockBytes);
    if (taken > total - used)
      return false;
    used += taken;
    return true;
  }
  size_t taken = roundUp(bytes, granule);
  auto fits = [&](const Block &candidate) {
    return candidate.live && candidate.used + taken <= blockBytes;
  };
  auto found = std::find_if(shared.begin(), shared.end(), fits);
  if (found == shared.end()) {
    if (blockBytes > total - used)
      return false;
    used += blockBytes;
    found = std::find_if(shared.begin(), shared.end(), [](const Block &b) { return !b.live; });
    if (found == shared.end())
      found = shared.insert(shared.end(), Block());
    found->used = 0;
  }
  found->used += taken;
  ++found->live;
  block = static_cast<int>(found - shared.begin());
  return true;
}

void MemoryBlocks::release(size_t bytes, int block) {
  if (block < 0)
    used -= roundUp(bytes, blockBytes);
  else if (--shared[block].live == 0)
    used -= blockBytes;
}

} // namespace fakecuda
