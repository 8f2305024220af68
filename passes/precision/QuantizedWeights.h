// Constant weights as integers of 8 bits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/Elements.h"
#include "passes/precision/QuantizationPlan.h"
#include "passes/precision/QuantizedValue.h"

namespace cameo {

/// The deepest sums for whose weights rounding is learned: second moments of what they read are a
/// number for each pair.
inline constexpr int64_t kMostLearnedDepth = 4096;

/// With one scale, or one for each index of `axis`.
struct QuantizedWeights {
  std::vector<int8_t> numbers;
  std::vector<float> scales;
  std::optional<int64_t> axis;
  int64_t widened = 0; // channels

  /// Of the element with this number, row-major.
  int64_t channelOf(int64_t i) const { return axis ? i / inner % int64_t(scales.size()) : 0; }
  int64_t inner = 1; // elements behind the axis
};

/// Rounds to the nearest. Each channel's greatest element becomes the last number, unless its bias,
/// added to sums in the scale of weights and input, needs a larger scale. Biases are none, one, or
/// one a channel.
QuantizedWeights quantizeWeights(const Elements &elements, std::optional<int64_t> axis,
                                 llvm::ArrayRef<double> biases, double inputScale);

/// Rounds as was learned, in channels of the scale for which it was: the number of the others.
int64_t applyRounding(QuantizedWeights &weights, llvm::ArrayRef<float> floats,
                      const RecordedRanges::Rounding &rounding);

} // namespace cameo
