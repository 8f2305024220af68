// Reading products of dequantised operands.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/QuantizedProduct.h"

#include "passes/graph/Elements.h"
#include "passes/precision/Policy.h"

using namespace mlir;

namespace cameo {

int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

std::optional<std::vector<double>> addedNumbers(Value value) {
  if (std::optional<Elements> elements = Elements::of(onnx::constantValue(value)))
    return elements->kind == onnx::ElementKind::F32 ? std::optional(readDoubles(*elements))
                                                    : std::nullopt;
  std::optional<QuantizedValue> source = QuantizedValue::dequantized(value);
  if (!source || (rankOf(value) != 1 && !source->isPerTensor()))
    return std::nullopt;
  std::optional<SmallVector<int64_t>> integers = onnx::constantInts(source->source());
  if (!integers)
    return std::nullopt;
  std::vector<double> numbers;
  for (auto [i, integer] : llvm::enumerate(*integers))
    numbers.push_back(double(integer - source->zero(i)) * source->scale(i));
  return numbers;
}

std::optional<QuantizedProduct> QuantizedProduct::of(Operation *op, std::string &why) {
  // Somebody wants it in more bits.
  if (!isa_and_nonnull<onnx::ConvOp, onnx::MatMulOp, onnx::GemmOp>(op) ||
      op->hasAttr(kKeptPrecisionAttr))
    return std::nullopt;
  std::optional<QuantizedValue> x = QuantizedValue::dequantized(op->getOperand(0));
  std::optional<QuantizedValue> w = QuantizedValue::dequantized(op->getOperand(1));
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!x || !w || !type || !hasReliableShape(op->getResult(0)))
    return std::nullopt;
  auto no = [&](const Twine &reason) {
    why = reason.str();
    return std::nullopt;
  };
  if (!x->hasBytes() || !w->hasBytes())
    return no("integers of other than 8 bits are multiplied as floats");
  if (!x->isPerTensor())
    return no("the left operand has several scales");
  QuantizedProduct product{op, *x, *w, {}, 1, {}, 1, false};
  int64_t channels = 0; // the axis of w that is one of the result
  if (auto gemm = dyn_cast<onnx::GemmOp>(op)) {
    if (gemm.getTransA())
      return no("the left operand is transposed");
    product.transposesW = gemm.getTransB() != 0;
    product.factor = gemm.getAlpha().convertToDouble();
    product.addendFactor = gemm.getBeta().convertToDouble();
    channels = product.transposesW ? 0 : 1;
  } else if (isa<onnx::MatMulOp>(op)) {
    channels = rankOf(w->source()) - 1;
  }
  if (product.transposesW && !onnx::constantValue(w->source()))
    return no("the right operand is transposed and not constant");
  if (!w->isPerTensor() && (w->axis != channels || rankOf(w->source()) < 2))
    return no("scales of the right operand are not those of the result's channels");
  if (!w->isPerTensor() && isa<onnx::MatMulOp>(op) && w->zeros.size() > 1 &&
      rankOf(w->source()) > 2)
    return no("zero points differ in a batch of matrices");
  if (op->getNumOperands() > 2 && !onnx::isAbsent(op->getOperand(2)) && product.addendFactor != 0) {
    product.addend = op->getOperand(2);
    bool needsNumbers = product.isConvolution() || product.addendFactor != 1 ||
                        product.addend.getDefiningOp<onnx::DequantizeLinearOp>();
    if (needsNumbers && !addedNumbers(product.addend))
      return no("what is added is not a constant");
  }
  for (float scale : w->scales)
    product.scales.push_back(double(x->scales[0]) * scale * product.factor);
  return product;
}

bool isIntegerProduct(Operation *op) {
  std::string why;
  return QuantizedProduct::of(op, why).has_value();
}

bool isQuantized(Operation *op) {
  return isa<onnx::QuantizeLinearOp, onnx::DequantizeLinearOp>(op)
             ? QuantizedValue::of(op).has_value()
             : isIntegerProduct(op);
}

} // namespace cameo
