// From how often magnitudes occur to the threshold at which quantisation to 8 bits clips: the
// magnitude that becomes 127, or a little less, since scales are rounded up.
//
// All arithmetic is in doubles and in a fixed order, without functions of the C library that differ
// between its versions: a histogram has one threshold by each method on every machine.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/Histogram.h"
#include "passes/precision/QuantizedValue.h"

#include "llvm/Support/Error.h"

#include <array>
#include <string>

namespace cameo {

struct CalibrationMethod {
  enum Kind { Max, Entropy, Percentile, Mse, Best };
  /// The kinds that follow from a histogram: all but Best, which is the last one.
  static constexpr std::array<Kind, Best> kSingle = {Max, Entropy, Percentile, Mse};
  static_assert(kSingle.back() == Best - 1, "each kind is its own index in kSingle");
  static llvm::StringRef name(Kind kind);

  Kind kind = Mse;
  double percent = 99.99; // of Percentile: above 0, at most 100

  /// "max", "entropy", "percentile", "percentile:99.9", "mse", "best".
  static llvm::Expected<CalibrationMethod> parse(llvm::StringRef text);
};

/// What quantisation with a threshold costs, by the distribution of magnitudes alone. Within a bin
/// they are taken to be spread evenly.
class QuantizationError {
public:
  explicit QuantizationError(const Histogram &histogram);

  /// The mean of squared differences between values and what they become; 0 of no values.
  double operator()(double threshold) const;
  /// The part that values beyond the threshold have in it.
  double clipped(double threshold) const;
  /// The mean of squared values.
  double power() const;

private:
  /// Sums over magnitudes: how many, of them, of their squares.
  struct Moments {
    double count = 0, first = 0, second = 0;
  };
  static Moments spread(double from, double to, double count);
  Moments below(double magnitude) const;

  const Histogram &histogram;
  double most;
  std::vector<Moments> sums; // below each bin, and of all
};

/// The largest magnitude; nothing is clipped. 1 if all values are zero: any threshold is exact.
double maxThreshold(const Histogram &histogram);

/// As TensorRT has it: of 2048 equal bins from zero the first is left out; each threshold from the
/// 128th bin on is judged by how much the distribution that is clipped there differs (Kullback and
/// Leibler's divergence) from the same in 127 equal bins, each spread evenly over those of its bins
/// that have values. Of equal divergences the larger threshold counts. A clipped value whose bin
/// would have no value otherwise counts there as half a value, which TensorRT leaves open: no
/// threshold is impossible just because an outlier is clipped.
double entropyThreshold(const Histogram &histogram);

/// The magnitude that so many of a hundred values do not exceed; the largest one if these are all
/// next to zero.
double percentileThreshold(const Histogram &histogram, double percent);

/// Where QuantizationError is least; the largest of them.
double mseThreshold(const Histogram &histogram, const QuantizationError &error);

/// By each of the methods that follow from a histogram, in the order of kSingle.
struct Thresholds {
  std::array<float, CalibrationMethod::kSingle.size()> byKind{};

  static Thresholds of(const Histogram &histogram, double percent);
  float operator[](CalibrationMethod::Kind kind) const { return byKind[kind]; }
};

} // namespace cameo
