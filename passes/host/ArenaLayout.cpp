// Greedy placement by size with best fit, as in Pisarchyk and Lee, "Efficient Memory Management for
// Deep Neural Net Inference" (2020).
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/ArenaLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <map>

using namespace cameo;

static bool sharesSteps(const ArenaRequest &a, const ArenaRequest &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Raises each request above those below it that the rounding of offsets may move into it. What
/// stands at offset 0 is not moved.
static void assignLevels(llvm::ArrayRef<ArenaRequest> requests, ArenaLayout &layout) {
  auto order = llvm::to_vector(llvm::seq<size_t>(0, requests.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(layout.offsets[a], a) < std::pair(layout.offsets[b], b);
  });
  layout.levels.assign(requests.size(), 0);
  llvm::SmallVector<size_t> moved;
  for (size_t i : order) {
    if (layout.offsets[i] == 0 || requests[i].size == 0)
      continue;
    for (size_t below : moved)
      if (sharesSteps(requests[i], requests[below]))
        layout.levels[i] = std::max(layout.levels[i], layout.levels[below] + 1);
    layout.levelCount = std::max(layout.levelCount, layout.levels[i] + 1);
    moved.push_back(i);
  }
}

ArenaLayout cameo::layOutArena(llvm::ArrayRef<ArenaRequest> requests, int64_t alignment) {
  ArenaLayout layout;
  layout.offsets.assign(requests.size(), 0);
  auto order = llvm::to_vector(llvm::seq<size_t>(0, requests.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-requests[a].size, a) < std::pair(-requests[b].size, b);
  });
  llvm::SmallVector<size_t> placed;
  llvm::SmallVector<std::pair<int64_t, int64_t>> taken;
  for (size_t i : order) {
    const ArenaRequest &request = requests[i];
    if (request.size == 0)
      continue;
    taken.clear();
    for (size_t other : placed)
      if (sharesSteps(request, requests[other]))
        taken.emplace_back(layout.offsets[other], layout.offsets[other] + requests[other].size);
    llvm::sort(taken);
    int64_t end = 0, best = -1, bestGap = std::numeric_limits<int64_t>::max();
    for (auto [from, to] : taken) {
      int64_t gap = from - end;
      if (gap >= request.size && gap < bestGap) {
        best = end;
        bestGap = gap;
      }
      end = std::max<int64_t>(end, llvm::alignTo(to, alignment));
    }
    layout.offsets[i] = best >= 0 ? best : end;
    layout.extent = std::max(layout.extent, layout.offsets[i] + request.size);
    placed.push_back(i);
  }
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
