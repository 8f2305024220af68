// Counts of magnitudes: every value in its bin, whatever the order, the split and the processor.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/Histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

using namespace cameo;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Histogram histogramOf(llvm::ArrayRef<float> values, bool portable = false) {
  Histogram histogram;
  Tally tally(portable);
  tally.add(values);
  histogram.take(tally);
  return histogram;
}

void expectEqual(const Histogram &a, const Histogram &b) {
  EXPECT_EQ(a.counts(), b.counts());
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.nonFiniteCount(), b.nonFiniteCount());
  EXPECT_EQ(a.least(), b.least());
  EXPECT_EQ(a.most(), b.most());
  EXPECT_EQ(a.edge(1), b.edge(1));
}

/// Magnitudes over many octaves, in rising order, so that the range grows again and again.
std::vector<float> wideValues(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(normal(random) * std::exp2(float(i) * 40 / float(count) - 30));
  return values;
}

TEST(CalibrateHistogram, EveryValueIsInItsBin) {
  std::vector<float> values = wideValues(20001, 1);
  Histogram histogram = histogramOf(values);
  std::vector<uint64_t> expected(magnitude::kBins);
  for (float value : values) {
    uint32_t bin = 0;
    while (bin + 1 < magnitude::kBins && histogram.edge(bin + 1) <= std::abs(value))
      ++bin;
    ++expected[bin];
    EXPECT_EQ(histogram.binOf(std::abs(value)), bin);
  }
  EXPECT_EQ(histogram.counts(), llvm::ArrayRef(expected));
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.least(), *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(histogram.most(), *std::max_element(values.begin(), values.end()));
}

TEST(CalibrateHistogram, BinsAreStepsOfOctaves) {
  Histogram histogram = histogramOf({-3.0f, 1.0f});
  EXPECT_EQ(histogram.magnitude(), 3.0f);
  EXPECT_EQ(histogram.edge(0), 0.0);
  EXPECT_EQ(histogram.edge(1), std::exp2(-14.0));
  EXPECT_EQ(histogram.edge(magnitude::kBins), 4.0);
  EXPECT_EQ(histogram.edge(magnitude::kBins - 1), 4.0 - 2.0 / 1024);
  EXPECT_EQ(histogram.binOf(4.0), magnitude::kBins);
  EXPECT_EQ(histogram.binOf(0.0), 0u);
}

TEST(CalibrateHistogram, QuartersOfOctaves) {
  Tally tally;
  tally.add({0.0f, 1e-20f, 1.25f, -1.4f, 2.0f, 5.0f, -7.9f, 7.0f});
  Histogram histogram;
  histogram.take(tally);
  CoarseHistogram coarse = histogram.coarse();
  EXPECT_EQ(coarse.end, 3);
  // What is smaller; from 1.25, 1.5, 1.75; from 2 in halves; from 4 in ones.
  EXPECT_EQ(coarse.counts, (std::vector<uint64_t>{2, 2, 0, 0, 1, 0, 0, 0, 0, 1, 0, 2}));
  EXPECT_TRUE(Histogram().coarse().counts.empty());
}

TEST(CalibrateHistogram, OrderAndSplitMakeNoDifference) {
  std::vector<float> values = wideValues(30000, 2);
  values[77] = std::nanf("");
  Histogram whole = histogramOf(values);
  std::mt19937 random(3);
  for (size_t piece : {1u, 7u, 1000u, 4096u, 29999u}) {
    std::shuffle(values.begin(), values.end(), random);
    Histogram pieces, sum;
    Tally tally;
    for (size_t at = 0; at < values.size(); at += piece) {
      llvm::ArrayRef<float> part =
          llvm::ArrayRef(values).slice(at, std::min(piece, values.size() - at));
      tally.add(part);
      if (piece == 1)
        continue;
      pieces.take(tally);
      sum.add(histogramOf(part));
    }
    pieces.take(tally);
    expectEqual(pieces, whole);
    if (piece != 1)
      expectEqual(sum, whole);
  }
}

TEST(CalibrateHistogram, ThreadsMakeNoDifference) {
  std::vector<float> values = wideValues(100000, 4);
  Histogram whole = histogramOf(values);
  std::array<Histogram, 4> parts;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < parts.size(); ++i)
    threads.emplace_back(
        [&, i] { parts[i] = histogramOf(llvm::ArrayRef(values).slice(i * 25000, 25000)); });
  for (std::thread &thread : threads)
    thread.join();
  Histogram sum;
  for (size_t i : {2, 0, 3, 1})
    sum.add(parts[i]);
  expectEqual(sum, whole);
}

TEST(CalibrateHistogram, PortableCodeCountsTheSame) {
  for (size_t count : {0u, 1u, 31u, 32u, 33u, 4095u, 4096u, 4097u, 50000u}) {
    std::vector<float> values = wideValues(count, 5);
    if (count > 40)
      values[40] = kInfinity;
    expectEqual(histogramOf(values), histogramOf(values, /*portable=*/true));
  }
}

TEST(CalibrateHistogram, ValuesThatAreNotFiniteAreCountedApart) {
  std::vector<float> values = {1, std::nanf(""), -2, kInfinity, -kInfinity};
  Histogram histogram = histogramOf(values);
  EXPECT_EQ(histogram.count(), 2u);
  EXPECT_EQ(histogram.nonFiniteCount(), 3u);
  EXPECT_EQ(histogram.least(), -2.0f);
  EXPECT_EQ(histogram.most(), 1.0f);
  Histogram none = histogramOf(std::vector<float>(9, std::nanf("")));
  EXPECT_EQ(none.count(), 0u);
  EXPECT_EQ(none.nonFiniteCount(), 9u);
  EXPECT_TRUE(none.counts().empty());
  histogram.add(none);
  EXPECT_EQ(histogram.nonFiniteCount(), 12u);
}

TEST(CalibrateHistogram, ZerosAndTheSmallestNumbers) {
  Histogram histogram = histogramOf({0.0f, -0.0f, 1e-45f, -1e-40f});
  EXPECT_EQ(histogram.counts()[0], 4u);
  EXPECT_EQ(histogram.least(), -1e-40f);
  Histogram zeros = histogramOf(std::vector<float>(100, -0.0f));
  EXPECT_EQ(zeros.counts()[0], 100u);
  EXPECT_FALSE(std::signbit(zeros.least()));
  EXPECT_FALSE(std::signbit(zeros.most()));
  EXPECT_EQ(zeros.magnitude(), 0.0f);
  Histogram largest = histogramOf({std::numeric_limits<float>::max(), 1.0f});
  EXPECT_EQ(largest.counts()[magnitude::kBins - 1], 1u);
  EXPECT_EQ(largest.counts()[0], 1u);
  EXPECT_EQ(largest.edge(magnitude::kBins), std::exp2(128.0));
}

} // namespace
