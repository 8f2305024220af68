// Calls of CameoSimApi::warp_access, worked out once and looked up again: which of a call's
// accesses differ in nothing but a distance, and what bytes the lanes of a warp access with them
// together. An instruction's lanes mostly lie to each other the same way each time it is executed.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_ACCESS_PLANS_H
#define CAMEO_SIM_ACCESS_PLANS_H

#include "runtime/sim/abi.h"
#include "runtime/sim/check/clocks.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace cameo::sim {

constexpr uint32_t kWord = 4; // bytes

/// What the lanes access, in distances from the first one's address.
struct Footprint {
  uint32_t lanes;     // that take part
  uint64_t bits;      // of all distances, of lanes and of accesses
  int64_t first, end; // the bytes that are accessed
  /// Writes only: no two accesses touch the same word, and all are of whole words.
  bool apart;
  bool usable; // `runs` are there
  struct Run {
    int32_t word;
    uint32_t count;
  };
  std::vector<Run> runs; // words that are touched, longer runs first
  uint32_t singles;      // runs of one word begin here
  alignas(32) int64_t distances[kLanes];
  alignas(32) int64_t takesPart[kLanes]; // -1 or 0
};

/// Accesses of a call that follow one another and differ in their sites and offsets alone.
struct AccessGroup {
  uint32_t first, count; // in the call's table
  int64_t low, high;     // bytes that an address stands for, counted from it
  uint64_t bits;         // of all offsets
  uint32_t lastUsed = 0;
  std::vector<std::unique_ptr<Footprint>> footprints;
};

struct AccessPlan {
  std::vector<CameoSimAccessSite> accesses; // what it was made for
  std::vector<AccessGroup> groups;
  uint64_t launch; // for which that was seen to be so
};

/// Whether the lanes' addresses lie to each other as the footprint says: warp_groups.cpp.
bool liesLike(const Footprint &footprint, uint32_t lanes, char *const *addresses);

class AccessPlans {
public:
  /// A launch begins, perhaps of another image that lies where the last one lay.
  void restart() { ++launch_; }
  AccessPlan &find(const CameoSimAccessSite *accesses, uint32_t count) {
    Recent &recent = recent_[reinterpret_cast<uintptr_t>(accesses) / sizeof *accesses % kRecent];
    if (__builtin_expect(recent.accesses != accesses || recent.plan->launch != launch_, 0))
      recent = {accesses, &findSlowly(accesses, count)};
    return *recent.plan;
  }
  /// Null if there are too many to keep: they are for the caller to forget then.
  const Footprint *find(AccessGroup &group, const CameoSimAccessSite *accesses, uint32_t lanes,
                        char *const *addresses);
  void forget(); // all footprints

private:
  static constexpr uint32_t kRecent = 256, kMaxFootprints = 4096;
  struct Recent {
    const CameoSimAccessSite *accesses = nullptr;
    AccessPlan *plan = nullptr;
  };
  AccessPlan &findSlowly(const CameoSimAccessSite *accesses, uint32_t count);

  uint64_t launch_ = 0;
  uint32_t footprints_ = 0;
  Recent recent_[kRecent];
  std::unordered_map<const CameoSimAccessSite *, AccessPlan> plans_;
};

} // namespace cameo::sim

#endif
