// The checks of a warp's accesses together. They pass in few steps what is beyond doubt; whatever
// is not, is left to the check of single accesses (checks.cpp), lane by lane, which does the
// reporting. So both find the same.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/warp_checks.h"
#include "runtime/sim/barrier_interval.h"
#include "runtime/sim/races.h"

#include <algorithm>
#include <cstring>
#include <immintrin.h>

namespace cameo::sim {
namespace {

// ---- Patterns ----

inline __m256i load(const void *at) { return _mm256_loadu_si256(static_cast<const __m256i *>(at)); }
inline void store(void *at, __m256i value) {
  _mm256_storeu_si256(static_cast<__m256i *>(at), value);
}

/// Of 32 bytes, those that are 1 and not 0.
inline uint32_t maskOf(const uint8_t *lanes) {
  return uint32_t(_mm256_movemask_epi8(_mm256_slli_epi16(load(lanes), 7)));
}

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

/// Whether addresses lie from `from` as the distances say; `takesPart`: -1 or 0 by lane, null: all
/// lanes do.
inline bool lieLike(const int64_t *distances, const int64_t *takesPart, __m256i from,
                    char *const *addresses) {
  __m256i odd = _mm256_setzero_si256();
  for (uint32_t i = 0; i < kLanes; i += 4) {
    __m256i off =
        _mm256_xor_si256(_mm256_sub_epi64(load(addresses + i), from), load(distances + i));
    odd = _mm256_or_si256(odd, takesPart ? _mm256_and_si256(off, load(takesPart + i)) : off);
  }
  return _mm256_testz_si256(odd, odd);
}

bool hasPattern(const WarpPattern &pattern, uint32_t lanes, uint32_t bytes, uint64_t base,
                uint32_t low, char *const *addresses) {
  if (pattern.lanes != lanes || pattern.bytes != bytes || pattern.low != low)
    return false;
  const __m256i from = _mm256_set1_epi64x(int64_t(base));
  return lanes == ~0u ? lieLike(pattern.distances, nullptr, from, addresses)
                      : lieLike(pattern.distances, pattern.takesPart, from, addresses);
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

// Workers set bytes of global memory's shadow at the same time, always to 1.

__attribute__((no_sanitize("thread"))) inline bool allOnes(const uint8_t *at, uint32_t count) {
  if (count >= 32) {
    __m256i all = load(at + count - 32);
    for (uint32_t i = 0; i + 32 < count; i += 32)
      all = _mm256_and_si256(all, load(at + i));
    return uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_set1_epi8(1)))) == ~0u;
  }
  if (count == 16) {
    __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i *>(at));
    return _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8(1))) == 0xffff;
  }
  if (count == 4) {
    uint32_t all;
    memcpy(&all, at, sizeof all);
    return all == 0x01010101u;
  }
  uint8_t all = 1;
  for (uint32_t i = 0; i < count; ++i)
    all &= at[i];
  return all;
}

__attribute__((no_sanitize("thread"))) inline void setOnes(uint8_t *at, uint32_t count) {
  const __m256i ones = _mm256_set1_epi8(1);
  if (count >= 32) {
    for (uint32_t i = 0; i + 32 < count; i += 32)
      store(at + i, ones);
    store(at + count - 32, ones);
  } else if (count == 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(at), _mm256_castsi256_si128(ones));
  } else if (count == 4) {
    memset(at, 1, 4);
  } else {
    for (uint32_t i = 0; i < count; ++i)
      at[i] = 1;
  }
}

/// Whether what is read has been written; marks what is written. `at` is the shadow of the first
/// lane's address.
inline bool checkInitTogether(uint8_t *at, const WarpPattern &pattern, bool isWrite) {
  for (uint32_t i = 0; i < pattern.stretchCount; ++i) {
    const WarpPattern::Stretch &stretch = pattern.stretches[i];
    if (isWrite)
      setOnes(at + stretch.first, stretch.bytes);
    else if (!allOnes(at + stretch.first, stretch.bytes))
      return false;
  }
  return true;
}

// ---- Intervals between barriers ----

