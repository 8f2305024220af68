// Scales of few bits: how they are rounded, and that sums of floats are exact by them.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/QuantizedValue.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <utility>

using namespace cameo;

namespace {

/// Whether a number has at most so many significant bits.
bool hasBits(float number, int bits) {
  int exponent;
  float fraction = std::ldexp(std::frexp(number, &exponent), bits);
  return fraction == std::floor(fraction);
}

void expectLeast(float scale, float threshold, int bits) {
  EXPECT_TRUE(hasBits(scale, bits)) << scale;
  EXPECT_GE(double(scale) * kLastQuantum, double(threshold));
  // The next smaller one: half a step below a power of two.
  int exponent;
  double fraction = std::frexp(scale, &exponent);
  double step = std::ldexp(fraction == 0.5 ? 0.5 : 1.0, exponent - bits);
  EXPECT_LT((double(scale) - step) * kLastQuantum, double(threshold)) << scale;
}

TEST(QuantizationScale, IsTheLeastThatClipsNothing) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) { // 2^-60 to 2^60
    float threshold = std::ldexp(float(random() % 0x800000 + 0x800000), int(random() % 120) - 83);
    expectLeast(activationScale(threshold), threshold, kActivationScaleBits);
    expectLeast(weightScale(threshold), threshold, kWeightScaleBits);
  }
  for (int bits = 1; bits < 32; ++bits) { // scales of five bits stay what they are
    float scale = std::ldexp(float(bits), -9);
    EXPECT_EQ(activationScale(scale * kLastQuantum), scale);
  }
  // The shortest decimal of 127 * 9 * 2^-13 is larger, and the same float.
  EXPECT_EQ(activationScale(float(0.13952637)), 9 * 0x1p-13f);
  EXPECT_EQ(activationScale(0), 1);
  EXPECT_EQ(activationScale(1e-35f), float(kLeastScale));
  EXPECT_EQ(weightScale(1e35f), float(kMostScale));
}

/// Sums of dequantised products in this order, the reverse, and by pairs.
std::vector<float> sumsOf(std::vector<float> terms) {
  std::vector<float> sums{std::accumulate(terms.begin(), terms.end(), 0.0f),
                          std::accumulate(terms.rbegin(), terms.rend(), 0.0f)};
  for (; terms.size() > 1; terms.resize((terms.size() + 1) / 2))
    for (size_t i = 0; i < terms.size() / 2; ++i)
      terms[i] += std::exchange(terms[terms.size() - 1 - i], 0);
  sums.push_back(terms[0]);
  return sums;
}

TEST(QuantizationScale, MakesSumsOfFloatsExact) {
  static_assert(7 + kActivationScaleBits + 7 + kWeightScaleBits <= 23);
  // The largest numbers of so many bits, by which sums have most.
  constexpr float kActivation = 31 * 0x1p-8f, kWeight = 15 * 0x1p-9f;
  std::mt19937 random(2);
  auto sums = [&](int depth, int most) {
    std::vector<float> terms;
    int64_t exact = 0;
    for (int i = 0; i < depth; ++i) {
      int a = int(random() % (2 * most + 1)) - most, b = int(random() % 255) - 127;
      terms.push_back((float(a) * kActivation) * (float(b) * kWeight));
      exact += int64_t(a) * b;
    }
    double wanted = double(exact) * double(kActivation) * double(kWeight);
    return llvm::all_of(sumsOf(terms), [&](float sum) { return double(sum) == wanted; });
  };
  for (int depth : {2, 9, 30}) // at most 30 * 8 * 127, which is below 2^24 / (31 * 15)
    for (int i = 0; i < 100; ++i)
      EXPECT_TRUE(sums(depth, 8)) << depth;
  int inexact = 0;
  for (int i = 0; i < 100; ++i)
    inexact += !sums(4608, 127);
  EXPECT_GT(inexact, 0); // the promise ends where sums are larger
}

} // namespace
