// Places in the arena: what lives at once stands apart, for any number of buffers.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/ArenaLayout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace cameo;

namespace {

/// Whether requests that share steps have places of their own below the extent. By sorting, so that
/// it can be asked of many.
void expectApart(const std::vector<ArenaRequest> &requests, const ArenaLayout &layout,
                 int64_t alignment) {
  struct Event {
    int64_t step;
    bool begins;
    size_t request;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < requests.size(); ++i) {
    ASSERT_EQ(layout.offsets[i] % alignment, 0);
    ASSERT_LE(layout.offsets[i] + requests[i].size, layout.extent);
    if (requests[i].size == 0)
      continue;
    events.push_back({requests[i].first, true, i});
    events.push_back({requests[i].last + 1, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::pair(a.step, a.begins) < std::pair(b.step, b.begins);
  });
  std::map<int64_t, int64_t> live; // offset -> end
  for (const Event &event : events) {
    int64_t at = layout.offsets[event.request], end = at + requests[event.request].size;
    if (!event.begins) {
      live.erase(at);
      continue;
    }
    auto next = live.lower_bound(at);
    ASSERT_TRUE(next == live.end() || end <= next->first) << "request " << event.request;
    ASSERT_TRUE(next == live.begin() || std::prev(next)->second <= at)
        << "request " << event.request;
    live[at] = end;
  }
}

std::vector<ArenaRequest> randomRequests(size_t count, int64_t steps, int64_t longest) {
  std::mt19937 engine(1);
  auto atMost = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most)(engine);
  };
  std::vector<ArenaRequest> requests;
  for (size_t i = 0; i < count; ++i) {
    int64_t first = atMost(steps);
    requests.push_back({atMost(5000), first, first + atMost(longest)});
  }
  return requests;
}

TEST(ArenaLayout, LivingTogetherMeansStandingApart) {
  for (int64_t alignment : {1, 256}) {
    auto requests = randomRequests(2000, 1000, 50);
    ArenaLayout layout = layOutArena(requests, alignment);
    expectApart(requests, layout, alignment);
    // Best fit by size comes close to what no layout can do without.
    EXPECT_LE(layout.extent, 1.25 * maxLiveUnits(requests) + 100 * alignment);
  }
}

TEST(ArenaLayout, ManyAtOnceStandApart) {
  for (int64_t alignment : {1, 256}) {
    auto requests = randomRequests(100000, 100000, 50000);
    ArenaLayout layout = layOutArena(requests, alignment);
    expectApart(requests, layout, alignment);
    EXPECT_LE(layout.extent, 1.25 * (maxLiveUnits(requests) + 128 * 50000 * (alignment / 256)));
  }
}

TEST(ArenaLayout, EqualSizesWasteNothing) {
  // A tree: all leaves, then sums of two.
  std::vector<ArenaRequest> requests;
  int64_t leaves = 1 << 14;
  for (int64_t i = 0; i < leaves; ++i)
    requests.push_back({256, i, leaves + i / 2});
  for (int64_t i = 0; i < leaves / 2; ++i)
    requests.push_back({256, leaves + i, 2 * leaves});
  ArenaLayout layout = layOutArena(requests, 256);
  expectApart(requests, layout, 256);
  EXPECT_EQ(layout.extent, maxLiveUnits(requests));
}

TEST(ArenaLayout, LevelsRiseWithOffsets) {
  // Whatever a unit is, rounded up places stay apart: of two that share steps, the upper one is on
  // a higher level.
  auto requests = randomRequests(500, 100, 30);
  ArenaLayout layout = layOutArena(requests, 1);
  for (size_t i = 0; i < requests.size(); ++i)
    for (size_t j = 0; j < requests.size(); ++j) {
      bool together =
          requests[i].first <= requests[j].last && requests[j].first <= requests[i].last;
      if (!together || requests[i].size == 0 || requests[j].size == 0 || layout.offsets[i] == 0 ||
          layout.offsets[i] >= layout.offsets[j])
        continue;
      EXPECT_LT(layout.levels[i], layout.levels[j]) << i << " below " << j;
      EXPECT_LT(layout.levels[j], layout.levelCount);
    }
}

} // namespace
