// The checks of a warp's accesses together. They pass in few steps what is beyond doubt; whatever
// is not, is left to the check of single accesses (checks.cpp), lane by lane, which does the
// reporting. So both find the same.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/warp_checks.h"
#include "runtime/sim/check/races.h"
#include "runtime/sim/check/rows.h"

#include <algorithm>
#include <cstring>

namespace cameo::sim {
namespace {

// ---- Patterns ----

/// Lanes whose entry is `key`.
uint32_t lanesWith(const int32_t *keys, int32_t key) {
  __m256i wanted = _mm256_set1_epi32(key);
  uint32_t result = 0;
  for (uint32_t i = 0; i < kLanes; i += 8)
    result |= uint32_t(_mm256_movemask_ps(
                  _mm256_castsi256_ps(_mm256_cmpeq_epi32(load(keys + i), wanted))))
              << i;
  return result;
}

bool hasPattern(const WarpPattern &pattern, uint32_t lanes, uint32_t bytes, uint64_t base,
                uint32_t low, char *const *addresses) {
  if (pattern.lanes != lanes || pattern.bytes != bytes || pattern.low != low)
    return false;
  const __m256i from = _mm256_set1_epi64x(int64_t(base));
  return lanes == ~0u ? haveDistances(pattern.distances, nullptr, from, addresses)
                      : haveDistances(pattern.distances, pattern.takesPart, from, addresses);
}

__attribute__((noinline)) void makePattern(WarpPattern &pattern, uint32_t lanes, uint32_t bytes,
                                           uint64_t base, uint32_t low, char *const *addresses) {
  pattern.lanes = lanes;
  pattern.bytes = bytes;
  pattern.low = low;
  pattern.bits = 0;
  int64_t least = 0, most = 0;
  alignas(32) int32_t keys[kLanes]; // bytes from the first lane's granule on
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    bool takesPart = lanes >> lane & 1;
    int64_t distance = takesPart ? int64_t(reinterpret_cast<uintptr_t>(addresses[lane]) - base) : 0;
    pattern.distances[lane] = distance;
    pattern.takesPart[lane] = -int64_t(takesPart);
    pattern.bits |= uint64_t(distance);
    least = std::min(least, distance);
    most = std::max(most, distance);
    keys[lane] = int32_t(distance + pattern.low);
  }
  pattern.first = least;
  pattern.end = most + bytes;
  constexpr int64_t kFar = 1 << 30;
  pattern.regular = bytes && bytes <= kGranule && !(bytes & (bytes - 1)) &&
                    !((pattern.bits | low) & (bytes - 1)) && least > -kFar && most < kFar;
  if (!pattern.regular)
    return;

