// Products instead of a division by a scale: the same integers, or none.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/ReciprocalScale.h"

#include "llvm/ADT/bit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace cameo;

namespace {

constexpr int64_t kMost = 256;

/// What a quotient becomes in 8 bits; NaN becomes the least number.
int quantized(float quotient) {
  return int(std::fmin(std::fmax(std::nearbyint(quotient), -128.0f), 127.0f));
}

/// Floats around each place where a quotient by `scale` steps to the next integer, and what lies
/// far from all of them.
std::vector<float> placesOf(float scale) {
  constexpr int kNeighbours = 12;
  std::vector<float> places{0,     -0.0f,  1e-45f,   1e-38f,    -1e-38f,
                            3e38f, -3e38f, INFINITY, -INFINITY, NAN};
  for (int k = -130; k <= 130; ++k) {
    float x = float((k + 0.5) * double(scale));
    for (int i = 0; i < kNeighbours; ++i)
      x = std::nextafter(x, -INFINITY);
    for (int i = 0; i < 2 * kNeighbours; ++i, x = std::nextafter(x, INFINITY))
      places.push_back(x);
  }
  return places;
}

/// The first of the places where integers differ.
std::optional<float> difference(float scale, const ReciprocalScale &reciprocal) {
  for (float x : placesOf(scale))
    if (quantized(x / scale) != quantized(reciprocal.quotient(x)))
      return x;
  return std::nullopt;
}

TEST(ReciprocalScale, GivesTheIntegersOfTheDivision) {
  std::mt19937 random(1);
  std::vector<float> scales{0.02f, 1 / 127.0f, 0.1f, 3, 0.25f, 1, 0x1p-126f, 0x1p126f, 1e-38f};
  for (int i = 0; i < 500; ++i) // 2^-24 to 2^7
    scales.push_back(
        llvm::bit_cast<float>(uint32_t((103 + random() % 32) << 23 | random() % 0x800000)));
  for (float scale : scales) {
    std::optional<ReciprocalScale> reciprocal = ReciprocalScale::of(scale, kMost);
    ASSERT_TRUE(reciprocal) << scale;
    std::optional<float> x = difference(scale, *reciprocal);
    EXPECT_FALSE(x) << "at " << *x << " by " << scale;
  }
}

TEST(ReciprocalScale, OneProductIsEnoughForPowersOfTwo) {
  for (float scale : {0.25f, 1.0f, 0x1p-40f, 1024.0f})
    EXPECT_EQ(ReciprocalScale::of(scale, kMost)->low, 0) << scale;
  // Of other scales it is not: the test above would find that.
  ReciprocalScale reciprocal = *ReciprocalScale::of(0.02f, kMost);
  reciprocal.low = 0;
  EXPECT_TRUE(difference(0.02f, reciprocal));
}

TEST(ReciprocalScale, NoneWhereAStepWouldMove) {
  // x / scale is so near to the middle between a float and k + 1/2 that the products end at the
  // other one. Of 200,000 random scales this was the only one.
  float scale = 0x1.c3fffep-2f;
  EXPECT_FALSE(ReciprocalScale::of(scale, kMost));
  double exact = 1 / double(scale);
  float high = float(exact);
  if (double(high) > exact)
    high = std::nextafter(high, 0.0f);
  EXPECT_TRUE(difference(scale, {high, float(exact - double(high))}));
}

TEST(ReciprocalScale, NoneWhereTheReciprocalHasTooFewDigits) {
  for (float scale : {0.0f, -1.0f, INFINITY, NAN, 1e-45f, 2.9e-39f, 0x1p127f, 1e38f})
    EXPECT_FALSE(ReciprocalScale::of(scale, kMost)) << scale;
}

} // namespace
