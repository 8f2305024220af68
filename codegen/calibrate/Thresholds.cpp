// Histograms ==> thresholds.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/Thresholds.h"

#include "runtime/mutant.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace cameo;
using llvm::StringRef;

//===-- Methods -------------------------------------------------------------------------------===//

StringRef CalibrationMethod::name(Kind kind) {
  constexpr const char *names[] = {"max", "entropy", "percentile", "mse", "best"};
  static_assert(std::size(names) == Best + 1);
  return names[kind];
}

llvm::Expected<CalibrationMethod> CalibrationMethod::parse(StringRef text) {
  CalibrationMethod method;
  auto [word, number] = text.split(':');
  std::string known;
  for (int i = Max; i <= Best; ++i) {
    Kind kind = Kind(i);
    if (i != Max)
      known += i == Best ? " and " : ", ";
    known += name(kind).str() + (kind == Percentile ? ":99.99" : "");
    if (word == name(kind)) {
      method.kind = kind;
      if (!text.contains(':'))
        return method;
      // The comparison is false of NaN.
      if (kind == Percentile && !number.getAsDouble(method.percent) && method.percent > 0 &&
          method.percent <= 100)
        return method;
      return llvm::createStringError(
          "'" + text.str() +
          (kind == Percentile ? "': the percentile is above 0 and at most 100"
                              : "': only percentile has a number, as in percentile:99.9"));
    }
  }
  return llvm::createStringError("'" + text.str() + "' is not one of " + known);
}

double cameo::maxThreshold(const Histogram &histogram) {
  return histogram.magnitude() > 0 ? histogram.magnitude() : 1.0;
}

double cameo::percentileThreshold(const Histogram &histogram, double percent) {
  double wanted = percent / 100 * double(histogram.count()), passed = 0;
  llvm::ArrayRef<uint64_t> counts = histogram.counts();
  for (uint32_t bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] && passed + double(counts[bin]) >= wanted) {
      double from = histogram.edge(bin), to = histogram.edge(bin + 1);
      double threshold =
          from + (to - from) * CAMEO_MUTANT(29, (wanted - passed) / double(counts[bin]), 1);
      return bin == 0 ? maxThreshold(histogram) : std::min(threshold, maxThreshold(histogram));
    }
    passed += double(counts[bin]);
  }
  return maxThreshold(histogram);
}

//===-- Entropy -------------------------------------------------------------------------------===//

/// The natural logarithm of a normal number, by operations that IEEE 754 defines: the C library's
/// depends on its version and on the processor.
static double naturalLog(double x) {
  constexpr double ln2 = 0.693147180559945309417;
  int exponent;
  double mantissa = std::frexp(x, &exponent); // from 0.5 up to 1
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)); the argument is at most 0.172, its 25th power below 1e-19.
  double s = (mantissa - 1) / (mantissa + 1), square = s * s, sum = 0;
  for (int power = 23; power > 0; power -= 2)
    sum = sum * square + 1.0 / power;
  return exponent * ln2 + 2 * s * sum;
}

/// n ln n, 0 of 0.
static double timesLog(double n) { return n > 0 ? n * naturalLog(n) : 0; }

namespace {

/// Equal bins from zero, as many as the largest magnitude needs.
struct EqualBins {
  double width;
  std::vector<double> counts;

  static constexpr uint32_t kMost = 2 * magnitude::kSteps;

  explicit EqualBins(const Histogram &histogram) {
    // The top octave's steps are such bins; all others lie within one.
    uint32_t top = magnitude::kBins - magnitude::kSteps;
    width = histogram.edge(top) / magnitude::kSteps;
    counts.resize(std::min(uint32_t(histogram.magnitude() / width) + 1, kMost));
    for (auto [bin, count] : llvm::enumerate(histogram.counts()))
      if (count)
        counts[size_t(histogram.edge(uint32_t(bin)) / width)] += double(count);
  }
};

/// Judges thresholds by running sums, so that each costs as many steps as there are coarse bins.
class Divergence {
public:
  explicit Divergence(const std::vector<double> &counts) : counts(counts) {
    for (double count : counts) {
      sums.push_back(sums.back() + count);
      logs.push_back(logs.back() + timesLog(count));
      used.push_back(used.back() + (count > 0));
    }
  }

  /// Of clipping at the end of the first `kept` bins; infinite where nothing is left.
  ///
  /// With P_j = a_j / N, where a_j are counts and the last one has what is clipped as well, and
  /// Q_j = q_c / M, where q_c is the mean of coarse bin c over its used bins and M the sum without
  /// what is clipped: sum P_j ln(P_j / Q_j) = (sum a_j ln a_j - sum a_j ln q_c) / N + ln(M / N).
  double operator()(size_t kept) const {
    double all = sums.back(), inside = sums[kept], clipped = all - inside;
    if (inside == 0)
      return INFINITY;
    double last = counts[kept - 1];
    double sum = logs[kept - 1] + timesLog(CAMEO_MUTANT(31, last + clipped, last));
    for (size_t coarse = 0, from = 0; coarse < size_t(kLastQuantum); ++coarse) {
      size_t to = (coarse + 1) * kept / kLastQuantum;
      double count = sums[to] - sums[from];
      double mean = count > 0 ? count / (used[to] - used[from]) : 0;
      sum -= count > 0 ? count * naturalLog(mean) : 0;
      if (to == kept && clipped > 0)
        sum -= clipped * naturalLog(last > 0 ? mean : 0.5);
      from = to;
    }
    return sum / all + naturalLog(inside / all);
  }

private:
  const std::vector<double> &counts;
  std::vector<double> sums{0}, logs{0}, used{0};
};

} // namespace

