// Products of dequantised tensors are products of their integers, scaled.
//
//   %a = onnx.DequantizeLinear(%x, %sx, %zx)
//   %b = onnx.DequantizeLinear(%w, %sw, %zw)
//   %y = onnx.Conv(%a, %b, %bias)
//     ==>
//   %0 = onnx.ConvInteger(%x, %w, %zx, %zw)
//   %1 = onnx.Cast(%0) {to = float}
//   %2 = onnx.Mul(%1, %s)                    s = sx * sw, one number or one a channel
//   %y = onnx.Add(%2, %bias)
//
// The sum of integers is exact; so results agree to rounding with those of floats.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Permutations.h"
#include "passes/precision/QuantizedValue.h"

#include <cmath>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDDEQUANTIZEINTOPRODUCTS
#include "passes/Passes.h.inc"

namespace {

/// A product whose two operands are dequantised, with what is left of it in constants.
struct QuantizedProduct {
  Operation *op;
  QuantizedValue x, w;
  std::vector<double> scales; // one, or one a channel of the result
  double factor = 1;          // of the sum
  Value addend;               // null for none
  double addendFactor = 1;
  bool transposesW = false;

  static std::optional<QuantizedProduct> of(Operation *op, std::string &why);
  bool isConvolution() const { return isa<onnx::ConvOp>(op); }
};

int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

/// Constants of floats that are added, dequantised where they are quantised; nothing for others.
std::optional<std::vector<double>> addedNumbers(Value value) {
  if (std::optional<Elements> elements = Elements::of(onnx::constantValue(value)))
    return elements->kind == onnx::ElementKind::F32 ? std::optional(readDoubles(*elements))
                                                    : std::nullopt;
  std::optional<QuantizedValue> source = QuantizedValue::dequantized(value);
  if (!source || rankOf(value) != 1)
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
  if (!isa_and_nonnull<onnx::ConvOp, onnx::MatMulOp, onnx::GemmOp>(op))
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
      return no("what is added is no constant");
  }
  for (float scale : w->scales)
    product.scales.push_back(double(x->scales[0]) * scale * product.factor);
  return product;
}

struct FoldDequantizeIntoProducts
    : impl::FoldDequantizeIntoProductsBase<FoldDequantizeIntoProducts> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    rt::Ledger ledger(function);
    SmallVector<Operation *> operators;
    function.walk([&](Operation *op) { operators.push_back(op); });
    for (Operation *op : operators) {
      std::string why;
      std::optional<QuantizedProduct> product = QuantizedProduct::of(op, why);
      if (product) {
        ledger.applied("integers", op->getLoc(), "multiplied as integers");
        replace(*product);
        count(&getContext(), getArgument(), "folded");
      } else if (!why.empty()) {
        ledger.missed("integers", op->getLoc(), "multiplied as floats", why);
        count(&getContext(), getArgument(), "missed");
      }
    }
    for (Operation *op : operators)
      if (dequantizers.contains(op) && op->use_empty())
        eraseWithConstants(op);
    updateFunctionType(function);
  }

