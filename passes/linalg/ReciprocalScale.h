// A quotient by a constant scale, where only the integer that it is rounded to counts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace cameo {

/// Factors by which `fma(x, high, x * low)`, or `x * high` where `low` is 0, rounds to the integer
/// that the quotient x / scale in floats rounds to, ties to even.
struct ReciprocalScale {
  float high; // 1 / scale, rounded towards zero
  float low;  // the rest of it: not negative, so that both products grow with x
  /// Nothing where there are none for which that holds for all floats x and all integers from
  /// `-most` to `most`; quotients beyond them are beyond them by both ways.
  static std::optional<ReciprocalScale> of(float scale, int64_t most);

  float quotient(float x) const;
};

} // namespace cameo
