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

StringAttr SymbolicSizes::nameOf(OpFoldResult value) const {
  return dyn_cast_if_present<StringAttr>(dyn_cast<Attribute>(value));
}

bool SymbolicSizes::isSize(OpFoldResult given) const {
  return isa_and_present<StringAttr, DistinctAttr>(dyn_cast<Attribute>(given));
}

OpFoldResult SymbolicSizes::create(SizeOperation op, ArrayRef<OpFoldResult> operands) {
  Builder b(cast<Attribute>(operands.front()).getContext());
  SmallVector<Attribute> parts{b.getI64IntegerAttr(static_cast<int64_t>(op))};
  for (OpFoldResult operand : operands)
    parts.push_back(cast<Attribute>(operand));
  return b.getArrayAttr(parts);
}

} // namespace cameo::onnx
