// Attributes of nodes: what is written, held against what the operator's version has, as MLIR's.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/AttributeValues.h"
#include "dialects/onnx/Importer.h"

using namespace mlir;
using namespace cameo::onnx;
using namespace cameo::onnx_proto;

std::optional<Importer::BoundAttribute> Importer::resolve(const AttributeProto &attribute,
                                                          Frame &frame) {
  if (attribute.ref_attr_name().empty())
    return BoundAttribute{&attribute, &frame};
  if (!frame.attributes)
    return std::nullopt;
  auto found = frame.attributes->find(attribute.ref_attr_name());
  return found == frame.attributes->end() ? std::nullopt : std::optional(found->second);
}

/// The type of an attribute: said, or from the one field that is set. UNDEFINED if there are two.
static AttributeProto::AttributeType typeOf(const AttributeProto &attribute) {
  using A = AttributeProto;
  std::pair<A::AttributeType, bool> fields[] = {
      {A::FLOAT, attribute.has_f()},
      {A::INT, attribute.has_i()},
      {A::STRING, attribute.has_s()},
      {A::TENSOR, attribute.has_t()},
      {A::GRAPH, attribute.has_g()},
      {A::SPARSE_TENSOR, attribute.has_sparse_tensor()},
      {A::TYPE_PROTO, attribute.has_tp()},
      {A::FLOATS, attribute.floats_size() > 0},
      {A::INTS, attribute.ints_size() > 0},
      {A::STRINGS, attribute.strings_size() > 0},
      {A::TENSORS, attribute.tensors_size() > 0},
      {A::GRAPHS, attribute.graphs_size() > 0},
      {A::SPARSE_TENSORS, attribute.sparse_tensors_size() > 0},
      {A::TYPE_PROTOS, attribute.type_protos_size() > 0}};
  A::AttributeType type = attribute.type();
  for (auto [fieldType, isSet] : fields) {
    if (!isSet)
      continue;
    if (type == A::UNDEFINED)
      type = fieldType;
    else if (type != fieldType)
      return A::UNDEFINED;
  }
  return type;
}

llvm::Expected<Attribute> Importer::importAttribute(const AttributeProto &attribute,
                                                    StringRef resourceName) {
  auto fail = [](const Twine &why) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), why);
  };
  switch (typeOf(attribute)) {
  case AttributeProto::FLOAT:
    return builder.getF32FloatAttr(attribute.f());
  case AttributeProto::INT:
    return builder.getI64IntegerAttr(attribute.i());
  case AttributeProto::STRING:
    return builder.getStringAttr(attribute.s());
  case AttributeProto::FLOATS:
    return builder.getDenseF32ArrayAttr(
        ArrayRef(attribute.floats().data(), attribute.floats_size()));
  case AttributeProto::INTS: {
    SmallVector<int64_t> ints(attribute.ints().begin(), attribute.ints().end());
    return builder.getDenseI64ArrayAttr(ints);
  }
  case AttributeProto::STRINGS: {
    SmallVector<StringRef> strings(attribute.strings().begin(), attribute.strings().end());
    return builder.getStrArrayAttr(strings);
  }
  case AttributeProto::TENSOR:
    return tensors.import(attribute.t(), resourceName);
  case AttributeProto::SPARSE_TENSOR:
    return tensors.import(attribute.sparse_tensor(), resourceName);
  case AttributeProto::TENSORS: {
    SmallVector<Attribute> values;
    for (const TensorProto &tensor : attribute.tensors()) {
      llvm::Expected<ElementsAttr> value = tensors.import(tensor, resourceName);
      if (!value)
        return value.takeError();
      values.push_back(*value);
    }
    return builder.getArrayAttr(values);
  }
  case AttributeProto::TYPE_PROTO: {
    llvm::Expected<Type> type = importType(attribute.tp());
    if (!type)
      return type.takeError();
    return TypeAttr::get(*type);
  }
  case AttributeProto::TYPE_PROTOS: {
    SmallVector<Attribute> types;
    for (const TypeProto &proto : attribute.type_protos()) {
      llvm::Expected<Type> type = importType(proto);
      if (!type)
        return type.takeError();
      types.push_back(TypeAttr::get(*type));
    }
    return builder.getArrayAttr(types);
  }
  case AttributeProto::UNDEFINED:
    return fail("has no value, or two");
  default:
    return fail("is of a kind that is not supported");
  }
}

