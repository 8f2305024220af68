// Calls of CameoSimApi::warp_access, group by group: at once where nothing of the group can be at
// fault, else access by access (warp_checks.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/rows.h"
#include "runtime/sim/exec/worker.h"

#include <algorithm>

namespace cameo::sim {
namespace {

// ---- Intervals between barriers ----

/// One byte per word, of `count` words: whether one of them is a or b.
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

// ---- Groups of accesses ----

/// Checks an access of a warp as exactly as can be. `replace`: is called for lanes that are to access
/// another address.
template <typename Replace>
void checkClosely(Fiber *fibers, uint32_t lanes, char *const *row, const CameoSimAccessSite &access,
                  PatternLookup &lookup, Replace replace) {
  if (checkAccessOfWarp(*fibers, lanes, row, access, lookup))
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

/// `takesPart`: one byte per lane, 1 or 0; null: all of them do.
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
  BarrierEpoch &epoch = worker.epoch;
  if (space != 3 || !epoch.isOpen() || access.kind == CAMEO_SIM_ATOMIC)
    return false;
  const Footprint *footprint = worker.plans.find(group, accesses, lanes, row);
  if (__builtin_expect(!footprint, 0)) {
    flushDeferred(worker);
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
  if (!(isWrite ? epoch.write(*footprint, uint32_t(place))
                : epoch.read(*footprint, uint32_t(place))))
    return false;
  if (worker.checks & kCheckRace) {
    auto &deferred = epoch.deferred();
    if (deferred.size() == BarrierEpoch::kMaxDeferred)
      flushDeferred(worker);
    deferred.push_back({fibers, accesses + group.first, footprint, base, group.count});
  }
  return true;
}

} // namespace

bool liesLike(const Footprint &footprint, uint32_t lanes, char *const *addresses) {
  if (footprint.lanes != lanes)
    return false;
  const __m256i from =
      _mm256_set1_epi64x(int64_t(reinterpret_cast<uintptr_t>(addresses[__builtin_ctz(lanes)])));
  return lanes == ~0u ? haveDistances(footprint.distances, nullptr, from, addresses)
                      : haveDistances(footprint.distances, footprint.takesPart, from, addresses);
}

bool BarrierEpoch::read(const Footprint &footprint, uint32_t place) {
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

bool BarrierEpoch::write(const Footprint &footprint, uint32_t place) {
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
      setMarks(initialised_ + at * kWord, runs[i].count * kWord, kWritten);
  }
  for (uint32_t i = singles; i < count; ++i) {
    const uint32_t at = word + uint32_t(runs[i].word);
    races |= writes_[at] == racing_ || reads_[at] == racing_;
    writes_[at] = now_;
    if (initialised_)
      setMarks(initialised_ + at * kWord, kWord, kWritten);
  }
  return !races;
}

void flushDeferred(Worker &worker) {
  BarrierEpoch &epoch = worker.epoch;
  epoch.close();
  const uint32_t checks = worker.checks;
  worker.checks = kCheckRace;
  for (const BarrierEpoch::Deferred &access : epoch.deferred()) {
    char *addresses[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      addresses[lane] = access.base + access.footprint->distances[lane];
    PatternLookup lookup;
    for (uint32_t i = 0; i < access.count; ++i)
      checkClosely(access.warp, access.footprint->lanes, addresses, access.accesses[i], lookup,
                   [](uint32_t, char *) {});
  }
  epoch.deferred().clear();
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
    if ((first.space & 0xff) != 1 && worker.checks & kCheckRace && worker.epoch.isOpen())
      flushDeferred(worker);
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
