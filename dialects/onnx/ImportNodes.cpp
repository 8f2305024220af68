// Nodes: names to values, operators, constants and calls of functions.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/AttributeValues.h"
#include "dialects/onnx/Importer.h"
#include "dialects/onnx/ResultTypes.h"

using namespace mlir;
using namespace cameo::onnx;
using namespace cameo::onnx_proto;

/// Calls of functions within one another.
static constexpr size_t kMaxCalls = 64;

void Importer::define(StringRef name, Value value, Frame &frame, Location loc) {
  if (frame.scope->undefined.erase(name))
    frame.scope->values.erase(name);
  if (!frame.scope->values.try_emplace(name, value).second)
    problem(loc, "the value '" + name + "' is made twice");
}

std::string Importer::explainUndefined(StringRef name, const Nodes &nodes) {
  llvm::StringMap<int> producers;
  for (auto [i, node] : llvm::enumerate(nodes))
    for (const std::string &output : node.output())
      producers.try_emplace(output, int(i));
  auto found = producers.find(name);
  if (found == producers.end())
    return ("uses the value '" + name + "', which nothing makes").str();
  auto label = [&](int i) {
    const NodeProto &node = nodes.Get(i);
    return "'" + (node.name().empty() && node.output_size() ? node.output(0) : node.name()) + "'";
  };
  // Depth first from the producer through its inputs: does it need itself?
  SmallVector<std::pair<int, int>> stack{{found->second, 0}};
  llvm::SmallDenseSet<int> seen{found->second};
  while (!stack.empty()) {
    auto &[at, next] = stack.back();
    if (next == nodes.Get(at).input_size()) {
      stack.pop_back();
      continue;
    }
    auto input = producers.find(nodes.Get(at).input(next++));
    if (input == producers.end())
      continue;
    if (input->second == found->second) {
      std::string text = "is part of a cycle of nodes: ";
      size_t told = std::min<size_t>(stack.size(), 8);
      for (size_t i = 0; i < told; ++i)
        text += label(stack[i].first) + (i + 1 < told ? ", " : "");
      return text + (told < stack.size() ? ", ..." : "");
    }
    if (seen.insert(input->second).second)
      stack.push_back({input->second, 0});
  }
  return ("uses the value '" + name + "' before the node " + label(found->second) +
          " makes it; nodes must be sorted")
      .str();
}

Value Importer::placeholder(Location loc) {
  return builder
      .create<UnrealizedConversionCastOp>(loc, TypeRange{AnyType::get(context)}, ValueRange())
      .getResult(0);
}

Value Importer::lookup(StringRef name, Frame &frame, Location loc) {
  for (Scope *scope = frame.scope; scope; scope = scope->outer)
    if (Value value = scope->values.lookup(name))
      return value;
  bool explain = problems.size() < 10 && frame.nodes;
  problem(loc, explain ? explainUndefined(name, *frame.nodes)
                       : ("uses the value '" + name + "', which is not made before").str());
  // Stands in, so that one missing value is one problem.
  Value unknown = placeholder(loc);
  frame.scope->values[name] = unknown;
  frame.scope->undefined.insert(name);
  return unknown;
}

void Importer::importNodes(const Nodes &nodes, Frame &frame) {
  frame.nodes = &nodes;
  for (const NodeProto &node : nodes) {
    if (tooManyNodes)
      return;
    ++nodeCount;
    inlinedCount += !activeCalls.empty();
    bool inlined = inlinedCount > options.maxInlinedNodes;
    if (inlined || nodeCount > options.maxNodes) {
      problem(builder.getUnknownLoc(),
              "the model has more than " +
                  Twine(inlined ? options.maxInlinedNodes : options.maxNodes) +
                  (inlined ? " nodes from calls of functions" : " nodes"));
      tooManyNodes = true;
      return;
    }
    importNode(node, frame);
  }
}

void Importer::importNode(const NodeProto &node, Frame &frame) {
  std::string name = node.name();
  for (int i = 0; name.empty() && i < node.output_size(); ++i)
    name = node.output(i);
  Location loc = uniqueLoc(frame.prefix + (name.empty() ? node.op_type() : name));
  importAnyNode(node, frame, loc);
  addPlaceholders(node, frame, loc);
}

