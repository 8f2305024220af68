// Draws as the operators of ONNX that draw such numbers.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Exporter.h"
#include "dialects/onnx/shape/NodeText.h"

using namespace mlir;

namespace cameo::onnx {

using namespace onnx_proto;

NodeProto &Exporter::makeNode(GraphProto &graph, StringRef type, StringRef named, StringRef output,
                              ArrayRef<std::string> inputs) {
  NodeProto &node = *graph.add_node();
  node.set_op_type(type.str());
  node.set_name(uniqueName(named, nodeNames));
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output.str());
  return node;
}

static void setFloat(NodeProto &node, StringRef name, float value) {
  AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(AttributeProto::FLOAT);
  attribute.set_f(value);
}

static void setFloat(NodeProto &node, StringRef name, std::optional<APFloat> value) {
  if (value)
    setFloat(node, name, value->convertToFloat());
}

void Exporter::exportRandom(Operation *op, GraphProto &graph) {
  StringRef named = nodeName(op).value_or("");
  if (named.empty())
    named = "random";
  nameResults(op, named);
  const std::string output = names.lookup(op->getResult(0));
  if (isa<RandomStateOp>(op)) {
    TensorProto &zeros = *graph.add_initializer();
    zeros.set_name(output);
    zeros.set_data_type(elementNumber(ElementKind::I32));
    zeros.add_dims(kRandomWords);
    zeros.set_raw_data(std::string(kRandomWords * sizeof(int32_t), '\0'));
    return;
  }
  if (isa<RandomTripOp>(op)) {
    makeNode(graph, "Identity", named, output, {names.lookup(op->getOperand(0))});
    return;
  }
  auto draw = cast<DrawOp>(op);
  bool isBelow = draw.getDistribution() == "below",
       hasShape = !isa<NoneType>(draw.getShape().getType());
  std::string like = names.lookup(isBelow ? draw.getBelow() : draw.getShape());
  if (hasShape) {
    std::string shaped = uniqueName(output + ".shaped", valueNames);
    std::string shape = names.lookup(draw.getShape());
    if (isBelow)
      makeNode(graph, "Expand", named, shaped, {like, shape});
    else
      makeNode(graph, "ConstantOfShape", named, shaped, {shape});
    like = shaped;
  }
  StringRef type = isBelow                               ? "Bernoulli"
                   : draw.getDistribution() == "uniform" ? "RandomUniformLike"
                                                         : "RandomNormalLike";
  NodeProto &node = makeNode(graph, type, named, output, {like});
  AttributeProto &dtype = *node.add_attribute();
  dtype.set_name("dtype");
  dtype.set_type(AttributeProto::INT);
  dtype.set_i(elementNumber(*elementKind(getElementTypeOrSelf(draw.getOutput().getType()))));
  for (auto [name, value] :
       {std::pair("low", draw.getLow()), std::pair("high", draw.getHigh()),
        std::pair("mean", draw.getMean()), std::pair("scale", draw.getScale())})
    setFloat(node, name, value);
  if (std::optional<Attribute> seed = draw.getSeed()) {
    auto integer = dyn_cast<IntegerAttr>(*seed);
    setFloat(node, "seed",
             integer ? float(integer.getInt())
                     : cast<FloatAttr>(*seed).getValue().convertToFloat());
  }
}

} // namespace cameo::onnx
