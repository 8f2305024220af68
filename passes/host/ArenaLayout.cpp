// Greedy placement by size with best fit, as in Pisarchyk and Lee, "Efficient Memory Management for
// Deep Neural Net Inference" (2020); where too many requests are in use at once for that, best fit
// in the order of steps.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/ArenaLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <map>
#include <set>

using namespace cameo;

namespace {

/// Greedy placement looks at each pair of requests that share steps. Up to this many pairs it takes
/// a second at most; 2,900 requests that all live at once have as many.
constexpr size_t kMostPairs = size_t(1) << 22;

/// Positions of the requests of a size above 0, by their first steps.
llvm::SmallVector<size_t> byFirstStep(llvm::ArrayRef<ArenaRequest> requests) {
  llvm::SmallVector<size_t> order;
  for (size_t i = 0; i < requests.size(); ++i)
    if (requests[i].size != 0)
      order.push_back(i);
  llvm::stable_sort(order,
                    [&](size_t a, size_t b) { return requests[a].first < requests[b].first; });
  return order;
}

/// For each request those that share steps with it; nothing where there are too many.
std::optional<std::vector<std::vector<uint32_t>>>
findNeighbours(llvm::ArrayRef<ArenaRequest> requests, llvm::ArrayRef<size_t> byFirst) {
  std::vector<std::vector<uint32_t>> neighbours(requests.size());
  std::multimap<int64_t, size_t> live; // by last step
  size_t pairs = 0;
  for (size_t i : byFirst) {
    live.erase(live.begin(), live.lower_bound(requests[i].first));
    if ((pairs += live.size()) > kMostPairs)
      return std::nullopt;
    for (auto [last, other] : live) {
      neighbours[i].push_back(other);
      neighbours[other].push_back(i);
    }
    live.emplace(requests[i].last, i);
  }
  return neighbours;
}

/// The largest first, each into the smallest gap that those placed before leave it.
void placeBySize(llvm::ArrayRef<ArenaRequest> requests, llvm::ArrayRef<size_t> byFirst,
                 const std::vector<std::vector<uint32_t>> &neighbours, int64_t alignment,
                 ArenaLayout &layout) {
  auto order = llvm::to_vector(byFirst);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-requests[a].size, a) < std::pair(-requests[b].size, b);
  });
  std::vector<bool> isPlaced(requests.size());
  llvm::SmallVector<std::pair<int64_t, int64_t>> taken;
  for (size_t i : order) {
    taken.clear();
    for (size_t other : neighbours[i])
      if (isPlaced[other])
        taken.emplace_back(layout.offsets[other], layout.offsets[other] + requests[other].size);
    llvm::sort(taken);
    int64_t end = 0, best = -1, bestGap = std::numeric_limits<int64_t>::max();
    for (auto [from, to] : taken) {
      int64_t gap = from - end;
      if (gap >= requests[i].size && gap < bestGap) {
        best = end;
        bestGap = gap;
      }
      end = std::max<int64_t>(end, llvm::alignTo(to, alignment));
    }
    layout.offsets[i] = best >= 0 ? best : end;
    isPlaced[i] = true;
  }
}

/// Memory that grows at its end and knows its gaps.
class Heap {
public:
  int64_t take(int64_t size) {
    auto gap = bySize.lower_bound({size, 0});
    if (gap == bySize.end()) {
      // The last gap may reach the end.
      int64_t at = top;
      if (auto last = byOffset.empty() ? byOffset.end() : std::prev(byOffset.end());
          last != byOffset.end() && last->first + last->second == top) {
        at = last->first;
        remove(last);
      }
      top = at + size;
      return at;
    }
    auto [found, at] = *gap;
    remove(byOffset.find(at));
    if (found > size)
      add(at + size, found - size);
    return at;
  }

  void giveBack(int64_t at, int64_t size) {
    auto next = byOffset.lower_bound(at);
    if (next != byOffset.end() && at + size == next->first) {
      size += next->second;
      next = remove(next);
    }
    if (next != byOffset.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == at) {
        at = before->first;
        size += before->second;
        remove(before);
      }
    }
    add(at, size);
  }

private:
  using Gaps = std::map<int64_t, int64_t>; // sizes by offset

  void add(int64_t at, int64_t size) {
    byOffset[at] = size;
    bySize.insert({size, at});
  }
  Gaps::iterator remove(Gaps::iterator gap) {
    bySize.erase({gap->second, gap->first});
    return byOffset.erase(gap);
  }

  Gaps byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t top = 0;
};