  // What the lanes access, in the order of addresses.
  struct Place {
    int32_t key;
    uint32_t lanes;
  };
  Place places[kLanes];
  uint32_t count = 0, planes = 0;
  pattern.disjoint = true;
  for (uint32_t rest = lanes; rest;) {
    int32_t key = keys[__builtin_ctz(rest)];
    Place place{key, lanesWith(keys, key) & lanes};
    rest &= ~place.lanes;
    pattern.disjoint &= !(place.lanes & (place.lanes - 1));
    planes |= 1u << (uint32_t(key) % kGranule);
    uint32_t at = count++;
    for (; at && places[at - 1].key > key; --at)
      places[at] = places[at - 1];
    places[at] = place;
  }
  pattern.stretchCount = 0;
  for (uint32_t i = 0; i < count; ++i) {
    int32_t at = places[i].key - int32_t(pattern.low);
    WarpPattern::Stretch *last =
        pattern.stretchCount ? &pattern.stretches[pattern.stretchCount - 1] : nullptr;
    if (last && last->first + int32_t(last->bytes) == at)
      last->bytes += bytes;
    else
      pattern.stretches[pattern.stretchCount++] = {at, bytes};
  }
  uint16_t run = 0, cell = 0;
  pattern.groupCount = 0;
  for (; planes; planes &= planes - 1) {
    uint16_t plane = uint16_t(__builtin_ctz(planes)), first = run;
    for (uint32_t i = 0; i < count; ++i) {
      if (uint32_t(places[i].key) % kGranule != plane)
        continue;
      int32_t granule = places[i].key >> 4; // rounds down
      if (run == first || pattern.runs[run - 1].granule + pattern.runs[run - 1].count != granule)
        pattern.runs[run++] = {granule, 0, cell};
      ++pattern.runs[run - 1].count;
      pattern.cells[cell++] = places[i].lanes;
    }
    pattern.groups[pattern.groupCount++] = {plane, first, run};
  }
}
static_assert(kGranule == 1 << 4, "see makePattern");

__attribute__((noinline)) const WarpPattern &findPattern(WarpPatterns &patterns, uint32_t lanes,
                                                         uint32_t bytes, uint64_t base,
                                                         uint32_t low, char *const *addresses,
                                                         uint8_t &lastUsed) {
  uint64_t hash = low | uint64_t(bytes) << 8;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t lane = uint32_t(__builtin_ctz(rest));
    hash = (hash ^ (reinterpret_cast<uintptr_t>(addresses[lane]) - base + lane)) *
           0x9e3779b97f4a7c15ull;
  }
  lastUsed = uint8_t(hash >> 32) % WarpPatterns::kPatterns;
  WarpPattern &pattern = patterns.patterns[lastUsed];
  if (!hasPattern(pattern, lanes, bytes, base, low, addresses))
    makePattern(pattern, lanes, bytes, base, low, addresses);
  return pattern;
}

// ---- Keys of granules in a row ----

/// Whether all keys, without Plane::kFull, are at most `limit`.
inline bool allUpTo(const uint32_t *keys, uint32_t count, uint32_t limit) {
  if (count < 8) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; ++i)
      most = std::max(most, keys[i] & ~Plane::kFull);
    return most <= limit;
  }
  const __m256i mask = _mm256_set1_epi32(int32_t(~Plane::kFull));
  __m256i most = _mm256_and_si256(load(keys + count - 8), mask);
  for (uint32_t i = 0; i + 8 < count; i += 8)
    most = _mm256_max_epu32(most, _mm256_and_si256(load(keys + i), mask));
  const __m256i limits = _mm256_set1_epi32(int32_t(limit));
  return uint32_t(_mm256_movemask_epi8(
             _mm256_cmpeq_epi32(_mm256_max_epu32(most, limits), limits))) == ~0u;
}

inline bool allFrom(const uint32_t *keys, uint32_t count, uint32_t limit) {
  if (count < 8) {
    uint32_t least = ~0u;
    for (uint32_t i = 0; i < count; ++i)
      least = std::min(least, keys[i]);
    return least >= limit;
  }
  __m256i least = load(keys + count - 8);
  for (uint32_t i = 0; i + 8 < count; i += 8)
    least = _mm256_min_epu32(least, load(keys + i));
  const __m256i limits = _mm256_set1_epi32(int32_t(limit));
  return uint32_t(_mm256_movemask_epi8(
             _mm256_cmpeq_epi32(_mm256_min_epu32(least, limits), limits))) == ~0u;
}

inline void fill(uint32_t *keys, uint32_t count, uint32_t key) {
  if (count < 8) {
    for (uint32_t i = 0; i < count; ++i)
      keys[i] = key;
    return;
  }
  const __m256i value = _mm256_set1_epi32(int32_t(key));
  for (uint32_t i = 0; i + 8 < count; i += 8)
    store(keys + i, value);
  store(keys + count - 8, value);
}

inline void fill(Access *records, const uint32_t *lanes, uint32_t count, const Access &record) {
  const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i *>(&record));
  for (uint32_t i = 0; i < count; ++i)
    _mm_store_si128(reinterpret_cast<__m128i *>(records + i),
                    _mm_insert_epi32(all, int32_t(lanes[i]), 3));
}

// ---- Races ----