void Importer::addPlaceholders(const NodeProto &node, Frame &frame, Location loc) {
  for (const std::string &output : node.output())
    if (!output.empty() && !frame.scope->values.count(output))
      define(output, placeholder(loc), frame, loc);
}

void Importer::importAnyNode(const NodeProto &node, Frame &frame, Location loc) {
  std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
  SmallVector<Value> inputs;
  for (const std::string &input : node.input())
    inputs.push_back(input.empty() ? none : lookup(input, frame, loc));

  if (!functions.empty()) {
    std::string key = domain + "\n" + node.op_type() + "\n" + node.overload();
    if (const FunctionProto *function = functions.lookup(key))
      return importCall(node, *function, frame, loc, inputs);
  }
  auto opset = frame.opsets->find(domain);
  if (opset == frame.opsets->end())
    return problem(loc, node.op_type() + ": no opset of the domain '" + domain + "' is imported");
  const ConversionRow *row =
      domain.empty() ? lookupConversion(node.op_type(), opset->second) : nullptr;
  if (!row)
    return importCustom(node, frame, loc, opset->second, inputs);
  if (node.op_type() == "Constant")
    return importConstant(node, row->sinceVersion, frame, loc);
  importOperator(node, frame, loc, opset->second, *row, inputs);
}

void Importer::bindOutputs(const NodeProto &node, Frame &frame, Location loc, ValueRange results) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string &name = node.output(i);
    if (name.empty())
      continue;
    Value value = results[i];
    auto declared = frame.types.find(name);
    if (declared != frame.types.end())
      refine(value, *declared->second, name, loc);
    define(name, value, frame, loc);
    auto result = dyn_cast<OpResult>(value);
    auto origin = result ? dyn_cast<NameLoc>(value.getLoc()) : NameLoc();
    if (options.tensors && origin && activeCalls.empty())
      options.tensors->push_back({name, origin.getName().str(), result.getResultNumber()});
  }
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// The type of one entry of a scanned input.
static Type entryOf(Type type, int64_t dropped) {
  if (auto ranked = dyn_cast<RankedTensorType>(type); ranked && ranked.getRank() >= dropped)
    return ranked.clone(ranked.getShape().drop_front(dropped));
  return type;
}

/// What the inputs of a node's subgraph are, where the subgraph does not say.
static SmallVector<Type> subgraphTypes(StringRef op, int64_t sinceVersion, ArrayRef<Value> inputs,
                                       const NamedAttrList &attributes) {
  SmallVector<Type> types;
  if (inputs.empty())
    return types;
  Builder b(inputs.front().getContext());
  if (op == "Loop") {
    types = {RankedTensorType::get({}, b.getI64Type()), RankedTensorType::get({}, b.getI1Type())};
    for (Value value : inputs.drop_front(std::min<size_t>(2, inputs.size())))
      types.push_back(unrankedType(value.getType()));
  } else if (op == "Scan") {
    // Version 8 has the sequences' lengths first, and a batch dimension.
    bool batched = sinceVersion == 8;
    auto scanned = dyn_cast_or_null<IntegerAttr>(attributes.get("num_scan_inputs"));
    ArrayRef<Value> values = inputs.drop_front(batched);
    int64_t states = int64_t(values.size()) - (scanned ? scanned.getInt() : 0);
    // Which axis is scanned does not matter to the rank; the sizes are only right for the first.
    bool anyAxis = bool(attributes.get("scan_input_axes"));
    for (auto [i, value] : llvm::enumerate(values)) {
      Type type = value.getType();
      if (int64_t(i) < states)
        types.push_back(batched ? entryOf(type, 1) : type);
      else
        types.push_back(anyAxis ? unrankedType(type) : entryOf(type, batched ? 2 : 1));
    }
  } else if (op == "SequenceMap") {
    for (Value value : inputs) {
      auto seq = dyn_cast<SeqType>(value.getType());
      types.push_back(seq ? seq.getElementType() : value.getType());
    }
  }
  return types;
}