/// In the order of steps, each into the smallest gap that is free at its first one.
void placeByStep(llvm::ArrayRef<ArenaRequest> requests, llvm::ArrayRef<size_t> byFirst,
                 int64_t alignment, ArenaLayout &layout) {
  Heap heap;
  std::multimap<int64_t, size_t> live; // by last step
  auto rounded = [&](size_t i) { return int64_t(llvm::alignTo(requests[i].size, alignment)); };
  for (size_t i : byFirst) {
    while (!live.empty() && live.begin()->first < requests[i].first) {
      size_t ended = live.begin()->second;
      heap.giveBack(layout.offsets[ended], rounded(ended));
      live.erase(live.begin());
    }
    layout.offsets[i] = heap.take(rounded(i));
    live.emplace(requests[i].last, i);
  }
}

/// The highest of the values that were set for ranges of steps.
class Heights {
public:
  explicit Heights(size_t steps) : steps(steps), whole(2 * steps), some(2 * steps) {}

  /// Of steps [from, to).
  int64_t highest(size_t from, size_t to) const {
    int64_t result = 0;
    // What was set for a whole subtree is known at its root alone.
    for (size_t node : {from + steps, to - 1 + steps})
      for (; node > 0; node /= 2)
        result = std::max(result, whole[node]);
    for (from += steps, to += steps; from < to; from /= 2, to /= 2) {
      if (from % 2)
        result = std::max(result, some[from++]);
      if (to % 2)
        result = std::max(result, some[--to]);
    }
    return result;
  }

  void raise(size_t from, size_t to, int64_t height) {
    auto set = [&](size_t node) {
      whole[node] = std::max(whole[node], height);
      for (; node > 0 && some[node] < height; node /= 2)
        some[node] = height;
    };
    for (from += steps, to += steps; from < to; from /= 2, to /= 2) {
      if (from % 2)
        set(from++);
      if (to % 2)
        set(--to);
    }
  }

private:
  size_t steps;
  std::vector<int64_t> whole, some; // by node of a binary tree: all of its steps, any of them
};

/// Raises each request above those below it that the rounding of offsets may move into it. What
/// stands at offset 0 is not moved.
void assignLevels(llvm::ArrayRef<ArenaRequest> requests, ArenaLayout &layout) {
  auto order = llvm::to_vector(llvm::seq<size_t>(0, requests.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(layout.offsets[a], a) < std::pair(layout.offsets[b], b);
  });
  int64_t steps = 0;
  for (const ArenaRequest &request : requests)
    steps = std::max(steps, request.last + 1);
  Heights heights(steps);
  layout.levels.assign(requests.size(), 0);
  for (size_t i : order) {
    if (layout.offsets[i] == 0 || requests[i].size == 0)
      continue;
    layout.levels[i] = heights.highest(requests[i].first, requests[i].last + 1);
    heights.raise(requests[i].first, requests[i].last + 1, layout.levels[i] + 1);
    layout.levelCount = std::max(layout.levelCount, layout.levels[i] + 1);
  }
}

} // namespace

ArenaLayout cameo::layOutArena(llvm::ArrayRef<ArenaRequest> requests, int64_t alignment) {
  ArenaLayout layout;
  layout.offsets.assign(requests.size(), 0);
  llvm::SmallVector<size_t> byFirst = byFirstStep(requests);
  if (auto neighbours = findNeighbours(requests, byFirst))
    placeBySize(requests, byFirst, *neighbours, alignment, layout);
  else
    placeByStep(requests, byFirst, alignment, layout);
  for (size_t i : byFirst)
    layout.extent = std::max(layout.extent, layout.offsets[i] + requests[i].size);
  assignLevels(requests, layout);
  return layout;
}

int64_t cameo::maxLiveUnits(llvm::ArrayRef<ArenaRequest> requests) {
  std::map<int64_t, int64_t> changes;
  for (const ArenaRequest &request : requests) {
    changes[request.first] += request.size;
    changes[request.last + 1] -= request.size;
  }
  int64_t live = 0, most = 0;
  for (auto [step, change] : changes)
    most = std::max(most, live += change);
  return most;
}
