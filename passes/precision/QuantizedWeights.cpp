// Floats ==> integers with scales.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/QuantizedWeights.h"

#include <cmath>

using namespace mlir;

namespace cameo {

/// Of a bias, in its scale: as much is left for the sum that it is added to.
static constexpr double kLastBias = 0x1p30;

static int8_t quantum(float number) {
  return int8_t(std::clamp(number, float(-kLastQuantum), float(kLastQuantum)));
}

QuantizedWeights quantizeWeights(const Elements &elements, std::optional<int64_t> axis,
                                 ArrayRef<double> biases, double inputScale) {
  ArrayRef<int64_t> shape = elements.shape();
  QuantizedWeights result;
  result.axis = axis;
  result.inner = axis ? ShapedType::getNumElements(shape.drop_front(*axis + 1)) : 1;
  result.scales.resize(axis ? shape[*axis] : 1);
  std::vector<float> read = readElements<float>(elements);
  std::vector<double> most(result.scales.size(), 0);
  for (auto [i, number] : llvm::enumerate(read)) {
    double &greatest = most[result.channelOf(i)];
    greatest = std::max(greatest, std::abs(double(number)));
  }
  for (auto [channel, scale] : llvm::enumerate(result.scales)) {
    scale = quantizationScale(most[channel]);
    double bias = biases.empty() ? 0 : std::abs(biases[biases.size() == 1 ? 0 : channel]);
    double least = bias / inputScale / kLastBias;
    if (scale < least) {
      scale = float(std::clamp(least, kLeastScale, kMostScale));
      ++result.widened;
    }
  }
  for (auto [i, number] : llvm::enumerate(read))
    result.numbers.push_back(quantum(std::nearbyint(number / result.scales[result.channelOf(i)])));
  return result;
}

int64_t applyRounding(QuantizedWeights &weights, ArrayRef<float> floats,
                      const RecordedRanges::Rounding &rounding) {
  auto isLearned = [&](int64_t channel) {
    return weights.scales[channel] == float(rounding.scales[channel]);
  };
  for (auto [i, number] : llvm::enumerate(floats))
    if (int64_t channel = weights.channelOf(i); isLearned(channel))
      weights.numbers[i] =
          quantum(std::floor(number / weights.scales[channel]) + float(rounding.isUp[i]));
  int64_t others = 0;
  for (size_t channel = 0; channel < weights.scales.size(); ++channel)
    others += !isLearned(channel);
  return others;
}

} // namespace cameo
