// Floats ==> integers with scales, and what dequantises these.
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
    scale = weightScale(float(most[channel]));
    double bias = biases.empty() ? 0 : std::abs(biases[biases.size() == 1 ? 0 : channel]);
    double least = bias / inputScale / kLastBias;
    if (scale < least) {
      scale = weightScale(float(least * kLastQuantum));
      ++result.widened;
    }
  }
  for (auto [i, number] : llvm::enumerate(read))
    result.numbers.push_back(quantum(std::nearbyint(number / result.scales[result.channelOf(i)])));
  return result;
}

QuantizedMatrix quantizeMatrix(const Elements &elements, int64_t depthAxis,
                               std::optional<int64_t> block, double last) {
  int64_t columns = elements.shape().back(), size = block.value_or(elements.shape()[depthAxis]);
  QuantizedMatrix result;
  result.scaleShape.assign(elements.shape().begin(), elements.shape().end());
  result.scaleShape[depthAxis] /= size;
  int64_t scaleColumns = result.scaleShape.back();
  auto scaleOf = [&](int64_t i) {
    int64_t row = i / columns, column = i % columns;
    return depthAxis == 0 ? row / size * scaleColumns + column : row * scaleColumns + column / size;
  };
  std::vector<float> read = readElements<float>(elements);
  std::vector<double> most(ShapedType::getNumElements(result.scaleShape), 0);
  for (auto [i, number] : llvm::enumerate(read))
    most[scaleOf(i)] = std::max(most[scaleOf(i)], std::abs(double(number)));
  for (double magnitude : most)
    result.scales.push_back(quantizationScale(magnitude, last));
  for (auto [i, number] : llvm::enumerate(read))
    result.numbers.push_back(
        int8_t(std::clamp<float>(std::nearbyint(number / result.scales[scaleOf(i)]), -last, last)));
  if (!block)
    result.scaleShape.erase(result.scaleShape.begin() + depthAxis);
  return result;
}

//===-- Constants -----------------------------------------------------------------------------===//

Location namedLocation(Location loc, const Twine &name) {
  return NameLoc::get(StringAttr::get(loc.getContext(), name), loc);
}

Value createScales(OpBuilder &b, Location loc, ArrayRef<float> scales, ArrayRef<int64_t> shape) {
  std::vector<char> bytes = writeElements<float>(onnx::ElementKind::F32, scales);
  auto type = RankedTensorType::get(shape, b.getF32Type());
  return createConstant(b, loc, onnx::makeConstant(type, "scale", ArrayRef<char>(bytes)));
}

Value dequantizeConstant(OpBuilder &b, Location loc, StringRef name, ElementsAttr numbers,
                         ArrayRef<float> scales, ArrayRef<int64_t> scaleShape,
                         std::optional<int64_t> axis, std::optional<int64_t> block) {
  Value integers = createConstant(b, namedLocation(loc, name), numbers);
  Value scale = createScales(b, namedLocation(loc, name + ".scale"), scales, scaleShape);
  Value none = b.create<onnx::NoneOp>(loc, b.getNoneType(), ValueRange());
  SmallVector<NamedAttribute> attributes;
  if (axis)
    attributes.push_back(b.getNamedAttr("axis", b.getI64IntegerAttr(*axis)));
  if (block)
    attributes.push_back(b.getNamedAttr("block_size", b.getI64IntegerAttr(*block)));
  auto type = cast<RankedTensorType>(numbers.getType()).clone(b.getF32Type());
  return b.create<onnx::DequantizeLinearOp>(namedLocation(loc, name + ".dequantized"),
                                            TypeRange{type}, ValueRange{integers, scale, none},
                                            attributes);
}

} // namespace cameo
