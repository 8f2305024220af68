// How the addresses of a warp's lanes lie to each other, worked out once and looked up again: an
// instruction's lanes mostly differ by the same distances each time it is executed.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_WARP_CHECKS_H
#define CAMEO_SIM_WARP_CHECKS_H

#include "runtime/sim/abi.h"
#include "runtime/sim/check/clocks.h"

namespace cameo::sim {

struct Fiber;

/// Distances are from the address of the first lane that takes part, but for those of granules,
/// which are from the granule that this address is in.
struct WarpPattern {
  uint32_t lanes = 0; // that take part
  uint32_t bytes;     // of each access
  uint32_t low;       // of the first lane's address: where in its granule it is
  bool regular;       // accesses begin at multiples of their size, which is 1, 2, 4, 8 or 16
  bool disjoint;      // no two lanes access the same bytes
  uint64_t bits;      // of all distances
  int64_t first, end; // the bytes that all of them touch
  alignas(32) int64_t distances[kLanes];
  alignas(32) int64_t takesPart[kLanes]; // -1 or 0

  // Stretches of bytes.
  struct Stretch {
    int32_t first;
    uint32_t bytes;
  };
  uint32_t stretchCount;
  Stretch stretches[kLanes];

  // Granules in a row, whose accesses begin at the same byte, and so are in one plane.
  struct Run {
    int32_t granule;
    uint16_t count;
    uint16_t firstCell; // in `cells`
  };
  struct Group { // of runs in one plane
    uint16_t plane;
    uint16_t firstRun, endRun;
  };
  uint32_t groupCount;
  Group groups[16];
  Run runs[kLanes];
  uint32_t cells[kLanes]; // the lanes that access a granule in a plane
};

struct WarpPatterns {
  static constexpr uint32_t kSites = 256, kPatterns = 64;
  // What each instruction used last, for every place in a granule, to 2 bytes.
  uint8_t bySite[kSites][8] = {};
  WarpPattern patterns[kPatterns];
};

/// The pattern of one access may be that of the next.
struct PatternLookup {
  const WarpPattern *pattern = nullptr;
  uint32_t row = 0;

  const WarpPattern &find(WarpPatterns &patterns, const CameoSimAccessSite &access, uint32_t lanes,
                          uint64_t base, uint32_t low, char *const *addresses);
};

/// Whether all is well with an access, by the race shadow and the marks of initialised bytes. If
/// not, or if that would take a closer look, what has been recorded is what the lanes one by one
/// would record first, too. Vectors that are wider than an instruction's access are several.
bool checkAccessOfWarp(const Fiber &fiber, uint32_t lanes, char *const *addresses,
                       const CameoSimAccessSite &access, PatternLookup &lookup);

} // namespace cameo::sim

#endif
