// How often which magnitudes occur in a tensor, over any number of runs, in fixed memory.
//
// Bins are steps of the float's own bits: each octave [2^e, 2^(e+1)) has 1024 of equal width, and
// the sixteen octaves below the largest magnitude have bins; smaller magnitudes and zeros share
// bin 0. So a bin is never wider than 0.1 % of its numbers, however far outliers reach, and the top
// octave's bins are the last half of 2048 equal ones from zero. A larger magnitude moves the
// octaves up, and the lowest into bin 0. All of this depends on the set of values alone, and counts
// are integers: the order, the batches and the threads in which values come make no difference.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace cameo {

/// The layout that Tally and Histogram share: bin 1 has floats whose bits, without the low
/// kDroppedBits, are `first`, the next those of first + 1, and so on.
namespace magnitude {
inline constexpr unsigned kStepBits = 10, kDroppedBits = 23 - kStepBits;
inline constexpr uint32_t kSteps = 1u << kStepBits, kOctaves = 16;
inline constexpr uint32_t kBins = 1 + kOctaves * kSteps;
/// Of nothing but zeros, and of magnitudes up to 2^-111: octaves of normal numbers only.
inline constexpr uint32_t kLeastFirst = 1 << kStepBits;
} // namespace magnitude

/// What kernels count of a tensor, in the same bins (Histograms.mlir): words of 32 bits, as many as
/// a bin has elements among them.
struct MagnitudeWords {
  /// The least and the largest key of finite elements, and how many are not finite.
  static constexpr uint32_t kLeast = 0, kMost = 1, kNonFinite = 2;
  static constexpr uint32_t kFirstBin = 3, kSize = kFirstBin + magnitude::kBins;
};

/// Counts of one thread: the part that is fast.
class Tally {
public:
  /// `portable` keeps it from using AVX2 where the processor has it; the counts are the same.
  explicit Tally(bool portable = false);

  /// At most kMostValues until a histogram takes them.
  void add(llvm::ArrayRef<float> values);
  static constexpr size_t kMostValues = size_t(1) << 31;

private:
  friend class Histogram;

  // Values of bin 0 are counted by their position, so that many zeros in a row do not wait for one
  // another's increments.
  static constexpr uint32_t kLanes = 8;
  static constexpr size_t kChunk = 4096;
  struct Extent;
  void addChunk(const float *values, size_t count);
  void raise(uint32_t newFirst);
  void clear();

  bool usesAvx2;
  uint32_t first = magnitude::kLeastFirst;
  /// Of the least and the largest value: their bits, made comparable as integers.
  int32_t leastKey, mostKey;
  uint64_t nonFinite = 0;
  std::vector<uint32_t> counts;
};

/// A histogram to look at: quarters of octaves.
struct CoarseHistogram {
  static constexpr unsigned kSteps = 4; // an octave, of equal width
  /// What is smaller than the first step, zeros too, and each step up to the magnitude 2^end.
  std::vector<uint64_t> counts; // empty: it is not known
  int end = 0;
};

class Histogram {
public:
  /// Takes what a tally has counted, and empties it.
  void take(Tally &tally);
  /// Takes what kernels have counted of a tensor of fewer than 2^32 elements: MagnitudeWords.
  void take(llvm::ArrayRef<uint32_t> words);
  void add(const Histogram &other);

  /// Of finite values; the others are counted apart and nowhere else.
  uint64_t count() const { return finite; }
  uint64_t nonFiniteCount() const { return nonFinite; }
  /// The least and the largest value, and the largest magnitude; 0 while there is no value.
  float least() const { return finite ? leastValue : 0.0f; }
  float most() const { return finite ? mostValue : 0.0f; }
  float magnitude() const { return std::max(-least(), most()); }

  /// kBins, or none while there is no value.
  llvm::ArrayRef<uint64_t> counts() const { return bins; }
  /// Where a bin begins; it ends where the next one begins. 0 <= bin <= kBins.
  double edge(uint32_t bin) const;
  /// The bin of a magnitude; kBins for what is beyond all of them.
  uint32_t binOf(double magnitude) const;
  /// Without the empty steps below the first magnitude that occurs.
  CoarseHistogram coarse() const;

private:
  void raise(uint32_t newFirst);
  void widen(float least, float most, uint64_t count);

  uint32_t first = magnitude::kLeastFirst;
  float leastValue = 0, mostValue = 0;
  uint64_t finite = 0, nonFinite = 0;
  std::vector<uint64_t> bins;
};

} // namespace cameo
