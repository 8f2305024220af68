// The model, its graphs and nodes. Generic: what an op is called and which attributes it has is
// read from the op, never known here.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Exporter.h"
#include "dialects/onnx/OutputFile.h"
#include "dialects/onnx/shape/Attention.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cameo::onnx;
using namespace cameo::onnx_proto;

/// The name that a location carries, looking through the layers that passes add.
static StringRef nameOf(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : fused.getLocations())
      if (StringRef name = nameOf(inner); !name.empty())
        return name;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nameOf(call.getCallee());
  return {};
}

std::string Exporter::uniqueName(StringRef name, llvm::StringMap<unsigned> &counts) {
  std::string unique = name.str();
  // The counter is kept apart from the map's references, which growth invalidates.
  unsigned next = counts.lookup(name);
  while (!counts.try_emplace(unique, 1).second)
    unique = (name + "_" + Twine(next++)).str();
  counts[name] = std::max(next, 1u);
  return unique;
}

void Exporter::nameResults(Operation *op, StringRef node) {
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (names.count(result))
      continue;
    if (isa<NoneType>(result.getType()))
      names[result] = "";
    else
      names[result] = uniqueName(i == 0 ? node.str() : (node + ":" + Twine(i)).str(), valueNames);
  }
}

LogicalResult Exporter::exportType(Type type, ArrayAttr dims, TypeProto &proto) {
  if (auto tensor = dyn_cast<TensorType>(type)) {
    std::optional<ElementKind> kind = elementKind(tensor.getElementType());
    if (!kind)
      return failure();
    proto.mutable_tensor_type()->set_elem_type(elementNumber(*kind));
    auto ranked = dyn_cast<RankedTensorType>(tensor);
    if (!ranked)
      return success();
    TensorShapeProto *shape = proto.mutable_tensor_type()->mutable_shape();
    for (auto [i, size] : llvm::enumerate(ranked.getShape())) {
      TensorShapeProto::Dimension *dim = shape->add_dim();
      auto symbol = dims && i < dims.size() ? dyn_cast<StringAttr>(dims[i]) : StringAttr();
      if (!ShapedType::isDynamic(size))
        dim->set_dim_value(size);
      else if (symbol && !symbol.empty())
        dim->set_dim_param(symbol.str());
    }
    return success();
  }
  if (auto seq = dyn_cast<SeqType>(type))
    return exportType(seq.getElementType(), {},
                      *proto.mutable_sequence_type()->mutable_elem_type());
  if (auto opt = dyn_cast<OptType>(type))
    return exportType(opt.getElementType(), {},
                      *proto.mutable_optional_type()->mutable_elem_type());
  if (auto map = dyn_cast<MapType>(type)) {
    std::optional<ElementKind> key = elementKind(map.getKeyType());
    if (!key)
      return failure();
    proto.mutable_map_type()->set_key_type(elementNumber(*key));
    return exportType(map.getValueType(), {}, *proto.mutable_map_type()->mutable_value_type());
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

LogicalResult Exporter::exportAttribute(Operation *op, StringRef name, Attribute value,
                                        AttributeProto &proto) {
  proto.set_name(name.str());
  auto tensor = [&](ElementsAttr elements, TensorProto &to) {
    return exportTensor(op, elements, to);
  };
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    proto.set_type(AttributeProto::INT);
    proto.set_i(integer.getInt());
  } else if (auto number = dyn_cast<FloatAttr>(value)) {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(float(number.getValueAsDouble()));
  } else if (auto string = dyn_cast<StringAttr>(value)) {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(string.str());
  } else if (auto ints = dyn_cast<DenseI64ArrayAttr>(value)) {
    proto.set_type(AttributeProto::INTS);
    proto.mutable_ints()->Add(ints.asArrayRef().begin(), ints.asArrayRef().end());
  } else if (auto floats = dyn_cast<DenseF32ArrayAttr>(value)) {
    proto.set_type(AttributeProto::FLOATS);
    proto.mutable_floats()->Add(floats.asArrayRef().begin(), floats.asArrayRef().end());
  } else if (auto elements = dyn_cast<ElementsAttr>(value)) {
    proto.set_type(AttributeProto::TENSOR);
    return tensor(elements, *proto.mutable_t());
  } else if (auto type = dyn_cast<TypeAttr>(value)) {
    proto.set_type(AttributeProto::TYPE_PROTO);
    return exportType(type.getValue(), {}, *proto.mutable_tp());
  } else if (auto list = dyn_cast<ArrayAttr>(value)) {
    proto.set_type(AttributeProto::STRINGS);
    for (Attribute element : list) {
      if (auto string = dyn_cast<StringAttr>(element)) {
        proto.add_strings(string.str());
      } else if (auto elements = dyn_cast<ElementsAttr>(element)) {
        proto.set_type(AttributeProto::TENSORS);
        if (failed(tensor(elements, *proto.add_tensors())))
          return failure();
      } else if (auto type = dyn_cast<TypeAttr>(element)) {
        proto.set_type(AttributeProto::TYPE_PROTOS);
        if (failed(exportType(type.getValue(), {}, *proto.add_type_protos())))
          return failure();
      } else {
        return failure();
      }
    }
  } else {
    return failure();
  }
  return success();
}

LogicalResult Exporter::exportNode(Operation *op, GraphProto &graph) {
  auto custom = dyn_cast<CustomOp>(op);
  const OpSchema *schema = schemaOf(op);
  if (!custom && !schema)
    return op->emitError("cannot be written as ONNX");
  if (custom && custom.getUnsupported())
    return op->emitError() << custom.getOpType() << " cannot be written at opset " << kOpset << ": "
                           << *custom.getUnsupported();
  std::string type = custom ? custom.getOpType().str() : schema->name.str();
  StringRef named = nameOf(op->getLoc());
  std::string name = uniqueName(named.empty() ? StringRef(type) : named, nodeNames);
  auto attention = dyn_cast<AttentionOp>(op);
  std::string mask = attention ? exportMask(attention, name, graph) : "";
  NodeProto &node = *graph.add_node();
  node.set_name(name);
  node.set_op_type(type);
  if (custom) {
    node.set_domain(custom.getDomain().str());
    int64_t &version = opsets[custom.getDomain()];
    version = std::max(version, int64_t(custom.getVersion()));
  }
  for (Value operand : op->getOperands())
    node.add_input(isAbsent(operand) ? "" : names.lookup(operand));
  // An operand without a name is defined in a place that the exporter did not reach.
  for (auto [operand, name] : llvm::zip(op->getOperands(), node.input()))
    if (name.empty() && !isAbsent(operand))
      return op->emitError("uses a value that cannot be written as ONNX");
  if (!mask.empty())
    node.set_input(kMask, mask);
  nameResults(op, node.name());
  for (Value result : op->getResults())
    node.add_output(names.lookup(result));
  while (node.input_size() && node.input(node.input_size() - 1).empty())
    node.mutable_input()->RemoveLast();
  while (node.output_size() > 1 && node.output(node.output_size() - 1).empty())
    node.mutable_output()->RemoveLast();

  DictionaryAttr attributes = custom ? custom.getOnnxAttributes() : op->getAttrDictionary();
  for (NamedAttribute named : attributes) {
    // Other attributes are notes of passes.
    if (!custom && !schema->attribute(named.getName()))
      continue;
    if (failed(exportAttribute(op, named.getName(), named.getValue(), *node.add_attribute())))
      return op->emitError("has the attribute '") << named.getName() << "', which ONNX cannot hold";
  }
  SmallVector<std::string> graphs;
  if (custom && custom.getGraphs())
    for (StringAttr name : custom.getGraphs()->getAsRange<StringAttr>())
      graphs.push_back(name.str());
  if (schema)
    for (const AttrSchema &attribute : schema->attributes)
      if (attribute.kind == AttrKind::Graph)
        graphs.push_back(attribute.name);
  for (auto [name, region] : llvm::zip(graphs, op->getRegions())) {
    AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::GRAPH);
    if (failed(exportRegion(region, *attribute.mutable_g(), node.name() + "." + name)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static int64_t bytesOf(ElementsAttr value) {
  std::optional<ElementKind> kind = innerKind(value.getType());
  return kind ? value.getNumElements() * elementBytes(*kind) : 0;
}

/// Whether a constant is large, of equal elements, and of a type that every ConstantOfShape has.
static bool isLargeSplat(ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !dense.isSplat() || bytesOf(value) <= kMaxDenseBytes)
    return false;
  Type type = value.getElementType();
  unsigned bits = type.getIntOrFloatBitWidth();
  return isa<IntegerType>(type) ? bits == 1 || bits >= 8 : bits >= 16 && !type.isBF16();
}

LogicalResult Exporter::exportSplat(ConstantOp op, GraphProto &graph) {
  ElementsAttr value = op.getValue();
  ArrayRef<int64_t> sizes = value.getShapedType().getShape();
  std::string name = names.lookup(op.getOutput());
  TensorProto &shape = *graph.add_initializer();
  shape.set_name(uniqueName(name + ".shape", valueNames));
  shape.set_data_type(elementNumber(ElementKind::I64));
  shape.add_dims(sizes.size());
  shape.set_raw_data(sizes.data(), sizes.size() * sizeof(int64_t));
  NodeProto &node = *graph.add_node();
  node.set_op_type("ConstantOfShape");
  node.set_name(uniqueName(name, nodeNames));
  node.add_input(shape.name());
  node.add_output(name);
  AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(AttributeProto::TENSOR);
  auto one = RankedTensorType::get({1}, value.getElementType());
  return exportTensor(op, makeSplat(one, constantBytes(value)->get()), *attribute.mutable_t());
}

LogicalResult Exporter::exportConstant(ConstantOp op, GraphProto &graph) {
  StringRef named = nameOf(op.getLoc());
  nameResults(op, named.empty() ? "constant" : named);
  if (isLargeSplat(op.getValue()))
    return exportSplat(op, graph);
  TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(names.lookup(op.getOutput()));
  return exportTensor(op, op.getValue(), tensor);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

LogicalResult Exporter::exportBlock(Block &block, GraphProto &graph) {
  for (Operation &op : block.without_terminator()) {
    if (isa<NoneOp>(op)) {
      names[op.getResult(0)] = "";
      continue;
    }
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (failed(exportConstant(constant, graph)))
        return op.emitError("has a value that ONNX cannot hold");
      continue;
    }
    if (isa<RandomStateOp, RandomTripOp, DrawOp>(op)) {
      exportRandom(&op, graph);
      continue;
    }
    bool isCall = isa<CallIfOp, CallLoopOp>(op);
    if (failed(isCall ? exportCall(&op, graph) : exportNode(&op, graph)))
      return failure();
  }
  return success();
}

std::string Exporter::outputName(Value value, StringRef wanted, Block *block, GraphProto &graph) {
  auto found = names.find(value);
  if (found != names.end() && found->second == wanted)
    return wanted.str();
  NodeProto &node = *graph.add_node();
  node.set_op_type("Identity");
  node.set_name(uniqueName(wanted.empty() ? "output" : wanted, nodeNames));
  node.add_input(found->second);
  std::string name = wanted.empty() ? uniqueName(found->second, valueNames) : wanted.str();
  node.add_output(name);
  return name;
}

LogicalResult Exporter::exportInput(Value argument, StringRef name, GraphProto &graph) {
  names[argument] = uniqueName(name, valueNames);
  ValueInfoProto &input = *graph.add_input();
  input.set_name(names[argument]);
  if (!isa<AnyType>(argument.getType()) &&
      failed(exportType(argument.getType(), {}, *input.mutable_type())))
    return emitError(argument.getLoc())
           << "has the type " << argument.getType() << ", which ONNX cannot hold";
  return success();
}

LogicalResult Exporter::exportRegion(Region &region, GraphProto &graph, StringRef name) {
  graph.set_name(name.str());
  for (auto [i, argument] : llvm::enumerate(region.getArguments()))
    if (failed(exportInput(argument, (name + ".in" + Twine(i)).str(), graph)))
      return failure();
  return exportBody(region.front(), graph);
}

LogicalResult Exporter::exportCallee(FlatSymbolRefAttr name, ValueRange captures, NodeProto &node,
                                     StringRef attributeName) {
  auto callee = module.lookupSymbol<func::FuncOp>(name.getAttr());
  Block &block = callee.getBody().front();
  AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(attributeName.str());
  attribute.set_type(AttributeProto::GRAPH);
  GraphProto &graph = *attribute.mutable_g();
  graph.set_name(callee.getName().str());
  // Captures have their names from outside; the arguments in front of them are those of the graph.
  size_t own = block.getNumArguments() - captures.size();
  for (auto [argument, value] : llvm::zip(block.getArguments().drop_front(own), captures))
    names[argument] = names.lookup(value);
  for (size_t i = 0; i < own; ++i) {
    StringRef given = callee.getArgAttrOfType<StringAttr>(i, kNameAttr).getValue();
    if (failed(exportInput(block.getArgument(i), given.empty() ? "carried" : given, graph)))
      return failure();
    if (i > 0)
      continue;
    // That there is another trip is known where there is one.
    ValueInfoProto &condition = *graph.add_input();
    condition.set_name(uniqueName("condition", valueNames));
    (void)exportType(RankedTensorType::get({}, Builder(module.getContext()).getI1Type()), {},
                     *condition.mutable_type());
  }
  return exportBody(block, graph);
}

LogicalResult Exporter::exportCall(Operation *op, GraphProto &graph) {
  auto loop = dyn_cast<CallLoopOp>(op);
  StringRef type = loop ? "Loop" : "If", named = nameOf(op->getLoc());
  NodeProto &node = *graph.add_node();
  node.set_name(uniqueName(named.empty() ? type : named, nodeNames));
  node.set_op_type(type.str());
  ValueRange captures = op->getOperands().drop_front(loop ? 2 + loop.getCarried() : 1);
  for (Value operand : op->getOperands().drop_back(captures.size()))
    node.add_input(isAbsent(operand) ? "" : names.lookup(operand));
  nameResults(op, node.name());
  for (Value result : op->getResults())
    node.add_output(names.lookup(result));
  if (loop)
    return exportCallee(loop.getBodyAttr(), captures, node, "body");
  auto choice = cast<CallIfOp>(op);
  return failure(failed(exportCallee(choice.getElseBranchAttr(), captures, node, "else_branch")) ||
                 failed(exportCallee(choice.getThenBranchAttr(), captures, node, "then_branch")));
}

LogicalResult Exporter::exportBody(Block &block, GraphProto &graph) {
  if (failed(exportBlock(block, graph)))
    return failure();
  llvm::StringSet<> taken;
  for (Value value : block.getTerminator()->getOperands()) {
    Operation *op = value.getDefiningOp();
    ValueInfoProto &output = *graph.add_output();
    // An output must be made by a node of this very graph, and listed once.
    bool own = op && op->getBlock() == &block && !isa<ConstantOp>(op) &&
               taken.insert(names.lookup(value)).second;
    output.set_name(own ? names.lookup(value) : outputName(value, "", &block, graph));
    if (!isa<AnyType>(value.getType()))
      (void)exportType(value.getType(), {}, *output.mutable_type());
  }
  return success();
}

LogicalResult Exporter::exportFunction(func::FuncOp func, GraphProto &graph) {
  Block &block = func.getBody().front();
  auto ioName = [](StringAttr attr, const char *kind, size_t i) {
    return attr ? attr.str() : kind + std::to_string(i);
  };
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    ValueInfoProto &input = *graph.add_input();
    names[argument] =
        uniqueName(ioName(func.getArgAttrOfType<StringAttr>(i, kNameAttr), "input", i), valueNames);
    input.set_name(names[argument]);
    if (failed(exportType(argument.getType(), func.getArgAttrOfType<ArrayAttr>(i, kDimsAttr),
                          *input.mutable_type())))
      return func.emitError("has an argument of type ")
             << argument.getType() << ", which ONNX cannot hold";
  }
  // Outputs take their names first, so that no inner value does.
  auto results = block.getTerminator()->getOperands();
  SmallVector<std::string> wanted;
  for (auto [i, value] : llvm::enumerate(results)) {
    std::string name = ioName(func.getResultAttrOfType<StringAttr>(i, kNameAttr), "output", i);
    // An input may be an output under its own name.
    bool isInput = isa<BlockArgument>(value) && names.lookup(value) == name;
    wanted.push_back(isInput ? name : uniqueName(name, valueNames));
    Operation *op = value.getDefiningOp();
    if (op && !isa<ConstantOp, NoneOp>(op))
      names.try_emplace(value, wanted.back());
  }
  if (failed(exportBlock(block, graph)))
    return failure();
  for (auto [i, value] : llvm::enumerate(results)) {
    ValueInfoProto &output = *graph.add_output();
    output.set_name(outputName(value, wanted[i], &block, graph));
    if (!isa<AnyType>(value.getType()))
      (void)exportType(value.getType(), func.getResultAttrOfType<ArrayAttr>(i, kDimsAttr),
                       *output.mutable_type());
  }
  return success();
}

void Exporter::exportModelAttributes(ModelProto &model) {
  auto info = module->getAttrOfType<DictionaryAttr>(kModelAttr);
  auto string = [&](StringRef name) {
    auto attr = info ? info.getAs<StringAttr>(name) : StringAttr();
    return attr ? attr.str() : std::string();
  };
  model.set_ir_version(kIrVersion);
  model.set_producer_name(string("producer_name"));
  model.set_producer_version(string("producer_version"));
  model.set_domain(string("domain"));
  model.set_doc_string(string("doc_string"));
  std::string graphName = string("graph_name");
  model.mutable_graph()->set_name(graphName.empty() ? "main" : graphName);
  if (!info)
    return;
  if (auto version = info.getAs<IntegerAttr>("model_version"))
    model.set_model_version(version.getInt());
  if (auto metadata = info.getAs<DictionaryAttr>("metadata"))
    for (NamedAttribute entry : metadata)
      if (auto value = dyn_cast<StringAttr>(entry.getValue())) {
        StringStringEntryProto &proto = *model.add_metadata_props();
        proto.set_key(entry.getName().str());
        proto.set_value(value.str());
      }
  if (auto domains = info.getAs<DictionaryAttr>("opsets"))
    for (NamedAttribute entry : domains)
      if (auto version = dyn_cast<IntegerAttr>(entry.getValue()))
        opsets[entry.getName()] = version.getInt();
}

LogicalResult Exporter::run(ModelProto &model) {
  auto funcs = llvm::to_vector(llvm::make_filter_range(
      module.getOps<func::FuncOp>(), [](func::FuncOp func) { return !func.isPrivate(); }));
  if (funcs.size() != 1 || funcs.front().isExternal() ||
      !llvm::hasSingleElement(funcs.front().getBody()))
    return module.emitError("has ") << funcs.size() << " functions; ONNX needs one, with one block";
  exportModelAttributes(model);
  opsets[""] = kOpset;
  if (failed(exportFunction(funcs.front(), *model.mutable_graph())))
    return failure();
  SmallVector<std::pair<std::string, int64_t>> sorted;
  for (const auto &[domain, version] : opsets)
    sorted.emplace_back(domain.str(), version);
  llvm::sort(sorted);
  for (const auto &[domain, version] : sorted) {
    OperatorSetIdProto &import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static FailureOr<std::string> serialise(ModuleOp module, const ModelProto &model) {
  size_t size = model.ByteSizeLong();
  if (size > size_t(INT_MAX))
    return module.emitError("takes ")
           << size << " bytes as ONNX; at most " << INT_MAX << " are possible";
  std::string bytes;
  if (!model.SerializePartialToString(&bytes))
    return module.emitError("cannot be serialised as ONNX");
  return bytes;
}

FailureOr<std::string> cameo::onnx::exportOnnxBuffer(ModuleOp module) {
  ModelProto model;
  if (failed(Exporter(module, nullptr).run(model)))
    return failure();
  return serialise(module, model);
}

static int64_t constantBytesOf(ModuleOp module) {
  int64_t total = 0;
  module.walk([&](ConstantOp constant) {
    if (!isLargeSplat(constant.getValue()))
      total += bytesOf(constant.getValue());
  });
  return total;
}

LogicalResult cameo::onnx::exportOnnxFile(ModuleOp module, StringRef path,
                                          const ExportOptions &options) {
  auto fail = [&](llvm::Error error) -> LogicalResult {
    return module.emitError(llvm::toString(std::move(error)));
  };
  std::unique_ptr<OutputFile> data;
  ExternalData external;
  if (constantBytesOf(module) >= options.externalFrom) {
    std::string dataPath = (path + ".data").str();
    llvm::Expected<std::unique_ptr<OutputFile>> file = OutputFile::create(dataPath);
    if (!file)
      return fail(file.takeError());
    data = std::move(*file);
    external = {llvm::sys::path::filename(dataPath).str(), &data->stream()};
  }
  ModelProto model;
  if (failed(Exporter(module, data ? &external : nullptr).run(model)))
    return failure();
  FailureOr<std::string> bytes = serialise(module, model);
  if (failed(bytes))
    return failure();
  llvm::Expected<std::unique_ptr<OutputFile>> file = OutputFile::create(path);
  if (!file)
    return fail(file.takeError());
  (*file)->stream() << *bytes;
  // Both are whole before one gets its name.
  for (OutputFile *whole : {data.get(), file->get()})
    if (llvm::Error error = whole ? whole->close() : llvm::Error::success())
      return fail(std::move(error));
  for (OutputFile *whole : {data.get(), file->get()})
    if (llvm::Error error = whole ? whole->keep() : llvm::Error::success())
      return fail(std::move(error));
  return success();
}
