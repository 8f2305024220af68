// Places in the arena: what lives at once stands apart, for any number of buffers, and little is
// wasted.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace {

using Requests = std::vector<CameoArenaRequest>;

struct Result {
  explicit Result(const Requests &requests) : offsets(requests.size(), 1) {
    status = cameoLayOutArena(requests.data(), uint32_t(requests.size()), offsets.data(), &use);
  }
  std::vector<uint64_t> offsets;
  CameoArenaUse use = {};
  int status;
};

// Whether requests that share steps have places of their own in the arena. By sorting, so that it
// can be asked of many.
void expectApart(const Requests &requests, const Result &result) {
  struct Event {
    uint32_t step;
    bool begins;
    size_t request;
  };
  ASSERT_EQ(result.status, 0);
  std::vector<Event> events;
  for (size_t i = 0; i < requests.size(); ++i) {
    ASSERT_EQ(result.offsets[i] % CAMEO_BUFFER_ALIGNMENT, 0u);
    ASSERT_LE(result.offsets[i] + requests[i].bytes, result.use.arena_bytes);
    if (requests[i].bytes == 0)
      continue;
    events.push_back({requests[i].first, true, i});
    events.push_back({requests[i].last + 1, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::pair(a.step, a.begins) < std::pair(b.step, b.begins);
  });
  std::map<uint64_t, uint64_t> live; // offset -> end
  uint64_t bytes = 0, most = 0;
  for (const Event &event : events) {
    uint64_t size = requests[event.request].bytes;
    uint64_t at = result.offsets[event.request], end = at + size;
    if (!event.begins) {
      live.erase(at);
      bytes -= size;
      continue;
    }
    most = std::max(most, bytes += size);
    auto next = live.lower_bound(at);
    ASSERT_TRUE(next == live.end() || end <= next->first) << "request " << event.request;
    ASSERT_TRUE(next == live.begin() || std::prev(next)->second <= at)
        << "request " << event.request;
    live[at] = end;
  }
  EXPECT_EQ(result.use.live_bytes, most);
}

// The requests' own sizes are multiples of the alignment, so that rounding hides nothing.
Requests randomRequests(size_t count, uint32_t steps, uint32_t longest, uint32_t seed = 1) {
  std::mt19937 engine(seed);
  auto below = [&](uint32_t most) { return uint32_t(engine() % most); };
  Requests requests;
  for (size_t i = 0; i < count; ++i) {
    uint32_t first = below(steps);
    requests.push_back({uint64_t(below(5000)) * 256, first, first + below(longest)});
  }
  return requests;
}

double waste(const Requests &requests) {
  Result result(requests);
  expectApart(requests, result);
  return double(result.use.arena_bytes) / double(result.use.live_bytes);
}

} // namespace

TEST(Arena, NothingTakesNothing) {
  Result none({});
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.use.arena_bytes, 0u);
  Result empty({{0, 0, 3}, {0, 1, 1}});
  EXPECT_EQ(empty.status, 0);
  EXPECT_EQ(empty.use.arena_bytes, 0u);
  EXPECT_EQ(empty.offsets, (std::vector<uint64_t>{0, 0}));
}

TEST(Arena, RoundsUpAndSumsWhatWasAskedFor) {
  Result result({{1, 0, 1}, {257, 1, 2}, {10, 3, 3}});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.use.arena_bytes, 768u);
  EXPECT_EQ(result.use.live_bytes, 258u);
  EXPECT_EQ(result.use.sum_bytes, 268u);
}

TEST(Arena, WhatIsNoRequestIsRefused) {
  EXPECT_NE(Result({{1, 2, 1}}).status, 0);
  EXPECT_NE(Result({{UINT64_MAX, 0, 0}}).status, 0);
  EXPECT_NE(Result({{INT64_MAX, 0, 0}}).status, 0); // once it is rounded up
  EXPECT_NE(Result({{uint64_t(1) << 62, 0, 0}, {uint64_t(1) << 62, 1, 1}}).status, 0);
  EXPECT_EQ(Result({{uint64_t(1) << 61, 0, 0}, {uint64_t(1) << 61, UINT32_MAX, UINT32_MAX}}).status,
            0);
}

TEST(Arena, LivingTogetherMeansStandingApart) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    EXPECT_LE(waste(randomRequests(100, 50, 1 + 2 * seed, seed)), 1.15) << seed;
    EXPECT_LE(waste(randomRequests(1000, 1000, 1 + 5 * seed, seed)), 1.15) << seed;
  }
}

// As many that no order but that of steps is tried.
TEST(Arena, ManyAtOnceStandApart) { EXPECT_LE(waste(randomRequests(100000, 100000, 50000)), 1.10); }

TEST(Arena, EqualSizesWasteNothing) {
  // A tree: all leaves, then sums of two.
  Requests requests;
  uint32_t leaves = 1 << 14;
  for (uint32_t i = 0; i < leaves; ++i)
    requests.push_back({256, i, leaves + i / 2});
  for (uint32_t i = 0; i < leaves / 2; ++i)
    requests.push_back({256, leaves + i, 2 * leaves});
  EXPECT_EQ(waste(requests), 1);
}

// Best fit by steps puts the second into the first one's place and the third at the end; only with
// both of its neighbours known can the middle one stand aside.
TEST(Arena, OtherOrdersAreTried) {
  Requests requests = {{1024, 0, 1}, {256, 1, 3}, {1280, 2, 2},
                       {1024, 3, 4}, {256, 4, 5}, {1280, 5, 5}};
  EXPECT_EQ(waste(requests), 1536.0 / 1536);
}

TEST(Arena, TheOrderOfRequestsIsNoMatter) {
  Requests requests = randomRequests(300, 100, 30);
  uint64_t once = Result(requests).use.arena_bytes;
  EXPECT_EQ(Result(requests).offsets, Result(requests).offsets);
  std::mt19937 engine(5);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(requests.begin(), requests.end(), engine);
    EXPECT_LE(double(Result(requests).use.arena_bytes), 1.05 * double(once));
  }
}
