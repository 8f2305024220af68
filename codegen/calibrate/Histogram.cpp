// Counting magnitudes by the bits of floats.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/Histogram.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace cameo;
using namespace cameo::magnitude;
using llvm::ArrayRef;

static constexpr int32_t kMagnitudeBits = 0x7fffffff, kInfinity = 0x7f800000;

/// Orders the bits of floats as integers; its own inverse.
static int32_t ordered(int32_t bits) { return bits ^ ((bits >> 31) & kMagnitudeBits); }

static float valueOf(int32_t key) {
  int32_t bits = ordered(key);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value + 0.0f; // no -0
}

/// `first` of values up to a magnitude.
static uint32_t firstFor(int32_t magnitudeBits) {
  uint32_t octave = uint32_t(magnitudeBits) >> 23;
  return std::max(octave < kOctaves ? 0 : (octave - (kOctaves - 1)) << kStepBits, kLeastFirst);
}

/// Moves the counts of bins so that `by` of them fall into bin 0.
template <typename Count> static void shift(Count *bins, uint32_t by) {
  uint32_t gone = std::min(by, kBins - 1);
  bins[0] = std::accumulate(bins + 1, bins + 1 + gone, bins[0]);
  std::memmove(bins + 1, bins + 1 + gone, (kBins - 1 - gone) * sizeof(Count));
  std::fill(bins + kBins - gone, bins + kBins, Count(0));
}

//===-- Loops ---------------------------------------------------------------------------------===//
// Written once, compiled twice.

struct Tally::Extent {
  int32_t least, most, magnitude;
};

namespace {

[[gnu::always_inline]] inline int32_t bitsAt(const float *values, size_t i) {
  int32_t bits;
  std::memcpy(&bits, values + i, sizeof bits);
  return bits;
}

template <typename Extent>
[[gnu::always_inline]] inline Extent extentBody(const float *values, size_t count) {
  Extent extent = {INT32_MAX, INT32_MIN, 0};
  for (size_t i = 0; i < count; ++i) {
    int32_t bits = bitsAt(values, i), key = ordered(bits);
    extent.magnitude = std::max(extent.magnitude, bits & kMagnitudeBits);
    extent.least = std::min(extent.least, key);
    extent.most = std::max(extent.most, key);
  }
  return extent;
}

/// The bins of a whole block, then their counts: bins that never leave vector registers are taken
/// out of them one by one, each into the same register, and counting takes ten times as long by
/// that (clang's -O3 on AMD's Zen 4).
template <int32_t lanes>
[[gnu::always_inline]] inline void countBody(const float *values, size_t count, uint32_t first,
                                             uint32_t *counts) {
  const int32_t base = int32_t(first) - lanes;
  constexpr size_t block = 512;
  uint16_t slots[block];
  static_assert(kBins + lanes <= UINT16_MAX);
  for (size_t begin = 0; begin < count; begin += block) {
    size_t size = std::min(block, count - begin);
    for (size_t i = 0; i < size; ++i) {
      int32_t step = (bitsAt(values, begin + i) & kMagnitudeBits) >> kDroppedBits;
      slots[i] = uint16_t(std::max(step - base, int32_t(i % lanes)));
    }
    for (size_t i = 0; i < size; ++i)
      ++counts[slots[i]];
  }
}

#ifdef __x86_64__
template <typename Extent>
[[gnu::target("avx2")]] Extent extentAvx2(const float *values, size_t count) {
  return extentBody<Extent>(values, count);
}
template <int32_t lanes>
[[gnu::target("avx2")]] void countAvx2(const float *values, size_t count, uint32_t first,
                                       uint32_t *counts) {
  countBody<lanes>(values, count, first, counts);
}
bool hasAvx2() { return __builtin_cpu_supports("avx2"); }
#else
template <typename Extent> Extent extentAvx2(const float *values, size_t count) {
  return extentBody<Extent>(values, count);
}
template <int32_t lanes>
void countAvx2(const float *values, size_t count, uint32_t first, uint32_t *counts) {
  countBody<lanes>(values, count, first, counts);
}
bool hasAvx2() { return false; }
#endif

} // namespace

//===-- Tally ---------------------------------------------------------------------------------===//

Tally::Tally(bool portable) : usesAvx2(!portable && hasAvx2()), counts(kLanes - 1 + kBins) {
  clear();
}

void Tally::clear() {
  first = kLeastFirst;
  leastKey = INT32_MAX;
  mostKey = INT32_MIN;
  nonFinite = 0;
  std::fill(counts.begin(), counts.end(), 0u);
}

void Tally::raise(uint32_t newFirst) {
  // Slots of bin 0 before the last are none that bins move to.
  shift(counts.data() + kLanes - 1, newFirst - first);
  first = newFirst;
}

void Tally::add(ArrayRef<float> values) {
  for (; !values.empty(); values = values.drop_front(std::min(kChunk, values.size())))
    addChunk(values.data(), std::min(kChunk, values.size()));
}

