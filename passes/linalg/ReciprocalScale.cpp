// A division by a constant ==> one or two products.
//
// Neither way of computing a quotient is the exact one: the division rounds it to a float, and the
// products miss it by up to 2^-46 of it before they are rounded. What counts is where the integer
// behind it steps from k - 1 to k. Both ways grow with x, so there is a least float x for each k, by
// either of them, and integers are the same for all floats if these are. They are compared one by
// one: for 8 bits some 500, near (k - 1/2) * scale.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/ReciprocalScale.h"

#include <cmath>

namespace cameo {

float ReciprocalScale::quotient(float x) const {
  return low == 0 ? x * high : std::fma(x, high, x * low);
}

/// Whether the quotients round to `k` or more from the same float on.
static bool stepsAlike(float scale, const ReciprocalScale &reciprocal, int64_t k) {
  auto divides = [&](float x) { return std::nearbyint(x / scale) >= float(k); };
  auto multiplies = [&](float x) { return std::nearbyint(reciprocal.quotient(x)) >= float(k); };
  float x = float((double(k) - 0.5) * double(scale));
  for (; divides(x) || multiplies(x); x = std::nextafter(x, -INFINITY))
    if (divides(x) != multiplies(x) || x == -INFINITY)
      return false;
  for (; !divides(x) || !multiplies(x); x = std::nextafter(x, INFINITY))
    if (divides(x) != multiplies(x) || x == INFINITY)
      return false;
  return true;
}

std::optional<ReciprocalScale> ReciprocalScale::of(float scale, int64_t most) {
  if (!(scale > 0))
    return std::nullopt;
  double exact = 1 / double(scale);
  float high = float(exact);
  if (double(high) > exact)
    high = std::nextafter(high, 0.0f);
  ReciprocalScale reciprocal{high, float(exact - double(high))};
  if (!std::isnormal(high))
    return std::nullopt;
  for (int64_t k = 1 - most; k <= most; ++k)
    if (!stepsAlike(scale, reciprocal, k))
      return std::nullopt;
  return reciprocal;
}

} // namespace cameo
