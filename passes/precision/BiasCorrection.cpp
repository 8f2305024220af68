// Means of what a product reads, its weights before and after ==> how far its results move.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/BiasCorrection.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/precision/QuantizedValue.h"

#include <cmath>

using namespace mlir;

namespace cameo {

namespace {
/// Where a weight is: [outputs, inputs of a group, places], or [inputs, outputs].
struct WeightLayout {
  int64_t outputs, inputs, places = 1, groups = 1;
  bool outputsFirst = true;

  static WeightLayout of(Operation *product) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(product->getOperand(1).getType()).getShape();
    if (auto gemm = dyn_cast<onnx::GemmOp>(product))
      return gemm.getTransB() ? WeightLayout{shape[0], shape[1]}
                              : WeightLayout{shape[1], shape[0], 1, 1, false};
    auto group = product->getAttrOfType<IntegerAttr>("group");
    return {shape[0], shape[1], ShapedType::getNumElements(shape.drop_front(2)),
            group ? group.getInt() : 1};
  }
  int64_t weight(int64_t output, int64_t input, int64_t place) const {
    return outputsFirst ? (output * inputs + input) * places + place : input * outputs + output;
  }
  /// Which of the recorded means it is multiplied with.
  int64_t mean(int64_t output, int64_t input, int64_t place) const {
    int64_t group = output / (outputs / groups);
    return (group * inputs + input) * places + place;
  }
};
} // namespace

std::optional<std::vector<double>> meanError(Operation *product, const RoundedWeights &weights,
                                             const RecordedRanges &recorded,
                                             const QuantizedInput &read, std::string &why) {
  auto found = recorded.inputs->find(onnx::nodeName(product).value_or(""));
  if (found == recorded.inputs->end()) {
    why = "no means of what it reads were recorded";
    return std::nullopt;
  }
  const RecordedRanges::Input &input = found->second;
  WeightLayout layout = WeightLayout::of(product);
  if (input.value != read.value ||
      int64_t(input.means.size()) != layout.groups * layout.inputs * layout.places) {
    why = "the means that were recorded are of something else that it read";
    return std::nullopt;
  }
  bool isShifted = input.scale == read.scale;
  std::vector<double> result(layout.outputs, 0.0);
  for (int64_t output = 0; output < layout.outputs; ++output)
    for (int64_t i = 0; i < layout.inputs; ++i)
      for (int64_t place = 0; place < layout.places; ++place) {
        int64_t at = layout.weight(output, i, place), mean = layout.mean(output, i, place);
        double factor = 1; // of the channel, by which weights are divided
        if (!read.exponents.empty())
          factor = std::ldexp(1.0, read.exponents[mean / layout.places]);
        double after = double(weights.numbers[at]) *
                       double(weights.scales[weights.scales.size() == 1 ? 0 : output]);
        result[output] += (after - double(weights.before[at])) * factor * input.means[mean];
        if (isShifted)
          result[output] += after * factor * input.shifts[mean];
      }
  return result;
}

} // namespace cameo
