// The arena's layout. Best fit in the order of steps takes n log n and wastes little; where not too
// many buffers are in use at once, placing them in other orders, the largest first among them
// (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020), wastes
// less, and what still stands above the largest live set is moved to the front of the order and all
// placed again ("squeaky wheel" optimization, Joslin and Clements, 1999). The best of all is taken.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/arena.h"

#include "runtime/mutant.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace {

using Bytes = uint64_t;
constexpr Bytes kMostBytes = INT64_MAX;
// Orders other than that of steps cost a look at each pair of buffers that share steps. So many
// looks are taken, times n log n and in all, and no order but that of steps is tried where
// kLeastOrders would take more.
constexpr uint64_t kLooks = 128, kMostLooks = uint64_t(1) << 22, kLeastOrders = 2;

// A request of a size above 0, rounded up to the alignment.
struct Buffer {
  Bytes size;
  uint32_t first, last; // steps
  uint32_t request;
};

struct Layout {
  std::vector<Bytes> offsets; // one a buffer
  Bytes extent = ~Bytes(0);
};

using Order = std::vector<uint32_t>; // numbers of buffers

// Equal keys keep the order of the numbers, so that there is one result. One function for all keys:
// it is in every artefact.
Order sortedBy(const std::vector<double> &keys) {
  Order order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  return order;
}

