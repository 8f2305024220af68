// Dispatches of several operations, those of the lit tests, run on the simulator with all its
// checks against references in double.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace cameo;
using namespace cameo::test;

namespace {

/// Sums may cancel.
constexpr double kAbsolute = 1e-5;

std::vector<double> product(const std::vector<float> &a, const std::vector<float> &b, int m, int n,
                            int k) {
  std::vector<double> result(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l)
        result[i * n + j] += double(a[i * k + l]) * b[l * n + j];
  return result;
}

TEST(FusedDispatches, AProductIsSplit) {
  SimKernels kernels(variantOf("fused-products.mlir", "split"), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "contraction");
  std::vector<float> x = randomFloats(64 * 32, -2), w = randomFloats(32 * 96);
  std::vector<float> rest = unwritten(64 * 32), first = unwritten(64 * 64);
  std::vector<double> all = product(x, w, 64, 96, 32), wantedRest, wantedFirst;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 96; ++j)
      if (j < 64)
        wantedFirst.push_back(std::max(all[i * 96 + j], 0.0));
      else
        wantedRest.push_back(all[i * 96 + j]);
  const float *a = kernels.share(x, "x"), *b = kernels.share(w, "w");
  float *c = kernels.share(rest, "rest"), *d = kernels.share(first, "first");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c, &d});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(rest, wantedRest, kAbsolute);
  expectNear(first, wantedFirst, kAbsolute);
}

TEST(FusedDispatches, PiecesOfAProductAreExtracted) {
  SimKernels kernels(variantOf("fused-products.mlir", "extracted"), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "contraction");
  std::vector<float> x = randomFloats(64 * 32), w = randomFloats(32 * 96), y = unwritten(64 * 64);
  std::vector<double> all = product(x, w, 64, 96, 32), wanted;
  for (int i = 0; i < 64; ++i)
    for (int j = 32; j < 96; ++j)
      wanted.push_back(all[i * 96 + j]);
  const float *a = kernels.share(x, "x"), *b = kernels.share(w, "w");
  float *c = kernels.share(y, "y");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted, kAbsolute);
}

TEST(FusedDispatches, AProductIsStoredAsHeads) {
  SimKernels kernels(variantOf("fused-products.mlir", "heads"), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "contraction");
  std::vector<float> x = randomFloats(40 * 32), w = randomFloats(32 * 64), y = unwritten(40 * 64);
  std::vector<double> all = product(x, w, 40, 64, 32), wanted;
  for (int head = 0; head < 4; ++head)
    for (int i = 0; i < 40; ++i)
      for (int d = 0; d < 16; ++d)
        wanted.push_back(all[i * 64 + head * 16 + d]);
  const float *a = kernels.share(x, "x"), *b = kernels.share(w, "w");
  float *c = kernels.share(y, "y");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted, kAbsolute);
}

TEST(FusedDispatches, HeadsOfAProductBecomeColumns) {
  SimKernels kernels(variantOf("fused-products.mlir", "merged_heads"), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "contraction");
  std::vector<float> x = randomFloats(4 * 40 * 32), w = randomFloats(4 * 32 * 16);
  std::vector<float> bias = randomFloats(64), y = unwritten(40 * 64);
  std::vector<double> wanted(40 * 64);
  for (int head = 0; head < 4; ++head) {
    std::vector<double> one =
        product({x.begin() + head * 40 * 32, x.begin() + (head + 1) * 40 * 32},
                {w.begin() + head * 32 * 16, w.begin() + (head + 1) * 32 * 16}, 40, 16, 32);
    for (int i = 0; i < 40; ++i)
      for (int d = 0; d < 16; ++d)
        wanted[i * 64 + head * 16 + d] = one[i * 16 + d] + bias[head * 16 + d];
  }
  const float *a = kernels.share(x, "x"), *b = kernels.share(w, "w");
  const float *c = kernels.share(bias, "bias");
  float *d = kernels.share(y, "y");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c, &d});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted, kAbsolute);
}

TEST(FusedDispatches, AProductOfASizeOfRunTimeIsTransposed) {
  SimKernels kernels(variantOf("fused-products.mlir", "transposed"), true);
  ASSERT_EQ(kernels.error, "");
  ASSERT_EQ(kernels.planned.size(), 1u); // far, so for any size
  EXPECT_EQ(kernels.planned[0].schedule, "contraction");
  std::vector<float> x = randomFloats(70 * 32), w = randomFloats(32 * 64);
  const float *a = kernels.share(x, "x"), *b = kernels.share(w, "w");
  std::vector<double> all = product(x, w, 70, 64, 32), wanted;
  for (int j = 0; j < 64; ++j)
    for (int i = 0; i < 70; ++i)
      wanted.push_back(all[i * 64 + j]);
  std::vector<float> y = unwritten(70 * 64);
  float *c = kernels.share(y, "y");
  uint32_t rows = 70;
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c, &rows, &rows}, 8);
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted, kAbsolute);
}

TEST(FusedDispatches, OperandsOfProductsAreMoved) {
  SimKernels kernels(variantOf("fused-products.mlir", "moved_operands"), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "contraction");
  std::vector<float> x = randomFloats(40 * 128), values{0.5f, 1, 2, -2};
  std::vector<uint16_t> w(40 * 64), bits{0x3800, 0x3c00, 0x4000, 0xc000}; // the same as halves
  std::vector<float> y = unwritten(4 * 40 * 40);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = bits[i * i % 7 % 4];
  std::vector<double> wanted;
  for (int head = 0; head < 4; ++head)
    for (int i = 0; i < 40; ++i)
      for (int j = 0; j < 40; ++j) {
        double sum = 0;
        for (size_t d = head * 16; d < size_t(head) * 16 + 16; ++d)
          sum += double(x[i * 128 + 64 + d]) * values[(j * 64 + d) * (j * 64 + d) % 7 % 4];
        wanted.push_back(sum);
      }
  const float *a = kernels.share(x, "x");
  const uint16_t *b = kernels.share(w, "w");
  float *c = kernels.share(y, "y");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted, kAbsolute);
}

