// Converters for operators whose attributes became inputs, or whose defaults or names changed. What
// a version requires is there: the importer has held the attributes against the version's.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/OpsetConversion.h"

using namespace mlir;
namespace cameo::onnx::convert {

// Squeeze and Unsqueeze below 13, ReduceSum below 13, the other reductions below 18.
LogicalResult axesToInput(ForeignNode &node) {
  if (std::optional<SmallVector<int64_t>> axes = node.takeInts("axes"))
    node.setInput(1, node.ints(*axes));
  return success();
}

/// Whether the type has numbers beyond those of 32-bit floats, infinities at least: what holds no
/// more than those of 16 bits has no number that the greatest of 32 bits would be a bound of.
static bool reachesFloat(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && (type.getElementType().isF32() || type.getElementType().isF64());
}

// Clip 6: bounds as attributes. Those that are absent are the least and the greatest finite number
// of 32 bits, which infinities are cut to.
LogicalResult clip(ForeignNode &node) {
  std::optional<float> low = node.takeFloat("min"), high = node.takeFloat("max");
  if (low && high && !(*low <= *high))
    return node.fail("has the attribute 'min' = " + std::to_string(*low) +
                     " and 'max' = " + std::to_string(*high) + "; min must not be above max");
  if (reachesFloat(node.input(0))) {
    low = low.value_or(-std::numeric_limits<float>::max());
    high = high.value_or(std::numeric_limits<float>::max());
  }
  for (auto [i, bound] : {std::pair(1, low), std::pair(2, high)}) {
    if (!bound)
      continue;
    Value value = node.scalarLike(*bound, node.input(0));
    if (!value)
      return node.fail("has an input whose element type is not known");
    node.setInput(i, value);
  }
  return success();
}

// Pad 2: pads and value as attributes.
LogicalResult pad(ForeignNode &node) {
  std::optional<float> value = node.takeFloat("value");
  node.setInput(1, node.ints(*node.takeInts("pads")));
  if (!value || *value == 0)
    return success();
  Value scalar = node.scalarLike(*value, node.input(0));
  if (!scalar)
    return node.fail("has an input whose element type is not known");
  node.setInput(2, scalar);
  return success();
}

// Slice 1: bounds as attributes.
LogicalResult slice(ForeignNode &node) {
  node.setInput(1, node.ints(*node.takeInts("starts")));
  node.setInput(2, node.ints(*node.takeInts("ends")));
  if (std::optional<SmallVector<int64_t>> axes = node.takeInts("axes"))
    node.setInput(3, node.ints(*axes));
  return success();
}

// Split below 13: sizes as an attribute.
LogicalResult split(ForeignNode &node) {
  if (std::optional<SmallVector<int64_t>> sizes = node.takeInts("split"))
    node.setInput(1, node.ints(*sizes));
  return splitCount(node);
}

// Split below 18: as many equal parts as there are outputs, where no sizes are given.
LogicalResult splitCount(ForeignNode &node) {
  if (isAbsent(node.input(1))) {
    node.attributes.set("num_outputs", node.builder.getI64IntegerAttr(node.outputUsed.size()));
    node.attributes.set(kEvenSplitAttr, node.builder.getUnitAttr());
  }
  return success();
}

// TopK 1: k as an attribute.
LogicalResult topK(ForeignNode &node) {
  node.setInput(1, node.ints({*node.takeInt("k")}));
  return success();
}

// Dropout 7 and 10: the ratio as an attribute; always inference, where the mask is not specified.
// ONNX Runtime leaves it zero, in x's type for 7, and so does this.
LogicalResult dropout(ForeignNode &node) {
  if (std::optional<float> ratio = node.takeFloat("ratio")) {
    auto type = RankedTensorType::get({}, node.builder.getF32Type());
    node.setInput(1, node.constant(DenseElementsAttr::get(type, *ratio)));
  }
  if (!node.hasOutput(1))
    return success();
  std::optional<ElementKind> kind =
      node.sinceVersion < 10 ? innerKind(node.input(0).getType()) : ElementKind::Bool;
  if (!kind)
    return node.fail("has an input whose element type is not known");
  auto type = RankedTensorType::get({1}, elementTypeOf(*kind, node.builder.getContext()));
  auto zero = cast<ElementsAttr>(node.builder.getZeroAttr(type));
  Value mask = node.emit("ConstantOfShape", {node.emit("Shape", {node.input(0)})},
                         {node.builder.getNamedAttr("value", zero)});
  Operation *built = buildOp(node.builder, node.loc, node.none, *lookupSchema("Dropout"),
                             node.inputs, node.attributes, {}, {true}, node.problem);
  if (!built)
    return failure();
  node.results = {built->getResult(0), mask};
  return success();
}

// DFT 17: the axis as an attribute with another default.
LogicalResult dft(ForeignNode &node) {
  node.setInput(2, node.intScalar(node.takeInt("axis").value_or(1)));
  return success();
}

// GridSample 16: other names for the modes.
LogicalResult gridSample(ForeignNode &node) {
  std::string mode = node.takeString("mode").value_or("bilinear");
  if (mode == "bilinear")
    mode = "linear";
  else if (mode == "bicubic")
    mode = "cubic";
  node.attributes.set("mode", node.builder.getStringAttr(mode));
  return success();
}

// RoiAlign 10: coordinates are not shifted by half a pixel.
LogicalResult roiAlign(ForeignNode &node) {
  node.attributes.set("coordinate_transformation_mode",
                      node.builder.getStringAttr("output_half_pixel"));
  return success();
}

// Scatter became ScatterElements.
LogicalResult scatter(ForeignNode &node) {
  node.op = "ScatterElements";
  return success();
}

} // namespace cameo::onnx::convert