void Importer::importOperator(const NodeProto &node, Frame &frame, Location loc, int64_t opset,
                              const ConversionRow &row, ArrayRef<Value> inputs) {
  ForeignNode foreign(builder, loc, none);
  foreign.op = node.op_type();
  foreign.sinceVersion = row.sinceVersion;
  foreign.inputs.assign(inputs.begin(), inputs.end());
  for (const std::string &output : node.output())
    foreign.outputUsed.push_back(!output.empty());
  auto argumentTypes = [&](const NamedAttrList &attributes) {
    return subgraphTypes(foreign.op, row.sinceVersion, inputs, attributes);
  };
  auto fail = [&](const Twine &why) {
    problem(loc, node.op_type() + " (opset " + Twine(opset) + ") " + why);
  };
  int64_t before = problemCount;
  if (std::string text = attributeProblem(node, row.sinceVersion, frame); !text.empty())
    return fail(text);
  if (failed(readAttributes(node, frame, loc, argumentTypes, foreign.attributes, foreign.regions)))
    return;
  for (NamedAttribute named : foreign.attributes)
    if (std::string text = attributeValueProblem(node.op_type(), row.sinceVersion, named.getName(),
                                                 named.getValue());
        !text.empty())
      return fail(text);
  if (row.convert && failed(row.convert(foreign))) {
    if (foreign.isUnsupported)
      return importCustom(node, frame, loc, opset, inputs, foreign.problem);
    return fail(foreign.problem);
  }
  if (foreign.results.empty()) {
    Operation *op =
        buildOp(builder, loc, none, *lookupSchema(foreign.op), foreign.inputs, foreign.attributes,
                foreign.regions, foreign.outputUsed, foreign.problem);
    if (!op)
      return fail(foreign.problem);
    if (std::string text = detail::schemaProblem(op); !text.empty() && before == problemCount)
      return fail(text);
    foreign.results.assign(op->result_begin(), op->result_end());
  } else if (!foreign.problem.empty()) {
    return fail(foreign.problem);
  }
  bindOutputs(node, frame, loc, foreign.results);
}

void Importer::importConstant(const NodeProto &node, int64_t version, Frame &frame, Location loc) {
  if (std::string text = attributeProblem(node, version, frame); !text.empty())
    return problem(loc, "Constant " + text);
  NamedAttrList attributes;
  SmallVector<std::pair<std::string, std::unique_ptr<Region>>> regions;
  auto noTypes = [](const NamedAttrList &) { return SmallVector<Type>(); };
  if (failed(readAttributes(node, frame, loc, noTypes, attributes, regions)))
    return;
  if (attributes.getAttrs().size() != 1 || !regions.empty() || node.output_size() != 1 ||
      node.input_size() != 0)
    return problem(loc, "Constant needs one attribute that holds its value and one output");
  NamedAttribute named = attributes.getAttrs().front();
  Attribute attr = named.getValue();
  StringRef resource = cast<NameLoc>(loc).getName();
  auto i64 = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getI64Type());
  };
  auto f32 = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  };
  auto str = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, StringType::get(context));
  };
  ElementsAttr value;
  if (auto ints = dyn_cast<DenseI64ArrayAttr>(attr))
    value = makeConstant(i64(ints.size()), resource, ints.getRawData());
  else if (auto floats = dyn_cast<DenseF32ArrayAttr>(attr))
    value = makeConstant(f32(floats.size()), resource, floats.getRawData());
  else if (auto elements = dyn_cast<ElementsAttr>(attr))
    value = elements;
  else if (auto integer = dyn_cast<IntegerAttr>(attr))
    value = DenseElementsAttr::get(i64({}), integer.getInt());
  else if (auto number = dyn_cast<FloatAttr>(attr))
    value = DenseElementsAttr::get(f32({}), number.getValue());
  else if (auto string = dyn_cast<StringAttr>(attr))
    value = makeStringConstant(str({}), {string.getValue()});
  else if (auto strings = dyn_cast<ArrayAttr>(attr)) {
    SmallVector<StringRef> list;
    for (Attribute element : strings)
      if (auto string = dyn_cast<StringAttr>(element))
        list.push_back(string.getValue());
    value = makeStringConstant(str(int64_t(list.size())), list);
  }
  if (!value)
    return problem(loc, "Constant: the attribute '" + named.getName().strref() + "' has no value");
  bindOutputs(node, frame, loc,
              builder
                  .create<ConstantOp>(loc, value.getType(), ValueRange(),
                                      builder.getNamedAttr("value", value))
                  ->getResults());
}