TEST(FusedDispatches, MovedElementsAreReadTogether) {
  SimKernels kernels(variantOf("fused-pointwise.mlir", "moved"), true);
  ASSERT_EQ(kernels.error, "");
  std::vector<float> x = randomFloats(40 * 128), y = randomFloats(40 * 64);
  std::vector<float> z = randomFloats(40 * 64), r = unwritten(40 * 64);
  std::vector<double> wanted;
  for (int i = 0; i < 40 * 64; ++i)
    wanted.push_back(double(x[i / 64 * 128 + 64 + i % 64]) * y[i] + z[i]);
  const float *a = kernels.share(x, "x"), *b = kernels.share(y, "y"), *c = kernels.share(z, "z");
  float *d = kernels.share(r, "r");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c, &d});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(r, wanted, kAbsolute);
}

TEST(FusedDispatches, APoolOfAReluIsSplit) {
  SimKernels kernels(variantOf("fused-windows.mlir", "pool"), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "window");
  std::vector<float> x = randomFloats(6 * 16, -2), y = unwritten(6 * 16), z = unwritten(4 * 16);
  std::vector<double> wanted;
  for (int channel = 0; channel < 6; ++channel)
    for (int i = 0; i < 16; ++i) {
      double sum = 0;
      for (int at = i - 1; at <= i + 1; ++at)
        sum += at < 0 || at == 16 ? 0.5 : std::max(x[channel * 16 + at], 0.0f);
      wanted.push_back(sum / 2);
    }
  const float *a = kernels.share(x, "x");
  float *b = kernels.share(y, "y"), *c = kernels.share(z, "z");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted, kAbsolute);
  expectNear(z, {wanted.begin() + 32, wanted.end()}, kAbsolute);
}

TEST(FusedDispatches, AScanIsStoredTwice) {
  SimKernels kernels(variantOf("fused-windows.mlir", "scan"), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "scan");
  std::vector<float> x = randomFloats(3 * 256), y = unwritten(3 * 256), z = unwritten(3 * 256);
  std::vector<double> wanted, turned(3 * 256);
  for (int line = 0; line < 3; ++line) {
    double sum = 0;
    for (int i = 0; i < 256; ++i) {
      sum += 2 * double(x[line * 256 + i]);
      wanted.push_back(sum);
      turned[i * 3 + line] = sum;
    }
  }
  const float *a = kernels.share(x, "x");
  float *b = kernels.share(y, "y"), *c = kernels.share(z, "z");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted, kAbsolute);
  expectNear(z, turned, kAbsolute);
}

TEST(FusedDispatches, MaskedSoftmax) {
  SimKernels kernels(variantOf("fused-rows.mlir", "softmax"), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "rows");
  std::vector<float> x = randomFloats(15 * 128, -9), mask = randomFloats(3 * 128, -9);
  std::vector<float> y = unwritten(15 * 128);
  std::vector<double> wanted;
  for (int row = 0; row < 15; ++row) {
    double sum = 0;
    auto power = [&](int i) {
      return std::exp(x[row * 128 + i] * 0.125 + double(mask[row / 5 * 128 + i]));
    };
    for (int i = 0; i < 128; ++i)
      sum += power(i);
    for (int i = 0; i < 128; ++i)
      wanted.push_back(power(i) / sum);
  }
  const float *a = kernels.share(x, "x"), *b = kernels.share(mask, "mask");
  float *c = kernels.share(y, "y");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(y, wanted, kAbsolute);
}

TEST(FusedDispatches, ARowNormalisedInPrimitives) {
  SimKernels kernels(variantOf("fused-rows.mlir", "normalised"), true);
  ASSERT_EQ(kernels.error, "");
  EXPECT_EQ(kernels.planned[0].schedule, "rows");
  std::vector<float> x = randomFloats(6 * 96, -2), y = randomFloats(6 * 96, -2);
  std::vector<float> gamma = randomFloats(96), beta = randomFloats(96);
  std::vector<float> added = unwritten(6 * 96), result = added, mean = unwritten(6);
  std::vector<double> wantedSum, wanted, wantedMean;
  for (int row = 0; row < 6; ++row) {
    double sum = 0, squares = 0;
    for (int i = row * 96; i < row * 96 + 96; ++i) {
      wantedSum.push_back(double(x[i]) + y[i]);
      sum += wantedSum.back();
    }
    wantedMean.push_back(sum / 96);
    for (int i = row * 96; i < row * 96 + 96; ++i)
      squares += std::pow(wantedSum[i] - sum / 96, 2);
    for (int i = 0; i < 96; ++i)
      wanted.push_back((wantedSum[row * 96 + i] - sum / 96) / std::sqrt(squares / 96 + 1e-5) *
                           gamma[i] +
                       beta[i]);
  }
  const float *a = kernels.share(x, "x"), *b = kernels.share(y, "y");
  const float *c = kernels.share(gamma, "gamma"), *d = kernels.share(beta, "beta");
  float *e = kernels.share(added, "added"), *f = kernels.share(result, "result");
  float *g = kernels.share(mean, "mean");
  sim::LaunchResult launched = kernels.launchPlanned(0, {&a, &b, &c, &d, &e, &f, &g});
  ASSERT_TRUE(launched.ok()) << launched.error;
  expectNear(added, wantedSum, kAbsolute);
  expectNear(result, wanted, kAbsolute);
  expectNear(mean, wantedMean, kAbsolute);
}

} // namespace
