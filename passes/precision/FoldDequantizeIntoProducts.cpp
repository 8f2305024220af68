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
#include "passes/precision/QuantizedProduct.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDDEQUANTIZEINTOPRODUCTS
#include "passes/Passes.h.inc"

namespace {

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

  /// One number per channel in a shape that broadcasts to the result.
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
