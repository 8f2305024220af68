// Puts together what the lanes of a warp did one by one: the k-th execution of an instruction by
// each lane since the warp last converged is one execution by the warp.
//
// Lanes that have executed the same instructions, the common case, are walked in step. Others are
// merged in an order that agrees with each lane's own.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_LANE_LOG_H
#define CAMEO_SIM_LANE_LOG_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace cameo::sim {

class LaneLog {
public:
  static constexpr uint32_t kWidth = 32;
  /// Entries of a lane, beyond which the caller must do without the log.
  static constexpr std::size_t kLimit = 1u << 16;

  struct Entry {
    uint64_t value;
    uint32_t site, detail; // the same for all lanes of an execution
  };
  /// One execution by the lanes in `lanes`.
  struct Group {
    uint32_t site, detail, lanes;
    uint64_t values[kWidth];
  };

  /// False if the lane's log is full.
  bool add(uint32_t lane, uint32_t site, uint32_t detail, uint64_t value) {
    std::vector<Entry> &log = lanes_[lane];
    if (log.size() >= kLimit)
      return false;
    log.push_back({value, site, detail});
    return true;
  }

  /// The warp has converged: hands all executions to `sink(const Group &)`, in order.
  template <typename Sink> void converge(Sink &&sink) {
    uint32_t active = 0;
    std::size_t shortest = ~std::size_t(0);
    for (uint32_t l = 0; l < kWidth; ++l)
      if (!lanes_[l].empty()) {
        active |= 1u << l;
        shortest = shortest < lanes_[l].size() ? shortest : lanes_[l].size();
      }
    if (!active)
      return;
    const std::vector<Entry> &lead = lanes_[__builtin_ctz(active)];
    std::size_t step = 0;
    for (; step < shortest && inStep(active, step); ++step) {
      Group group{lead[step].site, lead[step].detail, active, {}};
      for (uint32_t rest = active; rest; rest &= rest - 1) {
        uint32_t lane = uint32_t(__builtin_ctz(rest));
        group.values[lane] = lanes_[lane][step].value;
      }
      sink(group);
    }
    for (const Group &group : merge(step))
      sink(group);
    clear();
  }

  void clear();
  bool empty() const {
    for (const std::vector<Entry> &log : lanes_)
      if (!log.empty())
        return false;
    return true;
  }

private:
  bool inStep(uint32_t active, std::size_t step) const {
    const Entry &lead = lanes_[__builtin_ctz(active)][step];
    for (uint32_t rest = active & (active - 1); rest; rest &= rest - 1) {
      const Entry &entry = lanes_[__builtin_ctz(rest)][step];
      if (entry.site != lead.site || entry.detail != lead.detail)
        return false;
    }
    return true;
  }
  /// The executions from each lane's entry number `first` on.
  std::vector<Group> merge(std::size_t first) const;

  std::vector<Entry> lanes_[kWidth];
};

} // namespace cameo::sim

#endif
