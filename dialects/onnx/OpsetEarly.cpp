// Converters for opsets 1 to 6: operands that broadcast only where an attribute says so, training as a default, and
// `consumed_inputs`, which said what could be overwritten.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/OpsetConversion.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
namespace cameo::onnx::convert {

LogicalResult consumed(ForeignNode &node) {
  node.attributes.erase("consumed_inputs");
  return success();
}

/// The operand with as many sizes of 1 behind its own that its first one is at `axis` of `whole`.
static Value alignedAt(ForeignNode &node, Value whole, Value operand, int64_t axis) {
  std::optional<int64_t> rank = ForeignNode::rank(whole), own = ForeignNode::rank(operand);
  if (rank && own) {
    SmallVector<int64_t> axes;
    for (int64_t i = *own; i < *rank - axis; ++i)
      axes.push_back(i);
    return axes.empty() ? operand : node.emit("Unsqueeze", {operand, node.ints(axes)});
  }
  Value sizes = node.emit("Shape", {operand});
  auto rankOf = [&](Value shape) { return node.emit("Shape", {shape}); };
  Value missing = node.emit("Sub", {rankOf(node.emit("Shape", {whole})), rankOf(sizes)});
  missing = node.emit("Max", {node.emit("Sub", {missing, node.ints({axis})}), node.ints({0})});
  auto one =
      DenseElementsAttr::get(RankedTensorType::get({1}, node.builder.getI64Type()), int64_t(1));
  Value ones = node.emit("ConstantOfShape", {missing}, {node.builder.getNamedAttr("value", one)});
  Value shape = node.emit("Concat", {sizes, ones}, {node.intAttr("axis", 0)});
  return node.emit("Reshape", {operand, shape}, {node.intAttr("allowzero", 1)});
}

// Below 7 the second operand is broadcast with `broadcast` alone, and stands at `axis`; without it at the end, as today.
LogicalResult broadcasts(ForeignNode &node) {
  node.attributes.erase("consumed_inputs");
  int64_t broadcast = node.takeInt("broadcast").value_or(0);
  std::optional<int64_t> axis = node.takeInt("axis");
  if (broadcast && axis)
    node.setInput(1, alignedAt(node, node.input(0), node.input(1), *axis));
  return success();
}

// PRelu below 7: a slope for each channel, or one for all.
LogicalResult channelSlopes(ForeignNode &node) {
  node.attributes.erase("consumed_inputs");
  node.setInput(1, alignedAt(node, node.input(0), node.input(1), 1));
  return success();
}

LogicalResult gemm(ForeignNode &node) {
  node.attributes.erase("broadcast");
  return success();
}

// BatchNormalization below 7 trains unless it says otherwise.
LogicalResult testedBatchNormalization(ForeignNode &node) {
  node.attributes.erase("consumed_inputs");
  if (!node.takeInt("is_test").value_or(0))
    return node.unsupported(
        "training mode (is_test is 0); nearest supported: is_test = 1, or opset 14 with "
        "training_mode");
  return batchNormalization(node);
}

// So does Dropout.
LogicalResult testedDropout(ForeignNode &node) {
  node.attributes.erase("consumed_inputs");
  if (node.takeInt("is_test").value_or(0))
    return dropout(node);
  if (std::optional<float> ratio = node.takeFloat("ratio")) {
    auto type = RankedTensorType::get({}, node.builder.getF32Type());
    node.setInput(1, node.constant(DenseElementsAttr::get(type, *ratio)));
  }
  auto bit = RankedTensorType::get({}, node.builder.getI1Type());
  node.setInput(2, node.constant(DenseElementsAttr::get(bit, true)));
  bool hasMask = node.hasOutput(1);
  Operation *built = buildOp(node.builder, node.loc, node.none, *lookupSchema("Dropout"),
                             node.inputs, node.attributes, {}, {true, hasMask}, node.problem);
  if (!built)
    return failure();
  node.results = {built->getResult(0)};
  if (node.outputUsed.size() > 1)
    node.results.push_back(hasMask ? node.emit("CastLike", {built->getResult(1), node.input(0)})
                                   : node.none);
  return success();
}

// Cast 1: the type by its name.
LogicalResult namedCast(ForeignNode &node) {
  std::string name = *node.takeString("to");
  int64_t number = llvm::StringSwitch<int64_t>(name)
                       .Case("FLOAT", 1)
                       .Case("UINT8", 2)
                       .Case("INT8", 3)
                       .Case("UINT16", 4)
                       .Case("INT16", 5)
                       .Case("INT32", 6)
                       .Case("INT64", 7)
                       .Case("BOOL", 9)
                       .Case("FLOAT16", 10)
                       .Case("DOUBLE", 11)
                       .Case("UINT32", 12)
                       .Case("UINT64", 13)
                       .Default(0);
  if (!number)
    return node.fail("has the attribute 'to' = '" + name +
                     "'; it must name a type of TensorProto.DataType");
  node.attributes.set("to", node.builder.getI64IntegerAttr(number));
  return success();
}

LogicalResult consumedClip(ForeignNode &node) {
  node.attributes.erase("consumed_inputs");
  return clip(node);
}

LogicalResult defaultConcat(ForeignNode &node) {
  node.attributes.set("axis", node.builder.getI64IntegerAttr(node.takeInt("axis").value_or(1)));
  return success();
}

// Norms of version 1 have real exponents.
LogicalResult realNorm(ForeignNode &node) {
  float p = node.takeFloat("p").value_or(2);
  if (p != std::floor(p) || !(p >= 1) || p > 1 << 20)
    return node.unsupported("p is " + std::to_string(p) +
                            "; nearest supported: a whole number from 1 on");
  if (node.op == "LpPool" && !node.attributes.get("kernel_shape"))
    return node.unsupported("it has no kernel_shape; nearest supported: GlobalLpPool");
  node.attributes.set("p", node.builder.getI64IntegerAttr(int64_t(p)));
  return success();
}

// Which outputs there are says the node.
LogicalResult recurrent(ForeignNode &node) {
  node.attributes.erase("output_sequence");
  return success();
}

LogicalResult paddings(ForeignNode &node) {
  node.attributes.set("pads", node.builder.getDenseI64ArrayAttr(*node.takeInts("paddings")));
  return pad(node);
}

LogicalResult shapedReshape(ForeignNode &node) {
  node.attributes.erase("consumed_inputs");
  std::optional<SmallVector<int64_t>> shape = node.takeInts("shape");
  if (!shape)
    return node.fail("lacks the attribute 'shape'");
  node.setInput(1, node.ints(*shape));
  return success();
}

LogicalResult firstSelu(ForeignNode &node) {
  node.attributes.erase("consumed_inputs");
  for (auto [name, otherwise] : {std::pair("alpha", 1.6732f), std::pair("gamma", 1.0507f)})
    node.attributes.set(name,
                        node.builder.getF32FloatAttr(node.takeFloat(name).value_or(otherwise)));
  return success();
}

static Value asInteger(ForeignNode &node, Value value) {
  return node.emit("Cast", {value}, {node.intAttr("to", elementNumber(ElementKind::I64))});
}

// Split 1: sizes as an attribute, or as an operand of the type of what is split.
LogicalResult firstSplit(ForeignNode &node) {
  if (!isAbsent(node.input(1)))
    node.setInput(1, asInteger(node, node.input(1)));
  return split(node);
}

// Tile 1 repeats along one axis; both numbers have the type of what is repeated.
LogicalResult tileOneAxis(ForeignNode &node) {
  Value rank = node.emit("Size", {node.emit("Shape", {node.input(0)})});
  Value places = node.emit("Range", {node.intScalar(0), rank, node.intScalar(1)});
  auto number = [&](unsigned input) {
    return node.emit("Reshape", {asInteger(node, node.input(input)), node.ints({1})});
  };
  Value isAxis = node.emit("Equal", {places, number(2)});
  node.inputs = {node.input(0), node.emit("Where", {isAxis, number(1), node.ints({1})})};
  return success();
}

// Upsample 1: images alone.
LogicalResult firstUpsample(ForeignNode &node) {
  float height = *node.takeFloat("height_scale"), width = *node.takeFloat("width_scale");
  if (std::string mode = node.takeString("mode").value_or("nearest"); mode == "bilinear")
    node.attributes.set("mode", node.builder.getStringAttr("linear"));
  node.setInput(1, node.floats({1, 1, height, width}));
  return upsample(node);
}

} // namespace cameo::onnx::convert