double cameo::entropyThreshold(const Histogram &histogram) {
  constexpr size_t start = 128;
  if (histogram.magnitude() == 0)
    return 1.0;
  EqualBins bins(histogram);
  bins.counts.front() = 0;
  Divergence divergence(bins.counts);
  double least = INFINITY, threshold = maxThreshold(histogram);
  for (size_t kept = bins.counts.size(); kept >= start; --kept)
    if (double found = divergence(kept); found < least) {
      least = found;
      threshold = std::min(double(kept) * bins.width, maxThreshold(histogram));
    }
  return threshold;
}

//===-- Squared error -------------------------------------------------------------------------===//

QuantizationError::Moments QuantizationError::spread(double from, double to, double count) {
  return {count, count * (from + to) / 2, count * (from * from + from * to + to * to) / 3};
}

QuantizationError::QuantizationError(const Histogram &histogram)
    : histogram(histogram), most(histogram.magnitude()) {
  sums.emplace_back();
  for (auto [bin, count] : llvm::enumerate(histogram.counts())) {
    Moments sum = sums.back();
    if (count) {
      Moments own = spread(histogram.edge(uint32_t(bin)),
                           std::min(histogram.edge(uint32_t(bin) + 1), most), double(count));
      sum = {sum.count + own.count, sum.first + own.first, sum.second + own.second};
    }
    sums.push_back(sum);
  }
}

QuantizationError::Moments QuantizationError::below(double magnitude) const {
  if (magnitude >= most)
    return sums.back();
  uint32_t bin = histogram.binOf(magnitude);
  double from = histogram.edge(bin), to = std::min(histogram.edge(bin + 1), most);
  double part = (magnitude - from) / (to - from);
  Moments own = spread(from, magnitude, double(histogram.counts()[bin]) * part);
  return {sums[bin].count + own.count, sums[bin].first + own.first, sums[bin].second + own.second};
}

/// Sum of (x - to)^2 from the sums over x and x^2.
static double squares(double count, double first, double second, double to) {
  return second - 2 * to * first + to * to * count;
}

double QuantizationError::clipped(double threshold) const {
  const Moments &all = sums.back();
  if (all.count == 0 || threshold >= most)
    return 0;
  Moments in = below(threshold);
  double sum =
      squares(all.count - in.count, all.first - in.first, all.second - in.second, threshold);
  return std::max(sum, 0.0) / all.count;
}

double QuantizationError::operator()(double threshold) const {
  const Moments &all = sums.back();
  if (all.count == 0)
    return 0;
  double step = activationScale(float(threshold)), sum = 0;
  Moments before;
  for (int level = 0; level <= kLastQuantum; ++level) {
    Moments end = level < kLastQuantum ? below((level + CAMEO_MUTANT(30, 0.5, 1)) * step) : all;
    sum += squares(end.count - before.count, end.first - before.first, end.second - before.second,
                   level * step);
    before = end;
  }
  return std::max(sum, 0.0) / all.count; // differences of sums, which rounding may make negative
}

double QuantizationError::power() const {
  const Moments &all = sums.back();
  return all.count > 0 ? all.second / all.count : 0;
}

double cameo::mseThreshold(const Histogram &histogram, const QuantizationError &error) {
  double threshold = maxThreshold(histogram);
  if (histogram.magnitude() == 0)
    return threshold;
  double least = error(threshold);
  float scale = activationScale(float(threshold));
  for (uint32_t bin = histogram.binOf(histogram.magnitude()); bin > 0; --bin) {
    double candidate = histogram.edge(bin);
    float next = activationScale(float(candidate));
    if (next == scale)
      continue;
    scale = next;
    // What is clipped only grows from here on.
    if (error.clipped(double(scale) * kLastQuantum) >= least)
      break;
    if (double found = error(candidate); found < least) {
      least = found;
      threshold = candidate;
    }
  }
  return threshold;
}

Thresholds Thresholds::of(const Histogram &histogram, double percent) {
  Thresholds result;
  result.byKind[CalibrationMethod::Max] = float(maxThreshold(histogram));
  result.byKind[CalibrationMethod::Entropy] = float(entropyThreshold(histogram));
  result.byKind[CalibrationMethod::Percentile] = float(percentileThreshold(histogram, percent));
  result.byKind[CalibrationMethod::Mse] =
      float(mseThreshold(histogram, QuantizationError(histogram)));
  return result;
}
