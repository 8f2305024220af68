// Questions about the values of ONNX graphs.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/Graph.h"

#include "dialects/onnx/shape/NodeText.h"

using namespace mlir;

namespace cameo {

bool hasReliableShape(Value value) {
  // Inference does not enter the bodies of control flow.
  if (!isa<func::FuncOp>(value.getParentBlock()->getParentOp()))
    return isa_and_nonnull<onnx::ConstantOp>(value.getDefiningOp());
  Operation *op = value.getDefiningOp();
  return !op || !op->hasAttr(kDeclaredShapeAttr);
}

ArrayAttr knownDims(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return {};
  ArrayAttr names;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp());
    if (function)
      names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), onnx::kDimsAttr);
  } else if (auto all = value.getDefiningOp()->getAttrOfType<ArrayAttr>(onnx::kDimsAttr)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    names = number < all.size() ? dyn_cast<ArrayAttr>(all[number]) : ArrayAttr();
  }
  Builder b(value.getContext());
  SmallVector<Attribute> dims;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    auto name = names && i < names.size() ? dyn_cast<StringAttr>(names[i]) : StringAttr();
    if (!ShapedType::isDynamic(size))
      dims.push_back(b.getI64IntegerAttr(size));
    else
      dims.push_back(name ? name : b.getStringAttr(""));
  }
  return b.getArrayAttr(dims);
}

bool haveSameShape(Value a, Value b) {
  if (!hasReliableShape(a) || !hasReliableShape(b))
    return false;
  ArrayAttr dims = knownDims(a);
  if (!dims || dims != knownDims(b))
    return false;
  return llvm::none_of(dims, [](Attribute dim) {
    auto name = dyn_cast<StringAttr>(dim);
    return name && name.empty();
  });
}

void replaceResult(Operation *op, unsigned result, Value value) {
  Value old = op->getResult(result);
  auto precise = dyn_cast<RankedTensorType>(old.getType());
  Operation *definition = value.getDefiningOp();
  if (precise && definition && !isa<onnx::ConstantOp>(definition)) {
    auto known = dyn_cast<RankedTensorType>(value.getType());
    if (!known) {
      value.setType(precise);
    } else if (known.getRank() == precise.getRank()) {
      SmallVector<int64_t> shape(known.getShape());
      for (auto [size, other] : llvm::zip(shape, precise.getShape()))
        size = ShapedType::isDynamic(size) ? other : size;
      value.setType(RankedTensorType::get(shape, known.getElementType()));
    }
  }
  old.replaceAllUsesWith(value);
}

void updateFunctionType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

bool holdsValuesOf(Type wide, Type narrow) {
  if (wide == narrow || narrow.isInteger(1))
    return wide.isIntOrFloat();
  if (!wide.isIntOrFloat() || !narrow.isIntOrFloat())
    return false;
  unsigned to = wide.getIntOrFloatBitWidth(), from = narrow.getIntOrFloatBitWidth();
  auto real = dyn_cast<FloatType>(wide);
  bool isUnsigned = narrow.isUnsignedInteger();
  if (isa<FloatType>(narrow))
    return real && to > from && from >= 16;
  if (real)
    return to >= 16 && from <= real.getFPMantissaWidth();
  if (wide.isInteger(1) || wide.isUnsignedInteger() != isUnsigned)
    return isUnsigned && !wide.isInteger(1) && to > from;
  return to > from;
}

StringRef nodeName(Operation *op) { return onnx::nodeName(op).value_or("constant"); }

Value createConstant(OpBuilder &b, Location loc, ElementsAttr value) {
  return b.create<onnx::ConstantOp>(loc, value.getType(), ValueRange(),
                                    b.getNamedAttr("value", value));
}

void eraseWithConstants(Operation *op) {
  llvm::SmallSetVector<Operation *, 4> constants;
  for (Value operand : op->getOperands())
    if (auto constant = operand.getDefiningOp<onnx::ConstantOp>())
      constants.insert(constant);
  op->erase();
  for (Operation *constant : constants)
    if (constant->use_empty())
      constant->erase();
}

} // namespace cameo