void Tally::addChunk(const float *values, size_t count) {
  Extent extent = usesAvx2 ? extentAvx2<Extent>(values, count) : extentBody<Extent>(values, count);
  if (extent.magnitude >= kInfinity) {
    float rest[kChunk];
    float *end =
        std::copy_if(values, values + count, rest, [](float x) { return std::isfinite(x); });
    nonFinite += count - size_t(end - rest);
    if (end != rest)
      addChunk(rest, size_t(end - rest));
    return;
  }
  leastKey = std::min(leastKey, extent.least);
  mostKey = std::max(mostKey, extent.most);
  if (uint32_t needed = firstFor(extent.magnitude); needed > first)
    raise(needed);
  if (usesAvx2)
    countAvx2<kLanes>(values, count, first, counts.data());
  else
    countBody<kLanes>(values, count, first, counts.data());
}

//===-- Histogram -----------------------------------------------------------------------------===//

void Histogram::raise(uint32_t newFirst) {
  if (bins.empty())
    bins.resize(kBins);
  if (newFirst > first) {
    shift(bins.data(), newFirst - first);
    first = newFirst;
  }
}

void Histogram::widen(float least, float most, uint64_t count) {
  leastValue = finite ? std::min(leastValue, least) : least;
  mostValue = finite ? std::max(mostValue, most) : most;
  finite += count;
}

void Histogram::take(Tally &tally) {
  uint64_t taken = std::accumulate(tally.counts.begin(), tally.counts.end(), uint64_t(0));
  assert(taken <= Tally::kMostValues && "counts of a tally have 32 bits");
  if (taken) {
    raise(tally.first);
    if (first > tally.first)
      tally.raise(first);
    bins[0] +=
        std::accumulate(tally.counts.begin(), tally.counts.begin() + Tally::kLanes, uint64_t(0));
    for (uint32_t bin = 1; bin < kBins; ++bin)
      bins[bin] += tally.counts[Tally::kLanes - 1 + bin];
    widen(valueOf(tally.leastKey), valueOf(tally.mostKey), taken);
  }
  nonFinite += tally.nonFinite;
  tally.clear();
}

void Histogram::take(ArrayRef<uint32_t> words) {
  assert(words.size() == MagnitudeWords::kSize && "kernels count in the same bins");
  int32_t least = int32_t(words[MagnitudeWords::kLeast]);
  int32_t most = int32_t(words[MagnitudeWords::kMost]);
  Histogram counted;
  counted.nonFinite = words[MagnitudeWords::kNonFinite];
  ArrayRef<uint32_t> counts = words.drop_front(MagnitudeWords::kFirstBin);
  counted.bins.assign(counts.begin(), counts.end());
  counted.finite = std::accumulate(counts.begin(), counts.end(), uint64_t(0));
  if (counted.finite) {
    counted.leastValue = valueOf(least);
    counted.mostValue = valueOf(most);
    // Of a negative key the complement has the magnitude's bits.
    counted.first = firstFor(std::max(most, ~least));
  }
  add(counted);
}

void Histogram::add(const Histogram &other) {
  nonFinite += other.nonFinite;
  if (!other.finite)
    return;
  raise(other.first);
  std::vector<uint64_t> moved = other.bins;
  shift(moved.data(), first - other.first);
  for (uint32_t bin = 0; bin < kBins; ++bin)
    bins[bin] += moved[bin];
  widen(other.leastValue, other.mostValue, other.finite);
}

double Histogram::edge(uint32_t bin) const {
  assert(bin <= kBins && "no such bin");
  if (bin == 0)
    return 0.0;
  uint32_t step = first + bin - 1;
  int exponent = int(step >> kStepBits) - 127;
  return std::ldexp(1.0 + double(step % kSteps) / kSteps, exponent);
}

uint32_t Histogram::binOf(double magnitude) const {
  // A double has the same steps, with another bias of its exponent.
  uint64_t bits;
  std::memcpy(&bits, &magnitude, sizeof bits);
  constexpr int64_t bias = int64_t(1023 - 127) << kStepBits;
  int64_t step = int64_t(bits >> (52 - kStepBits)) - bias;
  return uint32_t(std::clamp<int64_t>(step - int64_t(first) + 1, 0, kBins));
}

CoarseHistogram Histogram::coarse() const {
  constexpr uint32_t width = kSteps / CoarseHistogram::kSteps;
  CoarseHistogram result;
  result.end = int(first >> kStepBits) + int(kOctaves) - 127;
  if (bins.empty())
    return result;
  result.counts.push_back(bins[0]);
  for (auto step = bins.begin() + 1; step != bins.end(); step += width) {
    uint64_t count = std::accumulate(step, step + width, uint64_t(0));
    if (count || result.counts.size() > 1)
      result.counts.push_back(count);
  }
  return result;
}
