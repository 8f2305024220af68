// Attributes of ONNX nodes with their defaults.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Attributes.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace cameo::onnx {

int64_t intAttribute(Operation *op, StringRef name, int64_t otherwise) {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : otherwise;
}

float floatAttribute(Operation *op, StringRef name, float otherwise) {
  auto attribute = op->getAttrOfType<FloatAttr>(name);
  return attribute ? attribute.getValue().convertToFloat() : otherwise;
}

SmallVector<int64_t> intsAttribute(Operation *op, StringRef name, int64_t count,
                                   int64_t otherwise) {
  auto attribute = op->getAttrOfType<DenseI64ArrayAttr>(name);
  if (attribute && !attribute.empty())
    return llvm::to_vector(attribute.asArrayRef());
  return SmallVector<int64_t>(count, otherwise);
}

} // namespace cameo::onnx