/// One byte a word, of `count` words: whether one of them is a or b.
inline bool hasAny(const uint8_t *at, uint32_t count, uint8_t a, uint8_t b) {
  if (count >= 32) {
    const __m256i as = _mm256_set1_epi8(char(a)), bs = _mm256_set1_epi8(char(b));
    auto compare = [&](const uint8_t *from) {
      const __m256i tags = load(from);
      return _mm256_or_si256(_mm256_cmpeq_epi8(tags, as), _mm256_cmpeq_epi8(tags, bs));
    };
    __m256i found = compare(at + count - 32);
    for (uint32_t i = 0; i + 32 < count; i += 32)
      found = _mm256_or_si256(found, compare(at + i));
    return !_mm256_testz_si256(found, found);
  }
  // The tags have room behind them.
  const __m256i tags = load(at);
  const __m256i found = _mm256_or_si256(_mm256_cmpeq_epi8(tags, _mm256_set1_epi8(char(a))),
                                        _mm256_cmpeq_epi8(tags, _mm256_set1_epi8(char(b))));
  return uint32_t(_mm256_movemask_epi8(found)) & ((1u << count) - 1);
}

inline void setAll(uint8_t *at, uint32_t count, uint8_t value) {
  const __m256i values = _mm256_set1_epi8(char(value));
  if (count >= 32) {
    for (uint32_t i = 0; i + 32 < count; i += 32)
      store(at + i, values);
    store(at + count - 32, values);
  } else if (count >= 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(at), _mm256_castsi256_si128(values));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(at + count - 16), _mm256_castsi256_si128(values));
  } else if (count >= 8) {
    _mm_storeu_si64(at, _mm256_castsi256_si128(values));
    _mm_storeu_si64(at + count - 8, _mm256_castsi256_si128(values));
  } else if (count >= 4) {
    _mm_storeu_si32(at, _mm256_castsi256_si128(values));
    _mm_storeu_si32(at + count - 4, _mm256_castsi256_si128(values));
  } else {
    for (uint32_t i = 0; i < count; ++i)
      at[i] = value;
  }
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
                                                       pattern, kind == CAMEO_SIM_WRITE))
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
                         kind == CAMEO_SIM_WRITE))
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

/// The pattern of one access may be that of the next.
struct PatternLookup {
  const WarpPattern *pattern = nullptr;
  uint32_t row = 0;

  const WarpPattern &find(WarpPatterns &patterns, const CameoSimAccessSite &access, uint32_t lanes,
                          uint64_t base, uint32_t low, char *const *addresses) {
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
};

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

/// Vectors that are wider than an instruction's access are several.
bool checkInParts(const Fiber &fiber, uint32_t lanes, char *const *addresses,
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

/// Checks an access of a warp as exactly as can be. `replace`: is told of lanes that are to access
/// another address.
template <typename Replace>
void checkClosely(Fiber *fibers, uint32_t lanes, char *const *row, const CameoSimAccessSite &access,
                  PatternLookup &lookup, Replace replace) {
  if (checkInParts(*fibers, lanes, row, access, lookup))
    return;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t lane = uint32_t(__builtin_ctz(rest));
    char *address = row[lane] + access.offset;
    char *checked =
        static_cast<char *>(checkAccess(&fibers[lane].thread, address, access.bytes,
                                        access.alignment, access.space, access.kind, access.site));
    if (checked != address)
      replace(lane, checked);
  }
}

/// Where the lanes access global memory at most, from the first one's address on.
struct Extent {
  int64_t first, last; // addresses
  uint64_t bits;       // of all distances
};

inline __m256i least(__m256i a, __m256i b) {
  return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
}
inline __m256i most(__m256i a, __m256i b) {
  return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a));
}

