// Stacking constants.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/StackedConstants.h"

#include "dialects/onnx/Constants.h"
#include "passes/fuse/Batch.h"

using namespace mlir;

namespace cameo {

rt::ConstantOp StackedConstants::lookup(StringRef symbol) {
  if (symbols.empty())
    for (auto constant : module.getOps<rt::ConstantOp>())
      symbols[constant.getSymName()] = constant;
  return symbols.lookup(symbol);
}

rt::ConstantOp StackedConstants::stack(ArrayRef<rt::GetConstantOp> parts) {
  std::vector<char> bytes;
  rt::ConstantOp last;
  RankedTensorType type;
  for (rt::GetConstantOp part : parts) {
    last = lookup(part.getConstant());
    auto value = cast<ElementsAttr>(last.getValue());
    type = cast<RankedTensorType>(value.getType());
    auto kind = onnx::elementKind(type.getElementType());
    std::optional<onnx::ConstantBytes> data = onnx::constantBytes(value);
    if (!data || !kind || onnx::elementBytes(*kind) == 0)
      return {};
    onnx::ConstantBytes all = data->expanded(type.getNumElements());
    bytes.insert(bytes.end(), all.get().begin(), all.get().end());
  }
  rt::GetConstantOp first = parts.front();
  std::string name = (first.getConstant() + "_x" + Twine(parts.size())).str();
  while (symbols.contains(name))
    name += "_";
  OpBuilder builder(last);
  builder.setInsertionPointAfter(last);
  auto stacked = withDimension(type, 0, parts.size());
  return symbols[name] = builder.create<rt::ConstantOp>(
             last.getLoc(), name, onnx::makeConstant(stacked, name, ArrayRef(bytes)),
             IntegerAttr());
}

} // namespace cameo
