// Weights and second moments of what they are multiplied with ==> which are rounded up.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/LearnRounding.h"

#include "dialects/onnx/Onnx.h"

#include <cmath>

using namespace mlir;
using namespace cameo;

/// Rounds over all weights; a handful is what it takes.
static constexpr unsigned kMostRounds = 100;
/// Less than this share of what a weight's own error counts is noise of arithmetic.
static constexpr double kLeastGain = 0x1p-30;

//===-- One channel ---------------------------------------------------------------------------===//

static double clampedQuantum(double number) {
  return std::clamp<double>(number, -kLastQuantum, kLastQuantum);
}

/// The sum of moments times errors for each weight.
static std::vector<double> gradients(ArrayRef<double> errors, ArrayRef<double> moments) {
  std::vector<double> found(errors.size(), 0.0);
  for (auto [i, error] : llvm::enumerate(errors))
    if (error != 0)
      for (size_t j = 0; j < errors.size(); ++j)
        found[j] += error * moments[i * errors.size() + j];
  return found;
}

std::vector<int8_t> cameo::roundTogether(ArrayRef<float> weights, ArrayRef<double> moments) {
  size_t count = weights.size();
  std::vector<double> errors(count), steps(count); // steps: to the other side
  for (auto [i, weight] : llvm::enumerate(weights)) {
    double nearest = clampedQuantum(std::nearbyint(weight));
    double below = clampedQuantum(std::floor(weight)), above = clampedQuantum(std::ceil(weight));
    errors[i] = nearest - weight;
    steps[i] = nearest == below ? above - below : below - above;
  }
  std::vector<double> gradient = gradients(errors, moments);
  for (unsigned round = 0, changed = 1; changed && round < kMostRounds; ++round) {
    changed = 0;
    for (size_t i = 0; i < count; ++i) {
      double step = steps[i], own = moments[i * count + i];
      if (!(2 * step * gradient[i] + step * step * own < -kLeastGain * own))
        continue;
      for (size_t j = 0; j < count; ++j)
        gradient[j] += step * moments[i * count + j];
      errors[i] += step;
      steps[i] = -step;
      ++changed;
    }
  }
  std::vector<int8_t> numbers(count);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = int8_t(std::nearbyint(weights[i] + errors[i]));
  return numbers;
}

//===-- All products --------------------------------------------------------------------------===//

RoundingLearner::RoundingLearner(ModuleOp module, unsigned threadCount)
    : threads(llvm::hardware_concurrency(threadCount)), reads(productReads(module)) {
  llvm::erase_if(reads, [&](const ProductRead &read) {
    std::optional<Elements> elements =
        Elements::of(onnx::constantValue(read.product->getOperand(1)));
    if (read.depth() > kMostLearnedDepth || !elements || elements->kind != onnx::ElementKind::F32)
      return true;
    Weights &of = weights[read.name];
    of.nearest =
        quantizeWeights(*elements, channelAxis(read.product), /*biases=*/{}, /*inputScale=*/1);
    of.quanta = readElements<float>(*elements);
    for (auto [i, number] : llvm::enumerate(of.quanta))
      number /= of.nearest.scales[of.nearest.channelOf(i)];
    return false;
  });
}

void RoundingLearner::expect(ArrayRef<TensorPort> taps, ArrayRef<CalibratedValue> values) {
  byTap.resize(taps.size());
  for (ProductRead &read : tappedReads(reads, taps, values)) {
    auto same = llvm::find_if(moments, [&](const SecondMoments &at) { return at.isOf(read); });
    unsigned index = same - moments.begin();
    if (same == moments.end()) {
      moments.emplace_back(read);
      byTap[read.tap].push_back(products.size());
    }
    products.push_back({std::move(read), index});
  }
}

void RoundingLearner::add(const TappedValue &value) {
  if (value.type != CAMEO_DTYPE_F32 || byTap[value.tap].empty())
    return;
  ArrayRef<float> floats(reinterpret_cast<const float *>(value.bytes.data()),
                         value.bytes.size() / sizeof(float));
  // Those that read one value have one threshold.
  float scale = activationScale(products[byTap[value.tap].front()].read.threshold);
  std::vector<int8_t> numbers;
  numbers.reserve(floats.size());
  for (float number : floats)
    numbers.push_back(std::isfinite(number) ? int8_t(clampedQuantum(std::nearbyint(number / scale)))
                                            : 0);
  for (unsigned i : byTap[value.tap])
    if (products[i].read.reads(value.shape))
      moments[products[i].moments].add(numbers, value.shape, threads);
}

ProductRounding RoundingLearner::learn(const ProductRead &read, const SecondMoments &moments) {
  const Weights &of = weights.find(read.name)->second;
  const QuantizedWeights &nearest = of.nearest;
  int64_t depth = moments.depth(), outputs = int64_t(of.quanta.size()) / depth;
  int64_t perGroup = outputs / read.groups;
  // An output channel is a row of the weights, or a column.
  bool isRow = *nearest.axis == 0;
  auto indexOf = [&](int64_t output, int64_t i) {
    return isRow ? output * depth + i : i * outputs + output;
  };
  std::vector<int8_t> numbers(of.quanta.size());
  std::vector<double> square(depth * depth);
  for (int64_t group = 0; group < read.groups; ++group) {
    for (int64_t i = 0; i < depth; ++i)
      for (int64_t j = 0; j < depth; ++j)
        square[i * depth + j] = double(moments.at(group, i, j));
    for (int64_t output = group * perGroup; output < (group + 1) * perGroup; ++output)
      threads.async([&, output] {
        std::vector<float> quanta(depth);
        for (int64_t i = 0; i < depth; ++i)
          quanta[i] = of.quanta[indexOf(output, i)];
        for (auto [i, number] : llvm::enumerate(roundTogether(quanta, square)))
          numbers[indexOf(output, i)] = number;
      });
    threads.wait();
  }
  ProductRounding rounding{read.name, nearest.scales, {}};
  for (auto [number, quanta] : llvm::zip(numbers, of.quanta))
    rounding.isUp.push_back(number > std::floor(quanta));
  return rounding;
}

std::vector<ProductRounding> RoundingLearner::learn() {
  std::vector<ProductRounding> found;
  for (const Product &product : products)
    found.push_back(learn(product.read, moments[product.moments]));
  llvm::sort(found, [](const auto &a, const auto &b) { return a.product < b.product; });
  return found;
}
