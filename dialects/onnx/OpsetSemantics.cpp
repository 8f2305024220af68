// Converters for operators whose meaning changed: the old one takes several operators today.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/OpsetConversion.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
namespace cameo::onnx::convert {

// Softmax, LogSoftmax and Hardmax below 13 work on the rows of x flattened to a matrix at `axis`:
// op(x, axis) ==> Reshape(op(Flatten(x, axis), axis = 1), Shape(x))
LogicalResult flattenedSoftmax(ForeignNode &node) {
  int64_t axis = node.takeInt("axis").value_or(1);
  Value x = node.input(0);
  std::optional<int64_t> rank = ForeignNode::rank(x);
  if (axis == -1 || (rank && axis == *rank - 1)) {
    node.attributes.set("axis", node.builder.getI64IntegerAttr(-1));
    return success();
  }
  Value flat = node.emit("Flatten", {x}, {node.intAttr("axis", axis)});
  if (Operation *flatten = flat.getDefiningOp<FlattenOp>())
    flatten->setAttr(kRowsAttr, node.builder.getUnitAttr());
  Value rows = node.emit(node.op, {flat}, {node.intAttr("axis", 1)});
  node.results = {node.emit("Reshape", {rows, node.emit("Shape", {x})})};
  return success();
}

// BatchNormalization 7 and 9: inference only here; 7 may have statistics for every element
// (spatial = 0), which broadcasting expresses.
LogicalResult batchNormalization(ForeignNode &node) {
  for (unsigned i = 1; i < node.outputUsed.size(); ++i)
    if (node.hasOutput(i))
      return node.unsupported("training mode (output " + Twine(i) +
                              " is used); nearest supported: its first output alone, or opset 14 "
                              "with training_mode");
  node.outputUsed.resize(1, true);
  if (node.takeInt("spatial").value_or(1) != 0)
    return success();
  Value x = node.input(0), scale = node.input(1), bias = node.input(2), mean = node.input(3),
        variance = node.input(4);
  Value epsilon = node.scalarLike(node.takeFloat("epsilon").value_or(1e-5f), x);
  if (!epsilon)
    return node.fail("has an input whose element type is not known");
  Value deviation = node.emit("Sqrt", {node.emit("Add", {variance, epsilon})});
  Value centred = node.emit("Sub", {x, mean});
  Value normal = node.emit("Div", {centred, deviation});
  node.results = {node.emit("Add", {node.emit("Mul", {normal, scale}), bias})};
  return success();
}

// GroupNormalization 18: scale and bias per group, now per channel.
LogicalResult groupNormalization(ForeignNode &node) {
  auto number = cast<IntegerAttr>(node.attributes.get("num_groups"));
  auto scale = dyn_cast<RankedTensorType>(node.input(1).getType());
  if (scale && scale.getRank() == 1 && scale.hasStaticShape() &&
      scale.getDimSize(0) != number.getInt())
    return node.fail("has the attribute 'num_groups' = " + std::to_string(number.getInt()) +
                     " and a scale of " + std::to_string(scale.getDimSize(0)) +
                     " numbers; both must be one");
  // [G] ==> [G, 1] ==> [G, C / G] ==> [C]
  Value channels =
      node.emit("Shape", {node.input(0)}, {node.intAttr("start", 1), node.intAttr("end", 2)});
  Value perGroup = node.emit("Div", {channels, node.ints({number.getInt()})});
  Value shape =
      node.emit("Concat", {node.ints({number.getInt()}), perGroup}, {node.intAttr("axis", 0)});
  for (unsigned i : {1u, 2u}) {
    Value column = node.emit("Unsqueeze", {node.input(i), node.ints({1})});
    Value wide = node.emit("Expand", {column, shape});
    node.setInput(i, node.emit("Reshape", {wide, channels}));
  }
  // Version 18 computes in x's own type; 21 has a stash type, float by default, at least as exact.
  return success();
}

/// Whether the mode is "nearest".
static bool setResizeMode(ForeignNode &node) {
  std::string mode = node.takeString("mode").value_or("nearest");
  node.attributes.set("mode", node.builder.getStringAttr(mode));
  node.attributes.set("coordinate_transformation_mode", node.builder.getStringAttr("asymmetric"));
  return mode == "nearest";
}

// Upsample 7 and 9: a Resize that only enlarges, without shifting coordinates.
LogicalResult upsample(ForeignNode &node) {
  Value scales = node.input(1);
  if (node.sinceVersion == 7)
    scales = node.floats(*node.takeFloats("scales"));
  if (setResizeMode(node))
    node.attributes.set("nearest_mode", node.builder.getStringAttr("floor"));
  node.op = "Resize";
  node.inputs = {node.input(0), node.none, scales};
  return success();
}

// Resize 10: nearest rounds down along the axes it enlarges and up along those it shrinks, so it is
// one Resize for each.
LogicalResult resize10(ForeignNode &node) {
  Value x = node.input(0), scales = node.input(1);
  if (setResizeMode(node)) {
    Value one = node.scalarLike(1, scales);
    if (!one)
      return node.fail("has scales whose element type is not known");
    Value enlarged =
        node.emit("Resize", {x, node.none, node.emit("Max", {scales, one})},
                  {node.stringAttr("mode", "nearest"), node.stringAttr("nearest_mode", "floor"),
                   node.stringAttr("coordinate_transformation_mode", "asymmetric")});
    x = enlarged;
    scales = node.emit("Min", {scales, one});
    node.attributes.set("nearest_mode", node.builder.getStringAttr("ceil"));
  }
  node.inputs = {x, node.none, scales};
  return success();
}

// Resize 11 and later: an empty constant stands for an absent input in many models, and 11 knew a
// coordinate transformation, tf_half_pixel_for_nn: (x + 0.5) / scale, without the shift back.
LogicalResult resize(ForeignNode &node) {
  for (unsigned i : {1u, 2u, 3u})
    if (ElementsAttr value = constantValue(node.input(i)))
      if (value.getNumElements() == 0)
        node.setInput(i, node.none);
  auto transformation =
      dyn_cast_or_null<StringAttr>(node.attributes.get("coordinate_transformation_mode"));
  if (!transformation || transformation.getValue() != "tf_half_pixel_for_nn")
    return success();
  auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode"));
  std::string rounding = node.takeString("nearest_mode").value_or("round_prefer_floor");
  // floor(v + 1/2) rounds v half up; ceil((v + 1/2) - 1/2) is ceil(v).
  StringRef today = rounding == "floor"                ? "round_prefer_ceil"
                    : rounding == "round_prefer_floor" ? "ceil"
                                                       : "";
  if ((mode && mode.getValue() != "nearest") || today.empty())
    return node.unsupported("coordinate_transformation_mode 'tf_half_pixel_for_nn' with mode '" +
                            (mode ? mode.getValue() : "nearest") + "' and nearest_mode '" +
                            rounding +
                            "'; nearest supported: mode 'nearest' with nearest_mode 'floor' or "
                            "'round_prefer_floor', or "
                            "'half_pixel'");
  node.attributes.set("coordinate_transformation_mode", node.builder.getStringAttr("half_pixel"));
  node.attributes.set("nearest_mode", node.builder.getStringAttr(today));
  return success();
}

// Scan 8 has a batch dimension before the scanned one:
// Scan8(s, x) ==> Scan over the batch { Scan over the sequence { body } }
LogicalResult scan8(ForeignNode &node) {
  if (!isAbsent(node.input(0)))
    return node.unsupported("sequence_lens, which no later opset can express; nearest supported: "
                            "sequences of one length");
  std::optional<int64_t> scanInputs = node.takeInt("num_scan_inputs");
  std::optional<SmallVector<int64_t>> directions = node.takeInts("directions");
  int64_t total = int64_t(node.inputs.size()) - 1;
  if (!scanInputs || *scanInputs < 1 || *scanInputs > total || node.regions.size() != 1)
    return node.fail("lacks a sensible 'num_scan_inputs' or a body");
  OpBuilder &b = node.builder;
  OpBuilder::InsertPoint outside = b.saveInsertionPoint();
  SmallVector<Value> outer(llvm::drop_begin(node.inputs));

  auto region = std::make_unique<Region>();
  Block *block = b.createBlock(region.get());
  SmallVector<Value> inner;
  for (Value value : outer) {
    // One batch entry has a dimension less.
    Type type = value.getType();
    if (auto ranked = dyn_cast<RankedTensorType>(type); ranked && ranked.getRank() > 0)
      type = ranked.clone(ranked.getShape().drop_front());
    inner.push_back(block->addArgument(type, node.loc));
  }
  NamedAttrList attributes;
  attributes.set("num_scan_inputs", b.getI64IntegerAttr(*scanInputs));
  if (directions)
    attributes.set("scan_input_directions", b.getDenseI64ArrayAttr(*directions));
  const OpSchema &schema = *lookupSchema("Scan");
  SmallVector<bool> all(node.outputUsed.size(), true);
  Operation *scan =
      buildOp(b, node.loc, node.none, schema, inner, attributes, node.regions, all, node.problem);
  if (!scan)
    return failure();
  b.create<YieldOp>(node.loc, TypeRange(), scan->getResults());
  b.restoreInsertionPoint(outside);
  node.regions.clear();
  node.regions.emplace_back("body", std::move(region));
  node.inputs = outer;
  node.attributes.set("num_scan_inputs", b.getI64IntegerAttr(total));
  return success();
}

} // namespace cameo::onnx::convert