/// Accesses of one size that begin at the same byte of their granules, and the planes that hold
/// what they may conflict with.
struct PlaneView {
  uint32_t index;
  Plane plane;
};
struct Conflicts {
  const Accessor &a;
  const RaceShadow &shadow;
  uint32_t first, bytes; // in their granules
  bool withUses;         // conflict with uses, not just with writes
  uint32_t count = 0;
  PlaneView views[kGranule];

  Conflicts(const Accessor &accessor, const RaceShadow &races, uint32_t begin, uint32_t size)
      : a(accessor), shadow(races), first(begin), bytes(size),
        withUses(accessor.kind != CAMEO_SIM_READ || races.hasAtomics()) {
    for (uint32_t rest = shadow.planesOf(first, bytes); rest; rest &= rest - 1) {
      uint32_t index = uint32_t(__builtin_ctz(rest));
      views[count++] = {index, shadow.plane(index)};
    }
  }

  /// Whether all that could conflict in these granules is ordered before, by the keys alone.
  inline bool noneByKeys(size_t granule, uint32_t granules) const {
    for (uint32_t i = 0; i < count; ++i)
      if (!allUpTo(views[i].plane.writeKeys + granule, granules, a.ordered) ||
          (withUses && !allUpTo(views[i].plane.useKeys + granule, granules, a.ordered)))
        return false;
    return true;
  }

  /// The same by the records; `cells` are the lanes that access each granule.
  __attribute__((noinline)) bool noneByRecords(size_t granule, uint32_t granules,
                                               const uint32_t *cells) const {
    for (uint32_t i = 0; i < count; ++i) {
      const Plane &plane = views[i].plane;
      for (uint32_t at = 0; at < granules; ++at) {
        auto allows = [&](const Access &record, bool isWrite) {
          return first >= views[i].index + record.bytes() || !conflicts(record, isWrite, a) ||
                 isOrdered(record, a, cells[at]);
        };
        if (plane.writeKeys[granule + at] > a.ordered && !allows(plane.writes[granule + at], true))
          return false;
        if (withUses && (plane.useKeys[granule + at] & ~Plane::kFull) > a.ordered &&
            !(allows(plane.uses[0][granule + at], false) &&
              allows(plane.uses[1][granule + at], false)))
          return false;
      }
    }
    return true;
  }
};

/// Whether reads of these granules need no record. Other workers may change what is looked at here:
/// a write that comes meanwhile is their race with those who are recorded.
__attribute__((no_sanitize("thread"))) inline bool
needNoRecord(const Conflicts &conflicts, const Plane &own, size_t granule, uint32_t granules) {
  return allFrom(own.useKeys + granule, granules, conflicts.a.fullAt) &&
         conflicts.noneByKeys(granule, granules);
}

inline void record(const Conflicts &conflicts, const Plane &own, size_t granule, uint32_t granules,
                   const uint32_t *cells) {
  const Accessor &a = conflicts.a;
  uint32_t *useKeys = own.useKeys + granule;
  const bool longest = conflicts.bytes >= conflicts.shadow.longest(conflicts.first);
  if (a.kind == CAMEO_SIM_WRITE && !longest) {
    for (uint32_t i = 0; i < granules; ++i)
      recordWrite(conflicts.shadow, conflicts.first, own, granule + i, a, conflicts.bytes,
                  cells[i]);
  } else if (a.kind == CAMEO_SIM_WRITE) {
    fill(own.writes + granule, cells, granules, a.record(conflicts.bytes, 0));
    fill(own.writeKeys + granule, granules, a.key);
    fill(useKeys, granules, 0);
  } else if (longest && !conflicts.shadow.hasAtomics() && allUpTo(useKeys, granules, a.ordered)) {
    fill(own.uses[0] + granule, cells, granules, a.record(conflicts.bytes, 0));
    fill(useKeys, granules, a.key);
  } else {
    for (uint32_t i = 0; i < granules; ++i)
      recordUse(conflicts.shadow, conflicts.first, own, granule + i, a, conflicts.bytes, cells[i]);
  }
}

