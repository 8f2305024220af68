// What race checks of one access (checks.cpp) and of a warp's accesses (warp_checks.cpp) share:
// whether an access is ordered after what the shadows hold, and its record there. Everything here
// has internal linkage, as the second file is compiled for other processors than the first.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_RACES_H
#define CAMEO_SIM_RACES_H

#include "runtime/sim/exec/worker.h"

namespace cameo::sim {

/// Lanes of a warp that access bytes of one size by one instruction; what is ordered before it.
struct Accessor {
  const Clocks *clocks;
  const Clocks::Warp *self;
  const uint32_t *known; // stamps that are ordered before, by warp
  uint32_t warp;         // in the cluster
  bool shared;
  CameoSimAccess kind;
  uint32_t site;
  // Accesses with keys up to `ordered` are ordered before this one, and of other clusters those
  // with owners up to `foreign`.
  uint32_t ordered, foreign;
  uint32_t key;    // of this access
  uint32_t fullAt; // from this key on, uses have the reads that need to be recorded
  uint32_t owner, stamp;

  Access record(uint32_t bytes, uint32_t lanes) const {
    return {owner, stamp, Access::pack(warp, kind == CAMEO_SIM_ATOMIC, bytes, site), lanes};
  }
};

static inline Accessor makeAccessor(const Fiber &fiber, bool shared, CameoSimAccess kind,
                                    uint32_t site) {
  const Block &block = *fiber.block;
  const Clocks &clocks = *block.clocks;
  uint32_t warp = block.firstClock + fiber.linear / kLanes;
  const Clocks::Warp &self = clocks.warp[warp];
  uint32_t last = block.worker->state->lastOwner, owner = block.cluster->owner;
  return {&clocks,
          &self,
          clocks.knownBy(warp),
          warp,
          shared,
          kind,
          site,
          shared ? self.floor() : last,
          shared ? ~0u : last,
          shared ? self.event : owner,
          Plane::kFull | (shared ? self.event : last + 1),
          owner,
          self.event};
}

/// Whether what `record` says is ordered before what `lanes` do.
static inline bool isOrdered(const Access &record, const Accessor &a, uint32_t lanes) {
  if (record.owner != a.owner)
    return record.owner <= a.foreign;
  uint32_t warp = record.warp();
  if (warp != a.warp)
    return record.stamp <= a.known[warp];
  if (record.stamp <= a.self->lastFull)
    return true;
  if (record.lanes == lanes && !(lanes & (lanes - 1))) // the same thread
    return true;
  if (!a.self->partial)
    return false;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    for (uint32_t others = record.lanes; others; others &= others - 1)
      if (!a.clocks->orderedLanes(warp, uint32_t(__builtin_ctz(others)), record.stamp,
                                  uint32_t(__builtin_ctz(rest))))
        return false;
  return true;
}

/// Whether the accesses conflict, if they touch the same bytes; `record` is of a use, or of a
/// write.
static inline bool conflicts(const Access &record, bool isWrite, const Accessor &a) {
  return isWrite || a.kind == CAMEO_SIM_WRITE || record.atomic() != (a.kind == CAMEO_SIM_ATOMIC);
}

/// Records a plain write of `lanes` that begins in this plane and granule; what it conflicts with
/// is ordered before it, or was reported. Lanes one by one leave the same.
static inline void recordWrite(const RaceShadow &shadow, uint32_t index, const Plane &plane,
                               size_t granule, const Accessor &a, uint32_t bytes, uint32_t lanes) {
  Access &last = plane.writes[granule];
  const Access now = a.record(bytes, lanes);
  const bool longest = bytes >= shadow.longest(index);
  // What the same threads have just written beyond this stays.
  if (longest || last.bytes() <= bytes || last.owner != now.owner || last.stamp != now.stamp ||
      last.warp() != now.warp() || last.lanes != now.lanes)
    last = now;
  plane.writeKeys[granule] = a.key;
  // So do uses that reach beyond it.
  if (longest ||
      (plane.uses[0][granule].bytes() <= bytes && plane.uses[1][granule].bytes() <= bytes))
    plane.useKeys[granule] = 0;
}

/// Records a read or an atomic of `lanes` that begins in this plane and granule; what it conflicts
/// with is ordered before it, or was reported. Lanes one by one leave the same.
static inline void recordUse(const RaceShadow &shadow, uint32_t index, const Plane &plane,
                             size_t granule, const Accessor &a, uint32_t bytes, uint32_t lanes) {
  uint32_t &key = plane.useKeys[granule];
  Access &first = plane.uses[0][granule], &second = plane.uses[1][granule];
  const Access now = a.record(bytes, lanes);
  const bool longest = bytes >= shadow.longest(index);
  // A read says nothing of those with whom an atomic races, nor the other way.
  const bool alike = !shadow.hasAtomics() || first.atomic() == now.atomic();
  if ((key & ~Plane::kFull) <= a.ordered && longest && alike) {
    first = now;
    key = a.key;
    return;
  }
  auto join = [&](Access &record) {
    bool same = record.owner == now.owner && record.stamp == now.stamp && record.who == now.who;
    record.lanes |= same ? lanes : 0;
    return same;
  };
  if (join(first) || join(second))
    return;
  if (key >= a.fullAt && a.kind == CAMEO_SIM_READ && bytes <= shadow.shortest(index))
    return;
  // Of two others, forget the one that is ordered before this use, else the second.
  bool needless = alike && isOrdered(first, a, lanes & -lanes) &&
                  (longest || first.owner != a.owner || first.bytes() <= bytes);
  const Access &other = needless ? second : first;
  bool full = a.shared ? other.owner == a.owner && other.stamp == a.stamp && other.warp() != a.warp
                       : other.owner != a.owner && other.owner > a.foreign;
  (needless ? first : second) = now;
  key = std::max(key & ~Plane::kFull, a.key) | (full ? Plane::kFull : 0);
}

/// The lock of a region of global memory's shadow, where blocks run in parallel.
class RegionLock {
public:
  explicit RegionLock(LaunchState &state) : state_(state) {}
  ~RegionLock() { release(); }
  RegionLock(const RegionLock &) = delete;
  RegionLock &operator=(const RegionLock &) = delete;

  /// Holds the region of `address`, and no other.
  void hold(uintptr_t address) {
    std::atomic<uint8_t> *wanted =
        &state_.regionLocks[address / LaunchState::kRegionBytes % LaunchState::kRegionLocks].held;
    if (wanted == held_)
      return;
    release();
    while (wanted->exchange(1, std::memory_order_acquire))
      __builtin_ia32_pause();
    held_ = wanted;
  }
  void release() {
    if (held_)
      held_->store(0, std::memory_order_release);
    held_ = nullptr;
  }

private:
  LaunchState &state_;
  std::atomic<uint8_t> *held_ = nullptr;
};

} // namespace cameo::sim

#endif
