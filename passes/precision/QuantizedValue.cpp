// Reading QuantizeLinear and DequantizeLinear.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/QuantizedValue.h"

#include "passes/graph/Elements.h"
#include "runtime/mutant.h"

#include <cmath>

using namespace mlir;

namespace cameo {

/// Zero points, 0 where there is none; nothing where they are not constant.
static std::optional<std::vector<int64_t>> zerosOf(Operation *op) {
  if (op->getNumOperands() < 3 || onnx::isAbsent(op->getOperand(2)))
    return std::vector<int64_t>{0};
  std::optional<SmallVector<int64_t>> zeros = onnx::constantInts(op->getOperand(2));
  if (!zeros || zeros->empty())
    return std::nullopt;
  return std::vector<int64_t>(zeros->begin(), zeros->end());
}

std::optional<QuantizedValue> QuantizedValue::of(Operation *op) {
  if (!isa_and_nonnull<onnx::QuantizeLinearOp, onnx::DequantizeLinearOp>(op))
    return std::nullopt;
  bool quantizes = isa<onnx::QuantizeLinearOp>(op);
  auto real = dyn_cast<TensorType>((quantizes ? op->getOperand(0) : op->getResult(0)).getType());
  auto numbers = dyn_cast<TensorType>((quantizes ? op->getResult(0) : op->getOperand(0)).getType());
  std::optional<Elements> scale = Elements::of(onnx::constantValue(op->getOperand(1)));
  if (!real || !numbers || !real.getElementType().isF32() || !scale || scale->shape().size() > 1 ||
      scale->count() == 0 || scale->kind != onnx::ElementKind::F32 ||
      !isa<IntegerType>(numbers.getElementType()))
    return std::nullopt;
  std::optional<std::vector<int64_t>> zeros = zerosOf(op);
  if (!zeros)
    return std::nullopt;
  QuantizedValue value{op, readElements<float>(*scale), std::move(*zeros), 0,
                       numbers.getElementType()};
  // Nor can a quotient leave the normal range, or differ from a number by more than rounding.
  if (llvm::any_of(value.scales,
                   [](float number) { return !(number > 0x1p-100f && number < 0x1p100f); }))
    return std::nullopt;
  if (value.isPerTensor())
    return value;
  auto ranked = dyn_cast<RankedTensorType>(numbers);
  if (!ranked)
    return std::nullopt;
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  value.axis = axis ? axis.getInt() : 1;
  if (value.axis < 0)
    value.axis += ranked.getRank();
  if (value.axis < 0 || value.axis >= ranked.getRank())
    return std::nullopt;
  int64_t size = ranked.getDimSize(value.axis);
  for (size_t count : {value.scales.size(), value.zeros.size()})
    if (count != 1 && int64_t(count) != size)
      return std::nullopt;
  return value;
}

std::optional<QuantizedValue> QuantizedValue::dequantized(Value value) {
  auto op = value.getDefiningOp<onnx::DequantizeLinearOp>();
  return op ? of(op) : std::nullopt;
}

float quantizationScale(double threshold, double last) {
  return threshold > 0 ? float(std::clamp(threshold / last, kLeastScale, kMostScale)) : 1.0f;
}

/// Not below a number, and of so many significant bits.
static double roundUp(double number, int bits) {
  int exponent;
  double fraction = std::frexp(number, &exponent);
  double steps = std::ldexp(fraction, bits);
  return std::ldexp(CAMEO_MUTANT(34, std::ceil(steps), std::nearbyint(steps)), exponent - bits);
}

static float scaleOfBits(float threshold, int bits) {
  if (!(threshold > 0))
    return 1.0f;
  return float(
      std::clamp(roundUp(double(threshold) / kLastQuantum, bits), kLeastScale, kMostScale));
}

float activationScale(float threshold) { return scaleOfBits(threshold, kActivationScaleBits); }

float weightScale(float magnitude) { return scaleOfBits(magnitude, kWeightScaleBits); }

bool movesElements(Operation *op) {
  if (auto pool = dyn_cast_or_null<onnx::MaxPoolOp>(op))
    return pool->getNumResults() == 1 || pool->getResult(1).use_empty();
  return isa_and_nonnull<onnx::ConcatOp, onnx::DepthToSpaceOp, onnx::ExpandOp, onnx::FlattenOp,
                         onnx::GatherOp, onnx::ReshapeOp, onnx::SliceOp, onnx::SpaceToDepthOp,
                         onnx::SqueezeOp, onnx::TileOp, onnx::TransposeOp, onnx::UnsqueezeOp>(op);
}

MutableArrayRef<OpOperand> movedOperands(Operation *op) {
  if (!movesElements(op))
    return {};
  return op->getOpOperands().take_front(isa<onnx::ConcatOp>(op) ? op->getNumOperands() : 1);
}

} // namespace cameo
