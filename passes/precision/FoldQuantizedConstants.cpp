// Constants that are quantised become integers, and small ones that are dequantised floats, except
// where a product reads them.
//
//   %q = onnx.QuantizeLinear(%c, %s, %z)   ==>  %q = onnx.Constant()
//   %f = onnx.DequantizeLinear(%c, %s, %z)
//   %y = onnx.Add(%x, %f)                  ==>  %y = onnx.Add(%x, %c')
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Recurrence.h"
#include "passes/Statistics.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Graph.h"

#include <cmath>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDQUANTIZEDCONSTANTS
#include "passes/Passes.h.inc"

namespace {

/// Whether a product multiplies by the value: it wants integers, or fewer bytes to read.
bool isMultiplied(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    if (auto cast = dyn_cast<onnx::CastOp>(use.getOwner()))
      return isMultiplied(cast.getOutput());
    if (isa<onnx::GRUOp, onnx::LSTMOp, onnx::RNNOp>(use.getOwner()))
      return use.getOperandNumber() == onnx::kInputWeights ||
             use.getOperandNumber() == onnx::kStateWeights;
    return use.getOperandNumber() < 2 &&
           isa<onnx::ConvOp, onnx::ConvTransposeOp, onnx::EinsumOp, onnx::GemmOp, onnx::MatMulOp>(
               use.getOwner());
  });
}

/// A QuantizeLinear or DequantizeLinear of a constant: a number and its scale and zero point.
/// Quotients and products are as kernels compute them: in f32, rounded once.
class ConstantQuantization {
public:
  /// Nothing where an operand is not constant, or a scale is not an ordinary number.
  static std::optional<ConstantQuantization> of(Operation *op);

  const Elements &source() const { return elements; }
  /// The numbers' bytes; nothing where they are not defined.
  std::vector<char> quantized(onnx::ElementKind kind) const;
  std::vector<char> dequantized(onnx::ElementKind kind) const;

private:
  explicit ConstantQuantization(Elements elements) : elements(std::move(elements)) {}
  bool placeParameters(Operation *op, const Elements &scale);
  bool readZeros(Operation *op, const Elements &scale);
  float scaleOf(int64_t element) const { return scales[indexOf(element)]; }
  int64_t zeroOf(int64_t element) const { return zeros.empty() ? 0 : zeros[indexOf(element)]; }
  int64_t indexOf(int64_t element) const;

  Elements elements;
  bool saturate = true;
  std::vector<float> scales;
  SmallVector<int64_t> zeros; // as many as scales, or none
  // Where there are several scales: of the axis, and whether there is one for all inner elements.
  int64_t size = 1, inner = 1, block = 1, blocks = 1;
  bool isBlocked = false;
};

std::optional<ConstantQuantization> ConstantQuantization::of(Operation *op) {
  std::optional<Elements> source = Elements::of(onnx::constantValue(op->getOperand(0)));
  std::optional<Elements> scale = Elements::of(onnx::constantValue(op->getOperand(1)));
  auto precision = op->getAttrOfType<IntegerAttr>("precision");
  bool inSingle = !precision || precision.getInt() == 0 ||
                  onnx::elementKindOfNumber(precision.getInt()) == onnx::ElementKind::F32;
  if (!source || source->count() == 0 || computesIn(source->kind) == Computes::Not || !scale ||
      scale->count() == 0 || computesIn(scale->kind) != Computes::Float || !inSingle)
    return std::nullopt;
  ConstantQuantization result(*source);
  result.scales = readElements<float>(*scale);
  // Quotients stay in the normal range, or differ from a number by no more than rounding.
  if (llvm::any_of(result.scales,
                   [](float number) { return !(number > 0x1p-100f && number < 0x1p100f); }) ||
      !result.placeParameters(op, *scale) || !result.readZeros(op, *scale))
    return std::nullopt;
  if (auto saturate = op->getAttrOfType<IntegerAttr>("saturate"))
    result.saturate = saturate.getInt() != 0;
  return result;
}

/// Which scale an element has.
bool ConstantQuantization::placeParameters(Operation *op, const Elements &scale) {
  if (scale.count() == 1)
    return true;
  ArrayRef<int64_t> shape = elements.shape();
  auto rank = static_cast<int64_t>(shape.size());
  auto given = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = given ? given.getInt() : 1;
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return false;
  size = shape[axis];
  inner = ShapedType::getNumElements(shape.drop_front(axis + 1));
  if (scale.shape().size() == 1)
    return scale.count() == size;
  auto blockSize = op->getAttrOfType<IntegerAttr>("block_size");
  block = blockSize ? blockSize.getInt() : 0;
  SmallVector<int64_t> wanted(shape);
  if (block < 1)
    return false;
  blocks = wanted[axis] = llvm::divideCeil(size, block);
  isBlocked = true;
  return scale.shape() == ArrayRef(wanted);
}

