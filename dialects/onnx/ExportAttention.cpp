// Masks of Attention as ONNX Runtime takes them: with a row for each query.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Exporter.h"
#include "dialects/onnx/shape/Attention.h"

using namespace mlir;
using namespace cameo::onnx;
using namespace cameo::onnx_proto;

/// An initializer of integers.
static void addIntegers(GraphProto &graph, StringRef name, ArrayRef<int64_t> values) {
  TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name.str());
  tensor.set_data_type(elementNumber(ElementKind::I64));
  tensor.add_dims(values.size());
  tensor.set_raw_data(values.data(), values.size() * sizeof(int64_t));
}

static NodeProto &addNode(GraphProto &graph, StringRef type, StringRef result,
                          ArrayRef<StringRef> operands) {
  NodeProto &node = *graph.add_node();
  node.set_name(result.str());
  node.set_op_type(type.str());
  for (StringRef operand : operands)
    node.add_input(operand.str());
  node.add_output(result.str());
  return node;
}

static void addInteger(NodeProto &node, StringRef name, int64_t value) {
  AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(AttributeProto::INT);
  attribute.set_i(value);
}

std::string Exporter::exportMask(AttentionOp op, StringRef node, GraphProto &graph) {
  Value mask = op.getAttnMask();
  std::string name = isAbsent(mask) ? "" : names.lookup(mask);
  auto type = dyn_cast<RankedTensorType>(mask.getType());
  auto query = dyn_cast<RankedTensorType>(op.getQ().getType());
  int64_t rank = type ? type.getRank() : 0;
  if (!query || query.getRank() < 3 || rank == 0 || (rank > 1 && type.getDimSize(rank - 2) != 1))
    return name;
  int64_t lengthDim = query.getRank() - 2, length = query.getDimSize(lengthDim);
  if (rank > 1 && length == 1)
    return name;
  std::string shape = uniqueName((node + ".mask_shape").str(), valueNames);
  std::string expanded = uniqueName((node + ".mask").str(), valueNames);
  if (!ShapedType::isDynamic(length)) {
    addIntegers(graph, shape, {length, 1});
  } else {
    std::string one = uniqueName((node + ".mask_keys").str(), valueNames);
    std::string rows = uniqueName((node + ".mask_rows").str(), valueNames);
    addIntegers(graph, one, {1});
    NodeProto &size = addNode(graph, "Shape", rows, {names.lookup(op.getQ())});
    addInteger(size, "start", lengthDim);
    addInteger(size, "end", lengthDim + 1);
    addInteger(addNode(graph, "Concat", shape, {rows, one}), "axis", 0);
  }
  addNode(graph, "Expand", expanded, {name, shape});
  return expanded;
}