/// `takesPart`: a byte a lane, 1 or 0; null: all of them do.
Extent extentOf(char *const *addresses, const uint8_t *takesPart, const char *base) {
  const __m256i from = _mm256_set1_epi64x(int64_t(reinterpret_cast<uintptr_t>(base)));
  __m256i low = from, high = from, bits = _mm256_setzero_si256();
  for (uint32_t i = 0; i < kLanes; i += 4) {
    __m256i at = load(addresses + i);
    if (takesPart) {
      int32_t four;
      memcpy(&four, takesPart + i, sizeof four);
      const __m256i part =
          _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four)));
      at = _mm256_blendv_epi8(from, at, part);
    }
    low = least(low, at);
    high = most(high, at);
    bits = _mm256_or_si256(bits, _mm256_sub_epi64(at, from));
  }
  alignas(32) int64_t lows[4], highs[4];
  alignas(32) uint64_t all[4];
  store(lows, low);
  store(highs, high);
  store(all, bits);
  return {std::min(std::min(lows[0], lows[1]), std::min(lows[2], lows[3])),
          std::max(std::max(highs[0], highs[1]), std::max(highs[2], highs[3])),
          all[0] | all[1] | all[2] | all[3]};
}

/// The accesses of a group at once; false: they take a closer look. `row`: addresses.
bool checkGroup(Fiber *fibers, AccessGroup &group, const CameoSimAccessSite *accesses,
                uint32_t lanes, const uint8_t *takesPart, char *const *row) {
  Worker &worker = *fibers->block->worker;
  const CameoSimAccessSite &access = accesses[group.first];
  char *const base = row[__builtin_ctz(lanes)];
  const uint32_t space = access.space & 0xff;
  if (space == 1) {
    const Extent extent = extentOf(row, takesPart, base);
    const uint64_t bits = extent.bits | group.bits | reinterpret_cast<uintptr_t>(base);
    const int64_t bytes = extent.last + group.high - (extent.first + group.low);
    if (bytes >> 32 || (access.alignment && bits & (access.alignment - 1)))
      return false;
    const Range *range = findRange(worker, reinterpret_cast<const char *>(extent.first + group.low),
                                   uint32_t(bytes), access.space >> 8, access.site);
    if (!range)
      return false;
    return access.kind == CAMEO_SIM_READ && (range->initialised || !(worker.checks & kCheckInit)) &&
           (range->readOnly || !(worker.checks & kCheckRace));
  }
  BarrierInterval &interval = worker.interval;
  if (space != 3 || !interval.isOpen() || access.kind == CAMEO_SIM_ATOMIC)
    return false;
  const Footprint *footprint = worker.plans.find(group, accesses, lanes, row);
  if (__builtin_expect(!footprint, 0)) {
    settleRaces(worker);
    worker.plans.forget();
    return false;
  }
  const uint64_t bits = footprint->bits | reinterpret_cast<uintptr_t>(base);
  const bool isWrite = access.kind == CAMEO_SIM_WRITE;
  if (!footprint->usable || (isWrite && !footprint->apart) ||
      (access.alignment && bits & (access.alignment - 1)) ||
      reinterpret_cast<uintptr_t>(base) % kWord)
    return false;
  const int64_t place = base - fibers->thread.shared, first = place + footprint->first,
                end = place + footprint->end;
  if (first < 0 || end > int64_t(worker.state->sharedBytes))
    return false;
  if (!(worker.checks & (kCheckInit | kCheckRace)))
    return true;
  if (!(isWrite ? interval.write(*footprint, uint32_t(place))
                : interval.read(*footprint, uint32_t(place))))
    return false;
  if (worker.checks & kCheckRace) {
    auto &noted = interval.noted();
    if (noted.size() == BarrierInterval::kMaxNoted)
      settleRaces(worker);
    noted.push_back({fibers, accesses + group.first, footprint, base, group.count});
  }
  return true;
}

} // namespace

bool liesLike(const Footprint &footprint, uint32_t lanes, char *const *addresses) {
  if (footprint.lanes != lanes)
    return false;
  const __m256i from =
      _mm256_set1_epi64x(int64_t(reinterpret_cast<uintptr_t>(addresses[__builtin_ctz(lanes)])));
  return lanes == ~0u ? lieLike(footprint.distances, nullptr, from, addresses)
                      : lieLike(footprint.distances, footprint.takesPart, from, addresses);
}

