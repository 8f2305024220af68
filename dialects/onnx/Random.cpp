// Random numbers: what a draw must be.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"

using namespace mlir;

namespace cameo::onnx {

LogicalResult DrawOp::verify() {
  StringRef how = getDistribution();
  bool isBelow = how == "below";
  if (!isBelow && how != "uniform" && how != "normal")
    return emitOpError() << "draws from \"" << how
                         << "\"; distributions are \"uniform\", \"normal\" and \"below\"";
  Type element = getElementTypeOrSelf(getOutput().getType());
  if (isBelow ? !element.isInteger(1)
              : !isa<FloatType>(element) || element.getIntOrFloatBitWidth() < 16)
    return emitOpError() << "draws from \"" << how << "\" numbers of type " << element;
  bool hasBelow = !isa<NoneType>(getBelow().getType());
  if (hasBelow != isBelow)
    return emitOpError() << "has " << (hasBelow ? "" : "no ") << "probabilities, for \"" << how
                         << "\"";
  if (!hasBelow && isa<NoneType>(getShape().getType()))
    return emitOpError() << "has neither a shape nor probabilities";
  if (std::optional<Attribute> seed = getSeed(); seed && !isa<IntegerAttr, FloatAttr>(*seed))
    return emitOpError() << "has the seed " << *seed << ", which is no number";
  return success();
}

} // namespace cameo::onnx
