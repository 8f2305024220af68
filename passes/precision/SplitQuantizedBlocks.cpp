// Products by weights that are quantised in blocks of their depth sum over blocks, then within.
//
//   %f = onnx.DequantizeLinear(%w, %s, %z) {axis = 0, block_size = 32}    64x16, scales 2x16
//   %y = onnx.MatMul(%x, %f)
//     ==>
//   %b = onnx.DequantizeLinear(%w', %s', %z') {axis = 1, block_size = 32} 2x32x16, scales 2x1x16
//   %y = onnx.Einsum(%x', %b) {equation = "ayz,yzb->ab"}                  x' is x as ...x2x32
//
// Of a Gemm whose weights are turned, blocks are the last dimension; what it adds is added behind.
// So each number of the scales is at an index of its own, which the product reads as it goes: no
// index is divided, and weights stay as small as they are.
// ONNX has no Einsum of BF16: that of FP32 between casts has the same sums, rounded at the end.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"
#include "passes/graph/Permutations.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_SPLITQUANTIZEDBLOCKS
#include "passes/Passes.h.inc"

namespace {

/// Weights of a product whose depth is in whole blocks.
struct BlockedWeights {
  Operation *product;
  Operation *op; // DequantizeLinear
  int64_t blocks, block, columns;
  bool isTurned; // columns come first

  /// With a column's blocks as a dimension of their own, each of `size`.
  SmallVector<int64_t> shape(int64_t size) const {
    return isTurned ? SmallVector<int64_t>{columns, blocks, size}
                    : SmallVector<int64_t>{blocks, size, columns};
  }

  static std::optional<BlockedWeights> of(Operation *op);
};

/// Whether it is a product by its second operand, or that turned, perhaps with something added.
bool isPlainProduct(Operation *op) {
  if (auto gemm = dyn_cast<onnx::GemmOp>(op))
    return gemm.getAlpha().convertToDouble() == 1 && gemm.getTransA() == 0 &&
           (op->getNumOperands() < 3 || onnx::isAbsent(op->getOperand(2)) ||
            gemm.getBeta().convertToDouble() == 1);
  return isa<onnx::MatMulOp>(op);
}

std::optional<BlockedWeights> BlockedWeights::of(Operation *op) {
  Operation *product = isPlainProduct(op) ? op : nullptr;
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  bool isTurned = gemm && gemm.getTransB() != 0;
  auto weights =
      product ? product->getOperand(1).getDefiningOp<onnx::DequantizeLinearOp>() : nullptr;
  auto left = product ? dyn_cast<RankedTensorType>(product->getOperand(0).getType()) : nullptr;
  if (!weights || !left || left.getRank() < 2 || left.getRank() > 20 ||
      !hasReliableShape(product->getOperand(0)) || !hasReliableShape(product->getResult(0)))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(weights->getOperand(0).getType());
  auto scale = dyn_cast<RankedTensorType>(weights->getOperand(1).getType());
  int64_t block = weights.getBlockSize(), axis = weights.getAxis();
  if (!type || !scale || type.getRank() != 2 || scale.getRank() != 2 || block < 2)
    return std::nullopt;
  int64_t depth = isTurned ? 1 : 0, across = 1 - depth;
  if ((axis != depth && axis != depth - 2) || type.getDimSize(depth) % block != 0 ||
      scale.getDimSize(depth) * block != type.getDimSize(depth) ||
      scale.getDimSize(across) != type.getDimSize(across))
    return std::nullopt;
  for (Value operand : weights->getOperands())
    if (!onnx::isAbsent(operand) && !onnx::constantValue(operand))
      return std::nullopt;
  return BlockedWeights{product, weights, scale.getDimSize(depth), block, type.getDimSize(across),
                        isTurned};
}

/// The same elements in another shape.
Value viewed(OpBuilder &b, Value constant, ArrayRef<int64_t> shape) {
  ElementsAttr value = onnx::constantValue(constant);
  auto type = RankedTensorType::get(shape, value.getElementType());
  ElementsAttr large = onnx::largeConstantAs(type, value);
  return createConstant(b, constant.getLoc(),
                        large ? large : cast<DenseElementsAttr>(value).reshape(type));
}

struct SplitQuantizedBlocks : impl::SplitQuantizedBlocksBase<SplitQuantizedBlocks> {
  void runOnOperation() override {
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front()))
      if (std::optional<BlockedWeights> weights = BlockedWeights::of(&op)) {
        replace(*weights);
        count(&getContext(), getArgument(), "split");
      }
  }