bool BarrierInterval::read(const Footprint &footprint, uint32_t place) {
  const uint32_t word = place / kWord;
  const Footprint::Run *runs = footprint.runs.data();
  const uint32_t singles = footprint.singles, count = uint32_t(footprint.runs.size());
  bool doubtful = false;
  for (uint32_t i = 0; i < singles; ++i) {
    const uint32_t at = word + uint32_t(runs[i].word);
    doubtful |= hasAny(&writes_[at], runs[i].count, racing_, unknown_);
    setAll(&reads_[at], runs[i].count, now_);
  }
  for (uint32_t i = singles; i < count; ++i) {
    const uint32_t at = word + uint32_t(runs[i].word);
    const uint8_t tag = writes_[at];
    doubtful |= tag == racing_ || tag == unknown_;
    reads_[at] = now_;
  }
  return __builtin_expect(!doubtful, 1) || (initialised_ && findInitialised(footprint, word));
}

bool BarrierInterval::write(const Footprint &footprint, uint32_t place) {
  const uint32_t word = place / kWord;
  const Footprint::Run *runs = footprint.runs.data();
  const uint32_t singles = footprint.singles, count = uint32_t(footprint.runs.size());
  bool races = false;
  for (uint32_t i = 0; i < singles; ++i) {
    const uint32_t at = word + uint32_t(runs[i].word);
    races |= hasAny(&writes_[at], runs[i].count, racing_, racing_) ||
             hasAny(&reads_[at], runs[i].count, racing_, racing_);
    setAll(&writes_[at], runs[i].count, now_);
    if (initialised_)
      setOnes(initialised_ + at * kWord, runs[i].count * kWord);
  }
  for (uint32_t i = singles; i < count; ++i) {
    const uint32_t at = word + uint32_t(runs[i].word);
    races |= writes_[at] == racing_ || reads_[at] == racing_;
    writes_[at] = now_;
    if (initialised_)
      setOnes(initialised_ + at * kWord, kWord);
  }
  return !races;
}

void settleRaces(Worker &worker) {
  BarrierInterval &interval = worker.interval;
  interval.close();
  const uint32_t checks = worker.checks;
  worker.checks = kCheckRace;
  for (const BarrierInterval::Noted &noted : interval.noted()) {
    char *addresses[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      addresses[lane] = noted.base + noted.footprint->distances[lane];
    PatternLookup lookup;
    for (uint32_t i = 0; i < noted.count; ++i)
      checkClosely(noted.warp, noted.footprint->lanes, addresses, noted.accesses[i], lookup,
                   [](uint32_t, char *) {});
  }
  interval.noted().clear();
  worker.checks = checks;
}

uint32_t checkWarpAccesses(CameoSimThread *thread, const CameoSimAccessSite *accesses,
                           uint32_t count, char *const *addresses, const uint8_t *lanes,
                           char **allowed) {
  Fiber *fibers = reinterpret_cast<Fiber *>(thread);
  Worker &worker = *fibers->block->worker;
  if (!(worker.checks & kCheckMemory))
    return 0;
  bool any = false;
  PatternLookup lookup;
  AccessPlan &plan = worker.plans.find(accesses, count);
  for (AccessGroup &group : plan.groups) {
    const CameoSimAccessSite &first = accesses[group.first];
    const uint8_t *takesPart =
        first.lanes_row == CAMEO_SIM_ALL_LANES ? nullptr : lanes + kLanes * first.lanes_row;
    const uint32_t takePart = takesPart ? maskOf(takesPart) : ~0u;
    char *const *row = addresses + kLanes * first.row;
    if (!takePart || checkGroup(fibers, group, accesses, takePart, takesPart, row))
      continue;
    if ((first.space & 0xff) != 1 && worker.checks & kCheckRace && worker.interval.isOpen())
      settleRaces(worker);
    for (uint32_t i = group.first; i < group.first + group.count; ++i)
      checkClosely(fibers, takePart, row, accesses[i], lookup, [&](uint32_t lane, char *checked) {
        for (uint32_t j = 0; !any && j < count * kLanes; ++j) {
          const CameoSimAccessSite &other = accesses[j / kLanes];
          allowed[j] = addresses[kLanes * other.row + j % kLanes] + other.offset;
        }
        any = true;
        allowed[i * kLanes + lane] = checked;
      });
  }
  return any;
}

} // namespace cameo::sim