private:
  /// A constant in place of a scale or what is added: f32 of these numbers.
  static Value constantOf(OpBuilder &b, Operation *op, ArrayRef<int64_t> shape,
                          ArrayRef<double> numbers, StringRef what) {
    std::vector<char> bytes = writeElements(onnx::ElementKind::F32, numbers);
    std::string name = (nodeName(op) + "." + what).str();
    auto type = RankedTensorType::get(shape, b.getF32Type());
    return createConstant(b, op->getLoc(), onnx::makeConstant(type, name, ArrayRef<char>(bytes)));
  }

  /// One number a channel in a shape that broadcasts to the result.
  static SmallVector<int64_t> channelShape(const QuantizedProduct &product, int64_t count) {
    if (count == 1)
      return {};
    SmallVector<int64_t> shape{count};
    if (product.isConvolution())
      shape.append(rankOf(product.op->getResult(0)) - 2, 1);
    return shape;
  }

  static Value zeroPoint(OpBuilder &b, const QuantizedValue &value) {
    if (value.op->getNumOperands() > 2)
      return value.op->getOperand(2);
    return b.create<onnx::NoneOp>(value.op->getLoc(), b.getNoneType(), ValueRange());
  }

  static Value transposed(OpBuilder &b, const QuantizedValue &w) {
    Elements elements = *Elements::of(onnx::constantValue(w.source()));
    int64_t rows = elements.shape()[0], columns = elements.shape()[1];
    std::vector<char> bytes(rows * columns);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        bytes[j * rows + i] = *elements.at(i * columns + j);
    auto type = RankedTensorType::get({columns, rows}, w.numberType);
    Operation *constant = w.source().getDefiningOp();
    return createConstant(b, constant->getLoc(),
                          onnx::makeConstant(type, (nodeName(constant) + ".transposed").str(),
                                             ArrayRef<char>(bytes)));
  }

  void replace(const QuantizedProduct &product) {
    Operation *op = product.op;
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    ArrayAttr dims = knownDims(op->getResult(0));
    auto noteDims = [&](Operation *made) -> Value {
      if (dims && !type.hasStaticShape())
        setDims(made, dims.getValue());
      return made->getResult(0);
    };
    Value w = product.transposesW ? transposed(b, product.w) : product.w.source();
    SmallVector<Value> operands{product.x.source(), w, zeroPoint(b, product.x),
                                zeroPoint(b, product.w)};
    auto sums = RankedTensorType::get(type.getShape(), b.getI32Type());
    Operation *sum;
    if (product.isConvolution()) {
      NamedAttrList attributes(op->getAttrs());
      attributes.erase(onnx::kDimsAttr);
      sum = b.create<onnx::ConvIntegerOp>(loc, TypeRange{sums}, operands, attributes.getAttrs());
    } else {
      sum = b.create<onnx::MatMulIntegerOp>(loc, TypeRange{sums}, operands,
                                            ArrayRef<NamedAttribute>());
    }
    auto to =
        b.getNamedAttr("to", b.getI64IntegerAttr(onnx::elementNumber(onnx::ElementKind::F32)));
    Value number = noteDims(b.create<onnx::CastOp>(loc, TypeRange{type}, noteDims(sum), to));
    Value scale =
        constantOf(b, op, channelShape(product, product.scales.size()), product.scales, "scale");
    number = noteDims(b.create<onnx::MulOp>(loc, TypeRange{type}, ValueRange{number, scale}));
    if (product.addend)
      number = noteDims(
          b.create<onnx::AddOp>(loc, TypeRange{type}, ValueRange{number, addend(b, product)}));
    for (Value operand : op->getOperands())
      if (Operation *before = operand.getDefiningOp();
          isa_and_nonnull<onnx::DequantizeLinearOp>(before))
        dequantizers.insert(before);
    op->getResult(0).replaceAllUsesWith(number);
    op->erase();
  }

  static Value addend(OpBuilder &b, const QuantizedProduct &product) {
    std::optional<std::vector<double>> numbers = addedNumbers(product.addend);
    if (!numbers || (!product.isConvolution() && product.addendFactor == 1 &&
                     onnx::constantValue(product.addend)))
      return product.addend;
    for (double &number : *numbers)
      number *= product.addendFactor;
    SmallVector<int64_t> shape(cast<RankedTensorType>(product.addend.getType()).getShape());
    if (product.isConvolution())
      shape.append(rankOf(product.op->getResult(0)) - 2, 1);
    if (numbers->size() == 1)
      shape.clear(); // equal elements may be held as one
    return constantOf(b, product.op, shape, *numbers, "bias");
  }

  llvm::DenseSet<Operation *> dequantizers;
};

} // namespace

} // namespace cameo
