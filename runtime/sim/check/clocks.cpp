// Happens-before within a cluster of blocks.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/clocks.h"

#include "runtime/sim/instructions.h"

#include <cstring>

namespace cameo::sim {

static void joinStamps(uint32_t *to, const uint32_t *from, size_t count) {
  for (size_t i = 0; i < count; ++i)
    to[i] = std::max(to[i], from[i]);
}

void ClockRow::join(const ClockRow &other) {
  for (auto [mine, theirs] : {std::make_pair(&known, &other.known), {&fenced, &other.fenced}}) {
    mine->resize(std::max(mine->size(), theirs->size()));
    joinStamps(mine->data(), theirs->data(), theirs->size());
  }
}

void Clocks::start(uint32_t warpCount, uint32_t stamp) {
  if (warps != warpCount) {
    warps = warpCount;
    known.resize(size_t(warps) * warps);
    lanes.assign(size_t(warps) * kLanes * kLanes, 0);
  }
  fenced.clear();
  // All that happened before the cluster began is ordered before it.
  first = stamp;
  uint32_t before = stamp - 1;
  std::fill(known.begin(), known.end(), before);
  warp.assign(warps, {stamp, before, false, warps > 1 ? before : ~0u});
}

void Clocks::syncLanes(uint32_t w, uint32_t mask, uint32_t all) {
  uint32_t now = warp[w].event++;
  if (mask == all) {
    warp[w].lastFull = now;
    warp[w].partial = false;
    return;
  }
  // What lanes know from former blocks and before lastFull is out of date, never wrong: stamps
  // grow.
  uint32_t joined[kLanes] = {};
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint32_t *row = knownByLane(w, uint32_t(__builtin_ctz(rest)));
    for (uint32_t l = 0; l < kLanes; ++l)
      joined[l] = std::max(joined[l], row[l]);
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    joined[__builtin_ctz(rest)] = now;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    memcpy(knownByLane(w, uint32_t(__builtin_ctz(rest))), joined, sizeof joined);
  warp[w].partial = true;
}

void Clocks::syncWarps(uint32_t base, uint32_t mask) {
  if (!mask)
    return;
  uint32_t leader = base + uint32_t(__builtin_ctz(mask)), now = 0;
  uint32_t *joined = knownBy(leader);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t w = base + uint32_t(__builtin_ctz(rest));
    const uint32_t *row = knownBy(w);
    for (uint32_t v = 0; v < warps; ++v)
      joined[v] = std::max(joined[v], row[v]);
    now = std::max(now, warp[w].event);
  }
  // Of each of them, all that it has done; it goes on with a later stamp.
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    joined[base + uint32_t(__builtin_ctz(rest))] = now;
  uint32_t least = *std::min_element(joined, joined + warps);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t w = base + uint32_t(__builtin_ctz(rest));
    warp[w] = {now + 1, now, false, least};
    if (w != leader)
      std::copy(joined, joined + warps, knownBy(w));
  }
  if (fenced.empty() || !(mask & (mask - 1)))
    return;
  uint32_t *all = fencedBefore(leader);
  for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1)
    joinStamps(all, fencedBefore(base + uint32_t(__builtin_ctz(rest))), fencedStamps());
  for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1)
    std::copy(all, all + fencedStamps(), fencedBefore(base + uint32_t(__builtin_ctz(rest))));
}

void Clocks::release(uint32_t w, ClockRow &row) {
  row.known.resize(warps);
  joinStamps(row.known.data(), knownBy(w), warps);
  row.known[w] = warp[w].event++;
  if (fenced.empty())
    return;
  row.fenced.resize(fencedStamps());
  joinStamps(row.fenced.data(), fencedBefore(w), fencedStamps());
}

void Clocks::fence(uint32_t thread, uint32_t space, uint32_t blockWarps) {
  if (fenced.empty())
    fenced.resize(warps * fencedStamps());
  uint32_t w = thread / kLanes;
  const uint32_t *before = knownBy(w);
  for (uint32_t memory = 0; memory < kFencedMemories; ++memory) {
    bool isGlobal = FencedMemory(memory) == FencedMemory::Global;
    bool isMaps = FencedMemory(memory) == FencedMemory::TensorMap;
    if (isMaps != (space == CAMEO_SIM_FENCE_MAPS) ||
        (!isMaps && space != CAMEO_SIM_FENCE_ALL && isGlobal != (space == CAMEO_SIM_FENCE_GLOBAL)))
      continue;
    uint32_t *mine = fencedFor(w, FencedMemory(memory));
    for (uint32_t v = 0; v < warps; ++v) {
      // Of the block's own shared memory alone: what its threads have done there, and others'.
      bool owns = v / blockWarps == w / blockWarps;
      if (space == CAMEO_SIM_FENCE_SHARED &&
          owns != (FencedMemory(memory) == FencedMemory::OwnShared))
        continue;
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        uint32_t &stamp = mine[v * kLanes + lane];
        stamp = std::max(stamp, v == w ? warp[w].lastFull : before[v]);
      }
      if (v == w)
        mine[thread] = warp[w].event;
    }
  }
  ++warp[w].event;
}

void Clocks::acquire(uint32_t w, const ClockRow &released) {
  if (released.known.empty()) // nothing has been released
    return;
  const uint32_t *row = released.known.data();
  if (!released.fenced.empty())
    joinStamps(fencedBefore(w), released.fenced.data(), fencedStamps());
  uint32_t *mine = knownBy(w);
  Warp &self = warp[w];
  self.leastKnown = ~0u;
  for (uint32_t v = 0; v < warps; ++v) {
    mine[v] = std::max(mine[v], row[v]);
    if (v == w)
      continue;
    self.leastKnown = std::min(self.leastKnown, mine[v]);
    self.event = std::max(self.event, mine[v] + 1);
  }
  self.lastFull = std::max(self.lastFull, row[w]);
}

uint32_t Clocks::latest() const {
  uint32_t result = 0;
  for (const Warp &each : warp)
    result = std::max(result, each.event);
  return result;
}

} // namespace cameo::sim
