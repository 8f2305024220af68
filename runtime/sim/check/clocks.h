// Happens-before within a cluster of blocks.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_CLOCKS_H
#define CAMEO_SIM_CLOCKS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cameo::sim {

constexpr uint32_t kLanes = 32;

/// What is ordered before something: stamps by warp, and of what is fenced, too, as
/// Clocks::fenced has it (empty: nothing is).
struct ClockRow {
  std::vector<uint32_t> known, fenced;

  void join(const ClockRow &other);
  void clear() {
    known.clear();
    fenced.clear();
  }
};

/// Stamps of accesses begin here. What an asynchronous operation leaves in a shadow has its Agent
/// there instead, which is ordered before all that its cluster does: AsyncOperations knows better.
constexpr uint32_t kFirstStamp = 16;

/// Of what memory a fence.proxy.async is asked for: global memory, the shared memory of the block
/// whose thread has accessed it, that of another block. Or tensor maps, for a release by
/// fence.proxy.tensormap.
enum class FencedMemory : uint32_t { Global, OwnShared, OtherShared, TensorMap };
constexpr uint32_t kFencedMemories = 4;

/// Every warp counts its synchronisations; an access is stamped with its warp's count. Stamps grow
/// from cluster to cluster of a worker, so shadows need no clearing. Warps are numbered through the
/// cluster.
///
/// Whoever learns of a stamp goes on with a later one (a Lamport clock), and warps that meet at a
/// barrier with the same. So one compare tells of most accesses, whoever's they are, that they are
/// ordered (Warp::floor()), and nothing that is ordered before an access has its stamp.
struct Clocks {
  struct Warp {
    uint32_t event;      // the stamp of accesses now
    uint32_t lastFull;   // stamps up to here are ordered for all lanes of the warp
    bool partial;        // lanes synchronised in part since then
    uint32_t leastKnown; // of what is known of the other warps
    /// Accesses by any warp with stamps up to here are ordered before this one.
    uint32_t floor() const { return std::min(leastKnown, lastFull); }
  };
  uint32_t warps = 0;
  uint32_t first = 0; // the stamp that all warps began with
  std::vector<Warp> warp;
  std::vector<uint32_t> known; // [w][v]: stamps of warp v that are ordered before warp w
  std::vector<uint32_t> lanes; // [w][l][m]: stamps of lane m ordered before lane l
  // [w][memory][thread]: stamps that a fence.proxy.async follows which is ordered before warp w.
  // Empty until there is a fence.
  std::vector<uint32_t> fenced;

  void start(uint32_t warpCount, uint32_t stamp);
  uint32_t *knownBy(uint32_t w) { return &known[size_t(w) * warps]; }
  const uint32_t *knownBy(uint32_t w) const { return &known[size_t(w) * warps]; }
  uint32_t *knownByLane(uint32_t w, uint32_t lane) {
    return &lanes[(size_t(w) * kLanes + lane) * kLanes];
  }
  /// Lanes `mask` of warp `w` have synchronised; `all`: the warp's lanes.
  void syncLanes(uint32_t w, uint32_t mask, uint32_t all);
  /// The warps base + i for the bits i of `mask` have synchronised.
  void syncWarps(uint32_t base, uint32_t mask);
  /// Through an mbarrier: what warp `w` has done is added to `row`, or what is in `row` is ordered
  /// before what it does from now on. Lanes of a warp are not told apart.
  void release(uint32_t w, ClockRow &row);
  void acquire(uint32_t w, const ClockRow &row);
  size_t fencedStamps() const { return size_t(kFencedMemories) * warps * kLanes; } // of a warp
  uint32_t *fencedBefore(uint32_t w) { return &fenced[w * fencedStamps()]; }
  uint32_t *fencedFor(uint32_t w, FencedMemory memory) {
    return fencedBefore(w) + size_t(memory) * warps * kLanes;
  }
  /// `thread` of the cluster executes a proxy fence, for `space` (CameoSimFence). Blocks have
  /// `blockWarps` warps.
  void fence(uint32_t thread, uint32_t space, uint32_t blockWarps);
  /// Whether there is a fence between what `thread` did at `stamp` and what warp `w` does now.
  bool isFenced(uint32_t thread, uint32_t stamp, FencedMemory memory, uint32_t w) const {
    return !fenced.empty() &&
           stamp <= fenced[w * fencedStamps() + size_t(memory) * warps * kLanes + thread];
  }
  /// Whether what a thread did at `stamp` is ordered before what `self` does now; a thread's number
  /// is its warp's times kLanes, and its lane.
  bool ordered(uint32_t thread, uint32_t stamp, uint32_t self) const {
    uint32_t v = thread / kLanes, w = self / kLanes;
    return v == w ? orderedLanes(w, thread % kLanes, stamp, self % kLanes)
                  : stamp <= known[size_t(w) * warps + v];
  }
  uint32_t latest() const;
  /// Whether what lane `m` of warp `w` did at `stamp` is ordered before what its lane `l` does now.
  bool orderedLanes(uint32_t w, uint32_t m, uint32_t stamp, uint32_t l) const {
    const Warp &self = warp[w];
    return l == m || stamp <= self.lastFull ||
           (self.partial && stamp <= lanes[(size_t(w) * kLanes + l) * kLanes + m]);
  }
};

} // namespace cameo::sim

#endif