/// Whether the accesses race with nothing; then they are recorded. `base`: the index of the granule
/// that the pattern's distances are from; `address`: of that granule, where it must be locked.
bool checkRacesTogether(LaunchState &state, const Accessor &a, RaceShadow &shadow, size_t granules,
                        size_t base, uintptr_t address, const WarpPattern &pattern) {
  const bool locks = !a.shared && state.parallel;
  RegionLock lock(state);
  for (uint32_t g = 0; g < pattern.groupCount; ++g) {
    const WarpPattern::Group &group = pattern.groups[g];
    if (!shadow.widen(group.plane, pattern.bytes, /*atomic=*/false, granules))
      return false;
    if (locks)
      lock.hold(address + int64_t(pattern.runs[group.firstRun].granule) * kGranule);
    Conflicts conflicts(a, shadow, group.plane, pattern.bytes);
    const Plane own = shadow.plane(group.plane);
    const bool mayBeFull =
        a.kind == CAMEO_SIM_READ && pattern.bytes <= shadow.shortest(group.plane);
    for (uint32_t r = group.firstRun; r < group.endRun; ++r) {
      const WarpPattern::Run &run = pattern.runs[r];
      for (uint32_t done = 0; done < run.count;) {
        const size_t granule = base + size_t(int64_t(run.granule)) + done;
        const uint32_t *cells = pattern.cells + run.firstCell + done;
        uint32_t count = run.count - done;
        if (locks) { // as far as the region goes
          uintptr_t at = address + int64_t(run.granule + int32_t(done)) * kGranule;
          count =
              std::min(count, uint32_t(LaunchState::kRegionBytes - at % LaunchState::kRegionBytes) /
                                  kGranule);
          lock.hold(at);
        }
        if (!(mayBeFull && needNoRecord(conflicts, own, granule, count))) {
          if (!conflicts.noneByKeys(granule, count) &&
              !conflicts.noneByRecords(granule, count, cells))
            return false;
          record(conflicts, own, granule, count, cells);
        }
        done += count;
      }
    }
  }
  return true;
}

// ---- Initialisation ----

/// Whether what is read has the mark; marks what is written. `at` is the shadow of the first lane's
/// address.
inline bool checkInitTogether(uint8_t *at, const WarpPattern &pattern, bool isWrite, uint8_t mark) {
  for (uint32_t i = 0; i < pattern.stretchCount; ++i) {
    const WarpPattern::Stretch &stretch = pattern.stretches[i];
    if (isWrite)
      setMarks(at + stretch.first, stretch.bytes, mark);
    else if (!allMarked(at + stretch.first, stretch.bytes, mark))
      return false;
  }
  return true;
}

// ---- Accesses of a warp ----

bool checkSharedTogether(const Fiber &fiber, uint64_t place, const WarpPattern &pattern,
                         CameoSimAccess kind, uint32_t site) {
  const Block &block = *fiber.block;
  Worker &worker = *block.worker;
  if (worker.async.any()) // asynchronous operations are looked at lane by lane
    return false;
  const uint64_t size = worker.state->sharedBytes, first = place + uint64_t(pattern.first),
                 bytes = uint64_t(pattern.end - pattern.first);
  if (first >= size || bytes > size - first)
    return false;
  const uint64_t offset = uint64_t(block.rank) * kSharedWindow + place;
  if (worker.checks & kCheckInit && !checkInitTogether(worker.shadow.initialised.get() + offset,
                                                       pattern, kind == CAMEO_SIM_WRITE, kWritten))
    return false;
  return !(worker.checks & kCheckRace) ||
         checkRacesTogether(*worker.state, makeAccessor(fiber, /*shared=*/true, kind, site),
                            worker.shadow.races, kSharedGranules, offset / kGranule, 0, pattern);
}

