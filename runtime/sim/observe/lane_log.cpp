// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/observe/lane_log.h"

namespace cameo::sim {

using std::size_t;

void LaneLog::clear() {
  constexpr size_t kKept = 4096; // entries, so that many warps do not hold much
  for (std::vector<Entry> &log : lanes_) {
    log.clear();
    if (log.capacity() > kKept)
      log.shrink_to_fit();
  }
}

std::vector<LaneLog::Group> LaneLog::merge(size_t first) const {
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>; // site, detail, how many before it
  std::vector<Group> groups;
  std::map<Key, size_t> numbers;
  std::vector<size_t> path[kWidth]; // of each lane: its groups
  for (uint32_t lane = 0; lane < kWidth; ++lane) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> times;
    for (size_t i = first; i < lanes_[lane].size(); ++i) {
      const Entry &entry = lanes_[lane][i];
      Key key{entry.site, entry.detail, times[{entry.site, entry.detail}]++};
      auto [place, isNew] = numbers.try_emplace(key, groups.size());
      if (isNew)
        groups.push_back({entry.site, entry.detail, 0, {}});
      Group &group = groups[place->second];
      group.lanes |= 1u << lane;
      group.values[lane] = entry.value;
      path[lane].push_back(place->second);
    }
  }
  // A group comes when all its lanes have come to it. Where that never happens, because two lanes
  // pass two groups in different order, those that are there go on.
  std::vector<Group> ordered;
  size_t position[kWidth] = {};
  std::vector<uint32_t> waiting(groups.size());
  auto arrive = [&](uint32_t lane) {
    if (position[lane] < path[lane].size())
      waiting[path[lane][position[lane]]] |= 1u << lane;
  };
  auto pass = [&](size_t number) {
    Group group = groups[number];
    group.lanes = waiting[number];
    groups[number].lanes &= ~group.lanes;
    waiting[number] = 0;
    ordered.push_back(group);
    for (uint32_t rest = group.lanes; rest; rest &= rest - 1) {
      uint32_t lane = uint32_t(__builtin_ctz(rest));
      ++position[lane];
      arrive(lane);
    }
  };
  for (uint32_t lane = 0; lane < kWidth; ++lane)
    arrive(lane);
  while (true) {
    uint32_t left = kWidth; // the first lane that is not done
    bool any = false;
    for (uint32_t lane = 0; lane < kWidth && !any; ++lane) {
      if (position[lane] == path[lane].size())
        continue;
      if (left == kWidth)
        left = lane;
      size_t number = path[lane][position[lane]];
      if (waiting[number] == groups[number].lanes) {
        pass(number);
        any = true;
      }
    }
    if (left == kWidth)
      return ordered;
    if (!any)
      pass(path[left][position[left]]);
  }
}

} // namespace cameo::sim