LogicalResult Importer::readAttributes(
    const NodeProto &node, Frame &frame, Location loc,
    llvm::function_ref<SmallVector<Type>(const NamedAttrList &)> argumentTypes,
    NamedAttrList &attributes,
    SmallVectorImpl<std::pair<std::string, std::unique_ptr<Region>>> &regions) {
  SmallVector<std::pair<std::string, BoundAttribute>> graphs;
  llvm::StringSet<> names;
  for (const AttributeProto &written : node.attribute()) {
    std::optional<BoundAttribute> bound = resolve(written, frame);
    // A reference to what the caller leaves out leaves this one out, too.
    if (!bound)
      continue;
    const std::string &name = written.name();
    if (name.empty() || !names.insert(name).second) {
      problem(loc, node.op_type() + " has the attribute '" + name + "' twice or without a name");
      return failure();
    }
    if (typeOf(*bound->attribute) == AttributeProto::GRAPH) {
      graphs.emplace_back(name, *bound);
      continue;
    }
    std::string resource = cast<NameLoc>(loc).getName().str();
    if (node.op_type() != "Constant")
      resource += "." + name;
    llvm::Expected<Attribute> value = importAttribute(*bound->attribute, resource);
    if (!value) {
      tensorProblem(loc, node.op_type() + ": the attribute '" + name + "'", value.takeError());
      return failure();
    }
    attributes.set(name, *value);
  }
  SmallVector<Type> types = graphs.empty() ? SmallVector<Type>() : argumentTypes(attributes);
  for (auto &[name, bound] : graphs)
    regions.emplace_back(name, importSubgraph(bound.attribute->g(), *bound.frame, types, loc));
  return success();
}

/// The kind that the schemas have for a type of the file; none has lists of tensors or graphs.
static std::optional<AttrKind> kindOf(AttributeProto::AttributeType type) {
  switch (type) {
  case AttributeProto::INT:
    return AttrKind::Int;
  case AttributeProto::INTS:
    return AttrKind::Ints;
  case AttributeProto::FLOAT:
    return AttrKind::Float;
  case AttributeProto::FLOATS:
    return AttrKind::Floats;
  case AttributeProto::STRING:
    return AttrKind::String;
  case AttributeProto::STRINGS:
    return AttrKind::Strings;
  case AttributeProto::TENSOR:
    return AttrKind::Tensor;
  case AttributeProto::GRAPH:
    return AttrKind::Graph;
  case AttributeProto::TYPE_PROTO:
    return AttrKind::Type;
  case AttributeProto::SPARSE_TENSOR:
    return AttrKind::SparseTensor;
  default:
    return std::nullopt;
  }
}

std::string Importer::attributeProblem(const NodeProto &node, int64_t version, Frame &frame) {
  llvm::StringSet<> names;
  for (const AttributeProto &written : node.attribute()) {
    std::optional<BoundAttribute> bound = resolve(written, frame);
    if (!bound)
      continue;
    names.insert(written.name());
    std::optional<AttrKind> kind = kindOf(typeOf(*bound->attribute));
    // Others have no value or two, which reading them tells.
    if (!kind)
      continue;
    std::string text = attributeKindProblem(node.op_type(), version, written.name(), *kind);
    if (!text.empty())
      return text;
  }
  for (const AttributeVersion &known : attributeVersions(node.op_type()))
    if (known.required && known.first <= version && version <= known.last &&
        !names.contains(known.name))
      return ("lacks the attribute '" + known.name + "'").str();
  return "";
}