// Memory that grows at its end and knows its gaps.
class Heap {
public:
  Bytes take(Bytes size) {
    auto gap = bySize.lower_bound({size, 0});
    if (gap == bySize.end()) {
      // The last gap may reach the end.
      Bytes at = top;
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

  void giveBack(Bytes at, Bytes size) {
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
  using Gaps = std::map<Bytes, Bytes>; // sizes by offset

  void add(Bytes at, Bytes size) {
    byOffset[at] = size;
    bySize.insert({size, at});
  }
  Gaps::iterator remove(Gaps::iterator gap) {
    bySize.erase({gap->second, gap->first});
    return byOffset.erase(gap);
  }

  Gaps byOffset;
  std::set<std::pair<Bytes, Bytes>> bySize;
  Bytes top = 0;
};

class Planner {
public:
  // By their first steps.
  explicit Planner(std::vector<Buffer> sorted) : buffers(std::move(sorted)) {
    byLast = sortedBy(keys([](const Buffer &buffer) { return double(buffer.last); }));
  }

  // Sets the most bytes in use at one step, of rounded and of given sizes.
  void measure(const CameoArenaRequest *requests, CameoArenaUse &use);
  void plan();

  const Layout &layout() const { return best; }
  const std::vector<Buffer> &list() const { return buffers; }

private:
  template <typename Key> std::vector<double> keys(Key key) const {
    std::vector<double> all;
    for (const Buffer &buffer : buffers)
      all.push_back(key(buffer));
    return all;
  }
  bool done() const { return best.extent == bound; }
  void keep(Layout layout);
  void placeByStep(bool backwards);
  bool findNeighbours();
  Layout place(const Order &order);
  void improve(Order order);

  std::vector<Buffer> buffers;
  Order byLast;
  Bytes bound = 0; // the largest live set
  Layout best;
  // Buffers that share steps with buffer i: neighbours[start[i]] to neighbours[start[i + 1]].
  std::vector<uint32_t> start, neighbours;
  uint64_t budget = 0; // looks at neighbours that are left
  std::vector<std::pair<Bytes, Bytes>> taken;
};

void Planner::measure(const CameoArenaRequest *requests, CameoArenaUse &use) {
  Bytes live = 0, given = 0;
  size_t ended = 0;
  for (const Buffer &buffer : buffers) {
    for (; buffers[byLast[ended]].last < buffer.first; ++ended) {
      live -= buffers[byLast[ended]].size;
      given -= requests[buffers[byLast[ended]].request].bytes;
    }
    bound = std::max(bound, live += buffer.size);
    use.live_bytes = std::max(use.live_bytes, given += requests[buffer.request].bytes);
  }
}

void Planner::keep(Layout layout) {
  layout.extent = 0;
  for (size_t i = 0; i < buffers.size(); ++i)
    layout.extent = std::max(layout.extent, layout.offsets[i] + buffers[i].size);
  if (layout.extent < best.extent)
    best = std::move(layout);
}

// Each into the smallest gap that is free at its first step, or, backwards, at its last.
void Planner::placeByStep(bool backwards) {
  Layout layout{std::vector<Bytes>(buffers.size())};
  Heap heap;
  size_t count = buffers.size(), ended = 0;
  for (size_t n = 0; n < count; ++n) {
    uint32_t i = backwards ? byLast[count - 1 - n] : uint32_t(n);
    for (;; ++ended) {
      uint32_t other = backwards ? uint32_t(count - 1 - ended) : byLast[ended];
      if (backwards ? buffers[other].first <= buffers[i].last
                    : CAMEO_MUTANT(18, buffers[other].last >= buffers[i].first,
                                   buffers[other].last > buffers[i].first))
        break;
      heap.giveBack(layout.offsets[other], buffers[other].size);
    }
    layout.offsets[i] = heap.take(buffers[i].size);
  }
  keep(std::move(layout));
}

// Of each buffer those that share steps with it; false where that is too much work.
bool Planner::findNeighbours() {
  uint64_t pairs = 0;
  size_t count = buffers.size(), ended = 0;
  for (size_t i = 0; i < count; ++i) {
    while (buffers[byLast[ended]].last < buffers[i].first)
      ++ended;
    pairs += i - ended;
  }
  uint64_t levels = 1;
  while (count >> levels)
    ++levels;
  budget = std::min<uint64_t>(kLooks * levels * count, kMostLooks);
  if (2 * pairs * kLeastOrders > budget)
    return false;
  start.assign(count + 1, 0);
  neighbours.resize(2 * pairs);
  std::vector<std::pair<uint32_t, uint32_t>> found;
  found.reserve(pairs);
  Order live;
  for (uint32_t i = 0; i < count; ++i) {
    size_t kept = 0;
    for (uint32_t other : live)
      if (buffers[other].last >= buffers[i].first) {
        live[kept++] = other;
        found.emplace_back(other, i);
        ++start[other + 1];
        ++start[i + 1];
      }
    live.resize(kept);
    live.push_back(i);
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<uint32_t> end(start.begin(), start.end() - 1);
  for (auto [a, b] : found) {
    neighbours[end[a]++] = b;
    neighbours[end[b]++] = a;
  }
  return true;
}

// One after the other, each into the smallest gap that those before leave it.
Layout Planner::place(const Order &order) {
  constexpr Bytes none = ~Bytes(0);
  Layout layout{std::vector<Bytes>(buffers.size(), none)};
  for (uint32_t i : order) {
    taken.clear();
    for (uint32_t n = start[i]; n < start[i + 1]; ++n)
      if (Bytes at = layout.offsets[neighbours[n]]; at != none)
        taken.emplace_back(at, at + buffers[neighbours[n]].size);
    std::sort(taken.begin(), taken.end());
    Bytes end = 0, found = none, least = none;
    for (auto [from, to] : taken) {
      if (from > end && from - end >= buffers[i].size && from - end < least) {
        found = end;
        least = from - end;
      }
      end = std::max(end, to);
    }
    layout.offsets[i] = found != none ? found : end;
  }
  budget -= std::min<uint64_t>(budget, neighbours.size() + buffers.size());
  return layout;
}

// Places what stands above the largest live set before everything else, again and again.
void Planner::improve(Order order) {
  Order next;
  while (!done() && budget) {
    Layout layout = place(order);
    next.clear();
    for (bool above : {true, false})
      for (uint32_t i : order)
        if ((layout.offsets[i] + buffers[i].size > bound) == above)
          next.push_back(i);
    std::swap(order, next);
    keep(std::move(layout));
  }
}

void Planner::plan() {
  placeByStep(false);
  if (!done())
    placeByStep(true);
  if (done() || !findNeighbours())
    return;
  auto size = [](const Buffer &buffer) { return -double(buffer.size); };
  keep(place(sortedBy(keys([&](const Buffer &buffer) {
    return size(buffer) * (double(buffer.last - buffer.first) + 1);
  }))));
  improve(sortedBy(keys(size)));
}

} // namespace

int cameoLayOutArena(const CameoArenaRequest *requests, uint32_t count, uint64_t *offsets,
                     CameoArenaUse *use) {
  *use = {};
  std::vector<Buffer> given, buffers;
  std::vector<double> firstSteps;
  Bytes sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const CameoArenaRequest &request = requests[i];
    offsets[i] = 0;
    if (request.last < request.first || request.bytes > kMostBytes)
      return -1;
    if (!request.bytes)
      continue;
    Bytes size = (request.bytes + CAMEO_BUFFER_ALIGNMENT - 1) / CAMEO_BUFFER_ALIGNMENT *
                 CAMEO_BUFFER_ALIGNMENT;
    if (size > kMostBytes - sum)
      return -1;
    sum += size;
    use->sum_bytes += request.bytes;
    given.push_back({size, request.first, request.last, i});
    firstSteps.push_back(request.first);
  }
  if (given.empty())
    return 0;
  for (uint32_t i : sortedBy(firstSteps))
    buffers.push_back(given[i]);
  Planner planner(std::move(buffers));
  planner.measure(requests, *use);
  planner.plan();
  for (size_t i = 0; i < planner.list().size(); ++i)
    offsets[planner.list()[i].request] = planner.layout().offsets[i];
  use->arena_bytes = planner.layout().extent;
  return 0;
}