void Importer::importCustom(const NodeProto &node, Frame &frame, Location loc, int64_t version,
                            ArrayRef<Value> inputs, StringRef unsupported) {
  NamedAttrList attributes;
  SmallVector<std::pair<std::string, std::unique_ptr<Region>>> regions;
  auto noTypes = [](const NamedAttrList &) { return SmallVector<Type>(); };
  if (failed(readAttributes(node, frame, loc, noTypes, attributes, regions)))
    return;
  OperationState state(loc, CustomOp::getOperationName());
  state.addOperands(inputs);
  for (const std::string &output : node.output())
    state.addTypes(output.empty() ? Type(builder.getNoneType()) : AnyType::get(context));
  state.addAttribute("domain",
                     builder.getStringAttr(node.domain() == "ai.onnx" ? "" : node.domain()));
  state.addAttribute("op_type", builder.getStringAttr(node.op_type()));
  state.addAttribute("version", builder.getI64IntegerAttr(version));
  if (!unsupported.empty())
    state.addAttribute("unsupported", builder.getStringAttr(unsupported));
  state.addAttribute("onnx_attributes", attributes.getDictionary(context));
  SmallVector<StringRef> names;
  for (auto &[name, region] : regions) {
    names.push_back(name);
    state.addRegion(std::move(region));
  }
  if (!names.empty())
    state.addAttribute("graphs", builder.getStrArrayAttr(names));
  bindOutputs(node, frame, loc, builder.create(state)->getResults());
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void Importer::importCall(const NodeProto &node, const FunctionProto &function, Frame &frame,
                          Location loc, ArrayRef<Value> inputs) {
  if (llvm::is_contained(activeCalls, &function))
    return problem(loc, "the function '" + function.name() + "' calls itself");
  if (activeCalls.size() >= kMaxCalls)
    return problem(loc, "functions call one another more than " + Twine(kMaxCalls) + " deep");
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    return problem(loc, "passes " + Twine(node.input_size()) + " inputs and takes " +
                            Twine(node.output_size()) + " outputs; the function '" +
                            function.name() + "' has " + Twine(function.input_size()) + " and " +
                            Twine(function.output_size()));
  Opsets opsets;
  if (failed(readOpsets(function.opset_import(), "the function '" + function.name() + "'", opsets)))
    return;
  llvm::StringMap<BoundAttribute> attributes;
  Frame defaults;
  for (const AttributeProto &attribute : function.attribute_proto())
    attributes[attribute.name()] = {&attribute, &defaults};
  for (const AttributeProto &written : node.attribute())
    if (std::optional<BoundAttribute> bound = resolve(written, frame))
      attributes[written.name()] = *bound;

  Scope scope, defaultScope;
  defaults.scope = &defaultScope;
  defaults.opsets = &opsets;
  Frame body;
  body.scope = &scope;
  body.opsets = &opsets;
  body.attributes = &attributes;
  body.prefix = cast<NameLoc>(loc).getName().str() + "/";
  for (const ValueInfoProto &info : function.value_info())
    body.types[info.name()] = &info.type();
  for (int i = 0; i < function.input_size(); ++i)
    define(function.input(i), i < int(inputs.size()) ? inputs[i] : none, body, loc);
  activeCalls.push_back(&function);
  importNodes(function.node(), body);
  SmallVector<Value> results;
  for (int i = 0; i < node.output_size(); ++i)
    results.push_back(node.output(i).empty() ? none : lookup(function.output(i), body, loc));
  activeCalls.pop_back();
  bindOutputs(node, frame, loc, results);
}