private:
  static Value splitWeights(OpBuilder &b, const BlockedWeights &weights) {
    SmallVector<Value> operands{viewed(b, weights.op->getOperand(0), weights.shape(weights.block))};
    for (Value parameter : weights.op->getOperands().drop_front())
      operands.push_back(onnx::isAbsent(parameter) ? parameter
                                                   : viewed(b, parameter, weights.shape(1)));
    NamedAttrList attributes(weights.op->getAttrs());
    attributes.set("axis", b.getI64IntegerAttr(weights.isTurned ? 2 : 1));
    attributes.erase(onnx::kDimsAttr);
    Type element = cast<TensorType>(weights.op->getResult(0).getType()).getElementType();
    auto type = RankedTensorType::get(weights.shape(weights.block), element);
    return b.create<onnx::DequantizeLinearOp>(weights.op->getLoc(), TypeRange{type}, operands,
                                              attributes.getAttrs());
  }

  /// The left operand with its last dimension as blocks.
  static Value splitOperand(OpBuilder &b, const BlockedWeights &weights) {
    Value x = weights.product->getOperand(0);
    Location loc = weights.product->getLoc();
    auto type = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> shape(type.getShape().drop_back()), asked(shape.size(), 0);
    shape.append({weights.blocks, weights.block});
    asked.append({weights.blocks, weights.block});
    auto listType = RankedTensorType::get({int64_t(asked.size())}, b.getI64Type());
    Value list = createConstant(b, loc, DenseElementsAttr::get(listType, ArrayRef(asked)));
    auto reshaped = b.create<onnx::ReshapeOp>(
        loc, TypeRange{RankedTensorType::get(shape, type.getElementType())}, ValueRange{x, list});
    if (!type.hasStaticShape()) {
      SmallVector<Attribute> dims(knownDims(x).getValue().drop_back());
      for (int64_t size : ArrayRef(shape).take_back(2))
        dims.push_back(b.getI64IntegerAttr(size));
      setDims(reshaped, dims);
    }
    return reshaped;
  }

  /// `value` with elements of another type.
  static Value converted(OpBuilder &b, Location loc, Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    auto result = b.create<onnx::CastOp>(
        loc, TypeRange{type.clone(element)}, ValueRange{value},
        b.getNamedAttr("to",
                       b.getI64IntegerAttr(onnx::elementNumber(*onnx::elementKind(element)))));
    if (Operation *definition = value.getDefiningOp())
      if (Attribute dims = definition->getAttr(onnx::kDimsAttr))
        result->setAttr(onnx::kDimsAttr, dims);
    return result;
  }

  static void replace(const BlockedWeights &weights) {
    Operation *product = weights.product;
    OpBuilder b(product);
    Value x = splitOperand(b, weights), w = splitWeights(b, weights);
    auto resultType = cast<RankedTensorType>(product->getResult(0).getType());
    bool isBf16 = resultType.getElementType().isBF16();
    if (isBf16)
      for (Value *operand : {&x, &w})
        *operand = converted(b, product->getLoc(), *operand, b.getF32Type());
    std::string rows;
    for (int64_t i = 1; i < cast<RankedTensorType>(x.getType()).getRank() - 1; ++i)
      rows += char('a' + i - 1);
    std::string equation = rows + "yz," + (weights.isTurned ? "xyz" : "yzx") + "->" + rows + "x";
    auto sum = b.create<onnx::EinsumOp>(
        product->getLoc(), TypeRange{isBf16 ? resultType.clone(b.getF32Type()) : resultType},
        ValueRange{x, w}, b.getNamedAttr("equation", b.getStringAttr(equation)));
    if (Attribute dims = product->getAttr(onnx::kDimsAttr))
      sum->setAttr(onnx::kDimsAttr, dims);
    Value result = sum->getResult(0);
    if (isBf16)
      result = converted(b, product->getLoc(), result, resultType.getElementType());
    if (product->getNumOperands() > 2 && !onnx::isAbsent(product->getOperand(2))) {
      auto added = b.create<onnx::AddOp>(product->getLoc(), TypeRange{result.getType()},
                                         ValueRange{result, product->getOperand(2)});
      if (Attribute dims = product->getAttr(onnx::kDimsAttr))
        added->setAttr(onnx::kDimsAttr, dims);
      result = added->getResult(0);
    }
    product->getResult(0).replaceAllUsesWith(result);
    product->erase();
    if (weights.op->use_empty())
      eraseWithConstants(weights.op);
  }
};

} // namespace

} // namespace cameo
