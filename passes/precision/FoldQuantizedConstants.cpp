// Constants that are quantised become integers, and small ones that are dequantised floats, except
// where a product reads them.
//
//   %q = onnx.QuantizeLinear(%c, %s, %z)   ==>  %q = onnx.Constant()
//   %f = onnx.DequantizeLinear(%c, %s, %z)
//   %y = onnx.Add(%x, %f)                  ==>  %y = onnx.Add(%x, %c')
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"
#include "passes/graph/Elements.h"
#include "passes/precision/QuantizedValue.h"

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
    return use.getOperandNumber() < 2 &&
           isa<onnx::ConvOp, onnx::ConvTransposeOp, onnx::EinsumOp, onnx::GemmOp, onnx::MatMulOp>(
               use.getOwner());
  });
}

/// Which of an axis's numbers an element has.
int64_t indexOf(const QuantizedValue &value, ArrayRef<int64_t> shape, int64_t element) {
  if (value.isPerTensor())
    return 0;
  int64_t inner = ShapedType::getNumElements(shape.drop_front(value.axis + 1));
  return element / inner % shape[value.axis];
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
      std::optional<QuantizedValue> value = QuantizedValue::of(op);
      std::optional<Elements> elements =
          value ? Elements::of(onnx::constantValue(value->source())) : std::nullopt;
      if (!elements || elements->count() == 0)
        continue;
      std::vector<char> bytes;
      if (isa<onnx::QuantizeLinearOp>(op))
        bytes = quantized(*value, *elements);
      else if (!keepDequantized && elements->count() <= maxElements &&
               !isMultiplied(op->getResult(0)))
        bytes = dequantized(*value, *elements);
      if (bytes.empty())
        continue;
      OpBuilder b(op);
      Type element = cast<TensorType>(op->getResult(0).getType()).getElementType();
      auto type = RankedTensorType::get(elements->shape(), element);
      op->getResult(0).replaceAllUsesWith(
          createConstant(b, op->getLoc(), onnx::makeConstant(type, nodeName(op), bytes)));
      eraseWithConstants(op);
      count(&getContext(), getArgument(), "folded");
    }
    updateFunctionType(getOperation());
  }

private:
  /// IEEE 754 defines each bit: a quotient, the nearest integer, ties to even.
  static std::vector<char> quantized(const QuantizedValue &value, const Elements &elements) {
    std::optional<onnx::ElementKind> kind = onnx::elementKind(value.numberType);
    unsigned bits = onnx::elementBits(*kind);
    if (bits < 8)
      return {};
    bool isUnsigned = value.numberType.isUnsignedInteger();
    float least = isUnsigned ? 0 : -std::ldexp(1.0f, bits - 1);
    float most = std::ldexp(1.0f, isUnsigned ? bits : bits - 1) - 1;
    std::vector<float> numbers = readElements<float>(elements);
    std::vector<int64_t> integers;
    for (auto [i, number] : llvm::enumerate(numbers)) {
      int64_t index = indexOf(value, elements.shape(), i);
      if (std::isnan(number))
        return {};
      float rounded = std::nearbyint(number / value.scale(index)) + float(value.zero(index));
      integers.push_back(int64_t(std::clamp(rounded, least, most)));
    }
    return writeElements<int64_t>(*kind, integers);
  }

  static std::vector<char> dequantized(const QuantizedValue &value, const Elements &elements) {
    if (computesIn(elements.kind) == Computes::Not)
      return {};
    std::vector<int64_t> integers = readElements<int64_t>(elements);
    std::vector<float> numbers;
    for (auto [i, integer] : llvm::enumerate(integers)) {
      int64_t index = indexOf(value, elements.shape(), i);
      numbers.push_back(float(int32_t(integer - value.zero(index))) * value.scale(index));
    }
    return writeElements<float>(onnx::ElementKind::F32, numbers);
  }
};

} // namespace

} // namespace cameo
