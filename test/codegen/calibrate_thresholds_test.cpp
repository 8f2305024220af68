// Thresholds of quantisation beside what a direct reading of each method gives, and of
// distributions whose answer is known.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/Thresholds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>

using namespace cameo;

namespace {

using Values = std::vector<float>;

Histogram histogramOf(const Values &values) {
  Histogram histogram;
  Tally tally;
  tally.add(values);
  histogram.take(tally);
  return histogram;
}

Values sample(size_t count, unsigned seed, const std::function<float(std::mt19937 &)> &draw) {
  std::mt19937 random(seed);
  Values values(count);
  std::generate(values.begin(), values.end(), [&] { return draw(random); });
  return values;
}

float gaussian(std::mt19937 &random) { return std::normal_distribution<float>()(random); }
float afterRelu(std::mt19937 &random) { return std::max(0.0f, gaussian(random)); }
float laplacian(std::mt19937 &random) {
  float magnitude = std::exponential_distribution<float>()(random);
  return random() & 1 ? magnitude : -magnitude;
}

Values withOutlier(Values values, float outlier) {
  values[values.size() / 2] = outlier;
  return values;
}

/// What the definition says of each value.
double directError(const Values &values, double threshold) {
  double step = activationScale(float(threshold)), sum = 0;
  for (float value : values) {
    double level = std::min(std::nearbyint(std::abs(value) / step), 127.0);
    sum += std::pow(std::abs(value) - level * step, 2);
  }
  return sum / double(values.size());
}

/// TensorRT's recipe as it is told, with arrays instead of running sums.
double directEntropy(const Values &values) {
  double most = 0;
  for (float value : values)
    most = std::max(most, double(std::abs(value)));
  int exponent;
  (void)std::frexp(most, &exponent);
  double width = std::ldexp(1.0, exponent) / 2048;
  std::vector<double> counts(size_t(most / width) + 1);
  for (float value : values)
    counts[size_t(std::abs(value) / width)] += 1;
  counts[0] = 0;
  double least = INFINITY, threshold = most;
  for (size_t kept = 128; kept <= counts.size(); ++kept) {
    std::vector<double> p(counts.begin(), counts.begin() + long(kept)), q(kept);
    p.back() += std::accumulate(counts.begin() + long(kept), counts.end(), 0.0);
    std::vector<double> coarse(127), used(127);
    auto coarseOf = [&](size_t j) {
      size_t c = 0;
      while ((c + 1) * kept / 127 <= j)
        ++c;
      return c;
    };
    for (size_t j = 0; j < kept; ++j) {
      coarse[coarseOf(j)] += counts[j];
      used[coarseOf(j)] += counts[j] > 0;
    }
    for (size_t j = 0; j < kept; ++j)
      q[j] = counts[j] > 0 ? coarse[coarseOf(j)] / used[coarseOf(j)] : p[j] > 0 ? 0.5 : 0;
    double all = std::accumulate(p.begin(), p.end(), 0.0), divergence = 0;
    double inside = std::accumulate(coarse.begin(), coarse.end(), 0.0);
    if (inside == 0)
      continue;
    for (size_t j = 0; j < kept; ++j)
      if (p[j] > 0)
        divergence += p[j] / all * std::log(p[j] / all / (q[j] / inside));
    if (divergence <= least) {
      least = divergence;
      threshold = std::min(double(kept) * width, most);
    }
  }
  return threshold;
}

const std::vector<std::pair<const char *, Values>> &distributions() {
  static const std::vector<std::pair<const char *, Values>> all = {
      {"gaussian", sample(200000, 1, gaussian)},
      {"laplacian", sample(200000, 2, laplacian)},
      {"after relu", sample(200000, 3, afterRelu)},
      {"outlier", withOutlier(sample(200000, 4, gaussian), 100)},
      {"few", sample(300, 5, gaussian)},
  };
  return all;
}

TEST(CalibrateThresholds, EntropyIsTheRecipe) {
  for (const auto &[name, values] : distributions())
    EXPECT_DOUBLE_EQ(entropyThreshold(histogramOf(values)), directEntropy(values)) << name;
}

TEST(CalibrateThresholds, PercentileIsTheSortedValue) {
  for (const auto &[name, values] : distributions()) {
    Values sorted = values;
    for (float &value : sorted)
      value = std::abs(value);
    std::sort(sorted.begin(), sorted.end());
    for (double percent : {60.0, 99.0, 99.99, 100.0}) {
      auto rank = size_t(std::ceil(percent / 100 * double(sorted.size())));
      double expected = sorted[rank - 1];
      EXPECT_NEAR(percentileThreshold(histogramOf(values), percent), expected, expected / 1024)
          << name << " " << percent;
    }
  }
}

// A bin gives as much of what lies in it as is needed.
TEST(CalibrateThresholds, PercentileDividesItsBin) {
  Values values(1000, 3.0f);
  values.back() = 5.0f;
  Histogram histogram = histogramOf(values);
  uint32_t bin = histogram.binOf(3.0);
  double from = histogram.edge(bin), width = histogram.edge(bin + 1) - from;
  for (double percent : {9.99, 49.95, 99.8})
    EXPECT_NEAR(percentileThreshold(histogram, percent), from + width * percent / 99.9, width / 1e6)
        << percent;
}

TEST(CalibrateThresholds, ErrorIsThatOfTheValues) {
  for (const auto &[name, values] : distributions()) {
    Histogram histogram = histogramOf(values);
    QuantizationError error(histogram);
    for (double threshold : {0.5, 2.0, 4.0, 100.0, 1000.0}) {
      double expected = directError(values, threshold);
      EXPECT_NEAR(error(threshold), expected, expected * 0.03) << name << " " << threshold;
    }
  }
}

TEST(CalibrateThresholds, NoThresholdHasLessErrorThanMse) {
  for (const auto &[name, values] : distributions()) {
    Histogram histogram = histogramOf(values);
    double found = directError(values, mseThreshold(histogram, QuantizationError(histogram)));
    for (double part = 0.01; part <= 1; part += 0.01)
      EXPECT_LE(found, 1.02 * directError(values, part * histogram.magnitude())) << name;
  }
}

// The optima of a Gaussian and of a Laplace distribution of 255 levels, integrated numerically,
// are at 3.92 and 9.88 times the scale; scales go in steps of 3 to 6 %.
TEST(CalibrateThresholds, KnownOptima) {
  Histogram normal = histogramOf(sample(1000000, 6, gaussian));
  EXPECT_NEAR(mseThreshold(normal, QuantizationError(normal)), 3.92, 0.2);
  Histogram laplace = histogramOf(sample(1000000, 7, laplacian));
  EXPECT_NEAR(mseThreshold(laplace, QuantizationError(laplace)), 9.88, 0.6);
  EXPECT_NEAR(percentileThreshold(normal, 99.73), 3.0, 0.01);
}

TEST(CalibrateThresholds, AnOutlierIsClipped) {
  Histogram histogram = histogramOf(withOutlier(sample(1000000, 8, gaussian), 100));
  Thresholds thresholds = Thresholds::of(histogram, 99.99);
  EXPECT_EQ(thresholds[CalibrationMethod::Max], 100.0);
  EXPECT_LT(thresholds[CalibrationMethod::Entropy], 10.0);
  EXPECT_LT(thresholds[CalibrationMethod::Percentile], 4.5);
  EXPECT_LT(thresholds[CalibrationMethod::Mse], 60.0);
}

TEST(CalibrateThresholds, ZerosHaveAThreshold) {
  for (float threshold : Thresholds::of(histogramOf(Values(100, 0.0f)), 99.99).byKind)
    EXPECT_EQ(threshold, 1.0);
  // Of nearly nothing but zeros the percentile says nothing.
  EXPECT_EQ(percentileThreshold(histogramOf(withOutlier(Values(100000, 0.0f), 3)), 99.9), 3.0);
}

TEST(CalibrateThresholds, AConstantIsKept) {
  for (float value : {3.0f, -0.1f, 1e-30f, 3e38f})
    for (float threshold : Thresholds::of(histogramOf(Values(1000, value)), 99.99).byKind)
      EXPECT_NEAR(threshold / std::abs(value), 1.0, 1e-3) << value;
}

TEST(CalibrateThresholds, TheSmallestNumbersHaveThresholds) {
  for (float threshold : Thresholds::of(histogramOf({1e-40f, -1e-44f}), 99.99).byKind)
    EXPECT_GT(threshold, 0.0);
}

TEST(CalibrateThresholds, WhatIsQuantisedStaysAsItIs) {
  constexpr float step = 0.037f;
  Values values = sample(
      100000, 9, [&](std::mt19937 &random) { return step * float(int(random() % 255) - 127); });
  Histogram histogram = histogramOf(values);
  Thresholds thresholds = Thresholds::of(histogram, 100);
  for (auto kind : {CalibrationMethod::Max, CalibrationMethod::Percentile, CalibrationMethod::Mse})
    EXPECT_NEAR(thresholds[kind], step * 127, step * 0.25) << CalibrationMethod::name(kind).str();
}

TEST(CalibrateThresholds, MethodsByName) {
  auto parsed = [](const char *text) { return llvm::cantFail(CalibrationMethod::parse(text)); };
  EXPECT_EQ(parsed("max").kind, CalibrationMethod::Max);
  EXPECT_EQ(parsed("best").kind, CalibrationMethod::Best);
  EXPECT_EQ(parsed("percentile").percent, 99.99);
  EXPECT_EQ(parsed("percentile:99.9").percent, 99.9);
  auto refused = [](const char *text) {
    return llvm::toString(CalibrationMethod::parse(text).takeError());
  };
  EXPECT_EQ(refused("kl"), "'kl' is not one of max, entropy, percentile:99.99, mse and best");
  EXPECT_EQ(refused("max:3"), "'max:3': only percentile has a number, as in percentile:99.9");
  for (const char *text : {"percentile:0", "percentile:101", "percentile:nan", "percentile:"})
    EXPECT_EQ(refused(text),
              "'" + std::string(text) + "': the percentile is above 0 and at most 100");
}

} // namespace
