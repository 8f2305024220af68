// Sizes of a function's values.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Shapes.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"

using namespace mlir;

namespace cameo::onnx {

std::optional<Sizes> Shapes::find(Value value) const {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  ElementsAttr constant = constantValue(value);
  if (!constant)
    return std::nullopt;
  Sizes result;
  for (int64_t size : constant.getShapedType().getShape())
    result.push_back(sizes.index(size));
  return result;
}

Sizes Shapes::of(Operation *op, unsigned operand) const {
  std::optional<Sizes> result = find(op->getOperand(operand));
  if (!result)
    reportBug(op, "the sizes of " + inputText(op, operand) + " are not known yet");
  return *result;
}

bool Shapes::hasOperands(Operation *op) const {
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isAbsent(operand) || find(operand); });
}

SmallVector<Sizes> Shapes::operands(Operation *op) const {
  SmallVector<Sizes> result;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    result.push_back(isAbsent(op, i) ? Sizes() : of(op, i));
  while (!result.empty() && isAbsent(op, result.size() - 1))
    result.pop_back();
  return result;
}

bool isAbsent(Operation *op, unsigned operand) {
  return operand >= op->getNumOperands() || isAbsent(op->getOperand(operand));
}

Type elementType(Value value) { return cast<TensorType>(value.getType()).getElementType(); }

} // namespace cameo::onnx
