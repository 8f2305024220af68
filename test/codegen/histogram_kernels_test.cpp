// Kernels that count magnitudes, on the simulator with its checks: what the host counts of the same
// elements, bit for bit.
//
// SPDX-License-Identifier: Apache-2.0
#include "SimHarness.h"

#include "codegen/calibrate/Histogram.h"

#include <cmath>
#include <limits>
#include <random>

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr const char *kKernels =
#include "codegen/HistogramKernels.inc"
    ;

class HistogramKernels : public testing::TestWithParam<bool> {
protected:
  HistogramKernels() : kernels(kKernels, /*checked=*/true, GetParam() ? "sm_90a" : "sm_75") {}

  /// As the launches of cameo-insert-histograms, by so many blocks.
  std::vector<uint32_t> count(std::vector<float> &values, unsigned blocks) {
    std::vector<uint32_t> words(MagnitudeWords::kSize, 0xdeadbeef);
    const float *x = kernels.share(values, "x");
    uint32_t *to = kernels.share(words, "words");
    int64_t elements = int64_t(values.size());
    auto launch = [&](const char *kernel, unsigned grid, std::vector<const void *> parameters,
                      unsigned shared) {
      sim::LaunchResult result = kernels.launch(kernel, grid, 512, std::move(parameters), shared);
      EXPECT_TRUE(result.ok()) << kernel << ": " << result.error;
    };
    launch("histogram_clear", (MagnitudeWords::kSize + 511) / 512, {&to}, 0);
    launch("histogram_extent", blocks, {&x, &to, &elements}, 0);
    launch("histogram_count", blocks, {&x, &to, &elements}, 65536);
    return words;
  }

  void expectSame(std::vector<float> values, unsigned blocks = 3) {
    Histogram host, counted;
    Tally tally;
    tally.add(values);
    host.take(tally);
    counted.take(count(values, blocks));
    EXPECT_EQ(counted.counts(), host.counts());
    EXPECT_EQ(counted.count(), host.count());
    EXPECT_EQ(counted.nonFiniteCount(), host.nonFiniteCount());
    EXPECT_EQ(counted.least(), host.least());
    EXPECT_EQ(counted.most(), host.most());
    EXPECT_EQ(std::signbit(counted.least()), std::signbit(host.least()));
    EXPECT_EQ(std::signbit(counted.most()), std::signbit(host.most()));
    EXPECT_EQ(counted.edge(1), host.edge(1));
  }

  SimKernels kernels;
};

std::vector<float> wideValues(size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(normal(random) * std::exp2(float(i) * 40 / float(count) - 30));
  return values;
}

TEST_P(HistogramKernels, CountAsTheHost) {
  ASSERT_EQ(kernels.error, "");
  for (unsigned blocks : {1u, 2u, 7u})
    expectSame(wideValues(10007), blocks);
  expectSame(std::vector<float>(700, 0.25f));
  expectSame({-3.0f});
  expectSame({-3.0f, -0.5f}); // no number is above zero
}

TEST_P(HistogramKernels, NothingAtAll) {
  ASSERT_EQ(kernels.error, "");
  Histogram counted;
  std::vector<float> none(1);
  none.pop_back();
  counted.take(count(none, 1));
  EXPECT_EQ(counted.count(), 0u);
  EXPECT_TRUE(counted.counts().empty());
  EXPECT_EQ(counted.magnitude(), 0.0f);
}

TEST_P(HistogramKernels, ZerosAndTheSmallestNumbers) {
  ASSERT_EQ(kernels.error, "");
  expectSame(std::vector<float>(600, -0.0f));
  expectSame({0.0f, -0.0f, 1e-45f, -1e-40f});
  expectSame({std::numeric_limits<float>::max(), 1.0f, -1e-38f});
}

TEST_P(HistogramKernels, ValuesThatAreNotFinite) {
  ASSERT_EQ(kernels.error, "");
  float infinity = std::numeric_limits<float>::infinity();
  expectSame({1, std::nanf(""), -2, infinity, -infinity, -std::nanf("")});
  expectSame(std::vector<float>(9, std::nanf("")));
  std::vector<float> values = wideValues(3000);
  values[7] = infinity;
  expectSame(values);
}

INSTANTIATE_TEST_SUITE_P(Targets, HistogramKernels, testing::Bool(),
                         [](const auto &info) { return info.param ? "sm_90a" : "sm_75"; });

} // namespace
