// Sizes without IR.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/SymbolicSizes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cameo::onnx {

OpFoldResult SymbolicSizes::size(StringAttr name) {
  if (name.empty())
    return DistinctAttr::create(UnitAttr::get(name.getContext()));
  return name;
}

OpFoldResult SymbolicSizes::read(Value input, int64_t position, bool) {
  // Equal to nothing else: HostValues reads each number once.
  return DistinctAttr::create(Builder(input.getContext()).getI64IntegerAttr(position));
}

Sizes SymbolicSizes::fetch(Value tensor, int64_t count, bool real) {
  Sizes numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(read(tensor, i, real));
  return numbers;
}

OpFoldResult SymbolicSizes::decided(OpResult result, unsigned dim) {
  OpFoldResult &known = ofResults[{result, dim}];
  if (!known)
    known = size(StringAttr::get(result.getContext()));
  return known;
}

OpFoldResult SymbolicSizes::counted(Operation *op) {
  return size(StringAttr::get(op->getContext()));
}

StringAttr SymbolicSizes::nameOf(OpFoldResult value) const {
  return dyn_cast_if_present<StringAttr>(dyn_cast<Attribute>(value));
}

bool SymbolicSizes::isSize(OpFoldResult given) const {
  auto attribute = dyn_cast<Attribute>(given);
  auto unnamed = dyn_cast_if_present<DistinctAttr>(attribute);
  return isa_and_present<StringAttr>(attribute) ||
         (unnamed && isa<UnitAttr>(unnamed.getReferencedAttr()));
}

OpFoldResult SymbolicSizes::create(SizeOperation op, ArrayRef<OpFoldResult> operands) {
  Builder b(cast<Attribute>(operands.front()).getContext());
  SmallVector<Attribute> parts{b.getI64IntegerAttr(static_cast<int64_t>(op))};
  for (OpFoldResult operand : operands)
    parts.push_back(cast<Attribute>(operand));
  return b.getArrayAttr(parts);
}

} // namespace cameo::onnx
