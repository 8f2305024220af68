// Scales of few bits: how they are rounded, and that sums of floats are exact by them.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/QuantizedValue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace cameo;

namespace {

/// Whether a number has at most so many significant bits.
bool hasBits(float number, int bits) {
  int exponent;
  float fraction = std::ldexp(std::frexp(number, &exponent), bits);
  return fraction == std::floor(fraction);
}

void expectLeast(float scale, double threshold, int bits) {
  EXPECT_TRUE(hasBits(scale, bits)) << scale;
  EXPECT_GE(double(scale) * kLastQuantum, threshold);
  // The next smaller one: half a step below a power of two.
  int exponent;
  double fraction = std::frexp(scale, &exponent);
  double step = std::ldexp(fraction == 0.5 ? 0.5 : 1.0, exponent - bits);
  EXPECT_LT((double(scale) - step) * kLastQuantum, threshold) << scale;
}

TEST(QuantizationScale, IsTheLeastThatClipsNothing) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponents(-60, 60);
  for (int i = 0; i < 1000; ++i) {
    double threshold = std::exp2(exponents(random));
    expectLeast(activationScale(threshold), threshold, kActivationScaleBits);
    expectLeast(weightScale(threshold), threshold, kWeightScaleBits);
  }
  for (int bits = 1; bits < 32; ++bits) { // scales of five bits stay what they are
    float scale = std::ldexp(float(bits), -9);
    EXPECT_EQ(activationScale(double(scale) * kLastQuantum), scale);
  }
  EXPECT_EQ(activationScale(0), 1);
  EXPECT_EQ(activationScale(1e-300), float(kLeastScale));
  EXPECT_EQ(weightScale(1e300), float(kMostScale));
}

TEST(QuantizationScale, MakesSumsOfFloatsExact) {
  std::mt19937 random(2);
  std::normal_distribution<float> values;
  for (int depth : {9, 64, 576, 4608}) {
    float x = activationScale(std::exp2(values(random))),
          w = weightScale(std::exp2(values(random)));
    float sum = 0;
    int64_t exact = 0;
    for (int i = 0; i < depth; ++i) {
      int a = int(std::clamp(std::nearbyint(values(random) * 30), -127.0f, 127.0f));
      int b = int(std::clamp(std::nearbyint(values(random) * 40), -127.0f, 127.0f));
      sum += (float(a) * x) * (float(b) * w);
      exact += int64_t(a) * b;
    }
    EXPECT_EQ(double(sum), double(exact) * double(x) * double(w)) << depth;
  }
}

} // namespace
