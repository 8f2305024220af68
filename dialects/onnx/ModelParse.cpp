// Bytes to protobuf messages, with limits.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/ModelParse.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

using namespace llvm;
namespace cameo::onnx {
namespace {

/// Walks the wire format without recursion, following only the fields through which subgraphs nest,
/// so that "nested too deeply" can be told from "damaged".
class NestingWalker {
  enum Kind { Model, Function, Graph, Node, Attribute };

public:
  explicit NestingWalker(StringRef bytes) : bytes(bytes) {}

  /// How many graphs lie within one another at most, or limit + 1.
  int deepest(int limit) {
    struct Frame {
      Kind kind;
      size_t end;
      int graphs;
    };
    SmallVector<Frame> stack{{Model, bytes.size(), 0}};
    int most = 0;
    while (!stack.empty()) {
      Frame frame = stack.back();
      if (at >= frame.end) {
        stack.pop_back();
        continue;
      }
      uint64_t tag, length;
      if (!varint(tag))
        return most;
      switch (tag & 7) {
      case 0:
        if (!varint(length))
          return most;
        continue;
      case 1:
        at += 8;
        continue;
      case 5:
        at += 4;
        continue;
      case 2:
        break;
      default:
        return most;
      }
      if (!varint(length) || length > frame.end - at)
        return most;
      uint64_t field = tag >> 3;
      size_t end = at + length;
      std::optional<Kind> inner = kindOf(frame.kind, field);
      if (!inner) {
        at = end;
        continue;
      }
      int graphs = frame.graphs + (*inner == Graph);
      most = std::max(most, graphs);
      if (most > limit)
        return most;
      stack.push_back({*inner, end, graphs});
    }
    return most;
  }

private:
  /// The kind of message that a field of another holds, if graphs can be in it.
  static std::optional<Kind> kindOf(Kind outer, uint64_t field) {
    struct Field {
      Kind outer;
      uint64_t number;
      Kind inner;
    };
    static constexpr Field fields[] = {
        {Model, onnx_proto::ModelProto::kGraphFieldNumber, Graph},
        {Model, onnx_proto::ModelProto::kFunctionsFieldNumber, Function},
        {Graph, onnx_proto::GraphProto::kNodeFieldNumber, Node},
        {Function, onnx_proto::FunctionProto::kNodeFieldNumber, Node},
        {Node, onnx_proto::NodeProto::kAttributeFieldNumber, Attribute},
        {Attribute, onnx_proto::AttributeProto::kGFieldNumber, Graph},
        {Attribute, onnx_proto::AttributeProto::kGraphsFieldNumber, Graph}};
    for (const Field &known : fields)
      if (known.outer == outer && known.number == field)
        return known.inner;
    return std::nullopt;
  }

  bool varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
      uint8_t byte = bytes[at++];
      value |= uint64_t(byte & 127) << shift;
      if (!(byte & 128))
        return true;
    }
    return false;
  }

  StringRef bytes;
  size_t at = 0;
};

} // namespace

Expected<std::shared_ptr<onnx_proto::ModelProto>> parseModel(StringRef bytes) {
  auto fail = [](const Twine &why) {
    return createStringError(llvm::inconvertibleErrorCode(), why);
  };
  if (bytes.empty())
    return fail("the file is empty");
  if (bytes.size() > size_t(INT_MAX))
    return fail("the file has " + Twine(bytes.size()) + " bytes; at most " + Twine(INT_MAX) +
                " are read; keep large weights as external data");
  // Model, graph, then node, attribute, graph; a type or tensor within takes up to five more.
  constexpr int maxGraphs = (kMaxNesting - 8) / 3;
  if (NestingWalker(bytes).deepest(maxGraphs) > maxGraphs)
    return fail("subgraphs are nested more than " + Twine(maxGraphs) + " deep");
  auto model = std::make_shared<onnx_proto::ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                                                int(bytes.size()));
  stream.SetRecursionLimit(kMaxNesting);
  stream.SetTotalBytesLimit(INT_MAX);
  if (!model->MergePartialFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return fail("not an ONNX model: damaged, truncated or nested more than " + Twine(kMaxNesting) +
                " messages deep");
  if (!model->has_graph())
    return fail("not an ONNX model: it has no graph");
  return model;
}

} // namespace cameo::onnx