bool checkGlobalTogether(const Fiber &fiber, char *address, uint32_t parameter,
                         const WarpPattern &pattern, CameoSimAccess kind, uint32_t site) {
  Worker &worker = *fiber.block->worker;
  const int64_t bytes = pattern.end - pattern.first;
  const Range *range =
      bytes >> 32 ? nullptr
                  : findRange(worker, address + pattern.first, uint32_t(bytes), parameter, site);
  if (!range || worker.async.mayTouchGlobal(address + pattern.first, address + pattern.end, kind))
    return false;
  Allocation &allocation = *range->allocation;
  if (worker.checks & kCheckInit && allocation.initialised &&
      !checkInitTogether(allocation.initialised + (address - allocation.begin), pattern,
                         kind == CAMEO_SIM_WRITE, range->mark))
    return false;
  if (!(worker.checks & kCheckRace))
    return true;
  if (kind == CAMEO_SIM_WRITE && !allocation.kernelWritten.load(std::memory_order_relaxed))
    allocation.kernelWritten.store(true, std::memory_order_relaxed);
  const uintptr_t granule = reinterpret_cast<uintptr_t>(address) / kGranule;
  return !worker.state->records(*range) ||
         checkRacesTogether(*worker.state, makeAccessor(fiber, /*shared=*/false, kind, site),
                            allocation.races, allocation.granules(),
                            granule - allocation.firstGranule(), granule * kGranule, pattern);
}

/// Whether all is well. If not, or if that would take a closer look, what has been recorded is what
/// the lanes one by one would record first, too.
bool checkTogether(const Fiber &fiber, uint32_t lanes, char *const *addresses,
                   const CameoSimAccessSite &access, PatternLookup &lookup) {
  const Block &block = *fiber.block;
  Worker &worker = *block.worker;
  if (access.kind == CAMEO_SIM_ATOMIC || (access.space & 0xff) == 7 ||
      (block.clocks && block.clocks->warp[fiber.warp->clock].partial))
    return false;
  char *const begin = addresses[__builtin_ctz(lanes)], *const first = begin + access.offset;
  const uint64_t base = reinterpret_cast<uintptr_t>(first);
  const WarpPattern &pattern =
      lookup.find(*worker.patterns, access, lanes, reinterpret_cast<uintptr_t>(begin),
                  base % kGranule, addresses);
  const auto kind = static_cast<CameoSimAccess>(access.kind);
  if (!pattern.regular || (kind == CAMEO_SIM_WRITE && !pattern.disjoint) ||
      (access.alignment && (pattern.bits | base) & (access.alignment - 1)))
    return false;
  if ((access.space & 0xff) == 3)
    return checkSharedTogether(fiber, uint64_t(first - fiber.thread.shared), pattern, kind,
                               access.site);
  return checkGlobalTogether(fiber, first, access.space >> 8, pattern, kind, access.site);
}

} // namespace

const WarpPattern &PatternLookup::find(WarpPatterns &patterns, const CameoSimAccessSite &access,
                                       uint32_t lanes, uint64_t base, uint32_t low,
                                       char *const *addresses) {
  if (pattern && row == access.row && pattern->lanes == lanes && pattern->bytes == access.bytes &&
      pattern->low == low)
    return *pattern;
  uint8_t &lastUsed = patterns.bySite[access.site % WarpPatterns::kSites][low / 2];
  pattern = &patterns.patterns[lastUsed];
  row = access.row;
  if (!hasPattern(*pattern, lanes, access.bytes, base, low, addresses))
    pattern = &findPattern(patterns, lanes, access.bytes, base, low, addresses, lastUsed);
  return *pattern;
}

bool checkAccessOfWarp(const Fiber &fiber, uint32_t lanes, char *const *addresses,
                       const CameoSimAccessSite &access, PatternLookup &lookup) {
  if (access.bytes <= kGranule || access.bytes % kGranule)
    return checkTogether(fiber, lanes, addresses, access, lookup);
  CameoSimAccessSite part = access;
  part.bytes = kGranule;
  for (uint32_t done = 0; done < access.bytes; done += kGranule, part.offset += kGranule) {
    if (!checkTogether(fiber, lanes, addresses, part, lookup))
      return false;
    part.alignment = std::min(part.alignment, kGranule);
  }
  return true;
}

} // namespace cameo::sim