/// Zero points; those of floats are zero.
bool ConstantQuantization::readZeros(Operation *op, const Elements &scale) {
  if (op->getNumOperands() < 3 || onnx::isAbsent(op->getOperand(2)))
    return true;
  std::optional<Elements> zero = Elements::of(onnx::constantValue(op->getOperand(2)));
  if (!zero || zero->count() != scale.count())
    return false;
  if (onnx::isNarrowFloat(zero->kind))
    return true;
  std::optional<SmallVector<int64_t>> numbers =
      onnx::constantInts(op->getOperand(2), zero->count());
  if (numbers)
    zeros = *numbers;
  return numbers.has_value();
}

int64_t ConstantQuantization::indexOf(int64_t element) const {
  if (scales.size() == 1)
    return 0;
  int64_t along = element / inner % size;
  if (!isBlocked)
    return along;
  return (element / (inner * size) * blocks + along / block) * inner + element % inner;
}

/// IEEE 754 defines each bit: a quotient, the nearest integer or narrow float, ties to even.
std::vector<char> ConstantQuantization::quantized(onnx::ElementKind kind) const {
  std::vector<float> numbers = readElements<float>(elements);
  for (auto [i, number] : llvm::enumerate(numbers))
    number /= scaleOf(i);
  if (onnx::isNarrowFloat(kind))
    return writeElements<float>(kind, numbers, {saturate});
  if (llvm::any_of(numbers, [](float number) { return std::isnan(number); }))
    return {};
  unsigned bits = onnx::elementBits(kind);
  bool isUnsigned = computesIn(kind) == Computes::Unsigned;
  float least = isUnsigned ? 0 : -std::ldexp(1.0f, bits - 1);
  float most = std::ldexp(1.0f, isUnsigned ? bits : bits - 1) - 1;
  std::vector<int64_t> integers;
  for (auto [i, number] : llvm::enumerate(numbers))
    integers.push_back(static_cast<int64_t>(
        std::clamp(std::nearbyint(number) + static_cast<float>(zeroOf(i)), least, most)));
  return writeElements<int64_t>(kind, integers);
}

std::vector<char> ConstantQuantization::dequantized(onnx::ElementKind kind) const {
  std::vector<float> numbers;
  if (onnx::isNarrowFloat(elements.kind))
    numbers = readElements<float>(elements);
  else
    for (auto [i, integer] : llvm::enumerate(readElements<int64_t>(elements)))
      numbers.push_back(static_cast<float>(static_cast<int32_t>(integer - zeroOf(i))));
  for (auto [i, number] : llvm::enumerate(numbers))
    number *= scaleOf(i);
  return writeElements<float>(kind, numbers);
}

struct FoldQuantizedConstants : impl::FoldQuantizedConstantsBase<FoldQuantizedConstants> {
  using FoldQuantizedConstantsBase::FoldQuantizedConstantsBase;

  void runOnOperation() override {
    SmallVector<Operation *> operators;
    getOperation().walk([&](Operation *op) {
      if (isa<onnx::QuantizeLinearOp, onnx::DequantizeLinearOp>(op))
        operators.push_back(op);
    });
    for (Operation *op : operators) {
      std::optional<ConstantQuantization> constant = ConstantQuantization::of(op);
      Type element = cast<TensorType>(op->getResult(0).getType()).getElementType();
      std::optional<onnx::ElementKind> kind = onnx::elementKind(element);
      if (!constant || !kind)
        continue;
      std::vector<char> bytes;
      if (isa<onnx::QuantizeLinearOp>(op))
        bytes = constant->quantized(*kind);
      else if (!keepDequantized && constant->source().count() <= maxElements &&
               !isMultiplied(op->getResult(0)))
        bytes = constant->dequantized(*kind);
      if (bytes.empty())
        continue;
      OpBuilder b(op);
      auto type = RankedTensorType::get(constant->source().shape(), element);
      op->getResult(0).replaceAllUsesWith(
          createConstant(b, op->getLoc(), onnx::makeConstant(type, nodeName(op), bytes)));
      eraseWithConstants(op);
      count(&getContext(), getArgument(), "folded");
    }
    updateFunctionType(getOperation());
  }
};

} // namespace

} // namespace cameo
