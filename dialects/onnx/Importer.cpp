// The model and its graphs.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Importer.h"
#include "dialects/onnx/AttributeMutant.h"
#include "dialects/onnx/ModelParse.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cameo::onnx;
using namespace cameo::onnx_proto;

/// Problems that are reported in full; the others are counted.
static constexpr size_t kMaxReportedProblems = 50;

Importer::Importer(MLIRContext *context, std::shared_ptr<ModelProto> model, StringRef path,
                   std::optional<std::string> folder, const ImportOptions &options)
    : context(context), model(model), path(path), options(options),
      tensors(context, std::move(folder), options.maxUnfoldedBytes), builder(context) {
  tensors.takeRawData(*model);
}

void Importer::problem(Location loc, const Twine &text) {
  ++problemCount;
  if (problems.size() < kMaxReportedProblems)
    problems.emplace_back(loc, text.str());
}

void Importer::tensorProblem(Location loc, const Twine &what, llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error), [](const UnreadableFile &) {},
      [&](const llvm::ErrorInfoBase &info) { problem(loc, what + " " + info.message()); });
}

LogicalResult Importer::reportProblems() {
  if (problems.empty())
    return success();
  if (problemCount == 1) {
    auto &[loc, text] = problems.front();
    auto name = dyn_cast<NameLoc>(loc);
    // What concerns the model as a whole is at the place of its file, which the error begins with.
    bool isWhole = name && name.getName() == path;
    return emitError(loc) << (isWhole ? "" : path + ": ") << text;
  }
  InFlightDiagnostic diag = emitError(builder.getUnknownLoc())
                            << path << ": the model has " << problemCount << " problems";
  for (auto &[loc, text] : problems)
    diag.attachNote(loc) << text;
  return diag;
}

Location Importer::uniqueLoc(StringRef name) {
  auto [known, isNew] = locNames.try_emplace(name, 1);
  if (isNew)
    return NameLoc::get(builder.getStringAttr(name));
  // A name made by numbering may be one that the model uses, too.
  std::string unique;
  unsigned i = known->second++;
  do
    unique = (name + "_" + Twine(i++)).str();
  while (!locNames.try_emplace(unique, 1).second);
  return NameLoc::get(builder.getStringAttr(unique));
}

LogicalResult
Importer::readOpsets(const google::protobuf::RepeatedPtrField<OperatorSetIdProto> &imports,
                     StringRef where, Opsets &opsets) {
  for (const OperatorSetIdProto &import : imports) {
    std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    if (domain.empty() && (import.version() < kMinOpset || import.version() > kOpset)) {
      problem(builder.getUnknownLoc(),
              where + " uses opset " + Twine(import.version()) + " of the default domain; " +
                  Twine(kMinOpset) + " to " + Twine(kOpset) +
                  " are supported; onnx.version_converter converts models");
      return failure();
    }
    if (auto [it, isNew] = opsets.try_emplace(domain, import.version());
        !isNew && it->second != import.version()) {
      problem(builder.getUnknownLoc(),
              where + " imports two versions of the domain '" + domain + "'");
      return failure();
    }
  }
  return success();
}

void Importer::declareTypes(const GraphProto &graph, Frame &frame) {
  for (const ValueInfoProto &info : graph.value_info())
    frame.types[info.name()] = &info.type();
  for (const ValueInfoProto &info : graph.output())
    frame.types[info.name()] = &info.type();
  // Of initialisers, whose declarations these are.
  for (const ValueInfoProto &info : graph.input())
    frame.types[info.name()] = &info.type();
}

void Importer::importInitializers(const GraphProto &graph, Frame &frame) {
  llvm::StringSet<> inputs;
  for (const ValueInfoProto &input : graph.input())
    inputs.insert(input.name());
  bool isMain = !frame.scope->outer;
  auto isInput = [&](StringRef name) {
    return isMain && llvm::is_contained(options.overridable, name);
  };
  auto add = [&](StringRef name, llvm::Expected<ElementsAttr> value) {
    Location loc = uniqueLoc(name);
    if (name.empty() && value)
      return problem(loc, "an initialiser has no name");
    if (!value) {
      tensorProblem(loc, "the initialiser '" + name + "'", value.takeError());
      return define(name, placeholder(loc), frame, loc);
    }
    Value constant = builder.create<ConstantOp>(loc, value->getType(), ValueRange(),
                                                builder.getNamedAttr("value", *value));
    if (auto declared = frame.types.find(name); declared != frame.types.end())
      refine(constant, *declared->second, name, loc, inputs.contains(name));
    define(name, constant, frame, loc);
  };
  for (const TensorProto &tensor : graph.initializer())
    if (!isInput(tensor.name()))
      add(tensor.name(), tensors.import(tensor, tensor.name()));
  for (const SparseTensorProto &tensor : graph.sparse_initializer())
    if (!isInput(tensor.values().name()))
      add(tensor.values().name(), tensors.import(tensor, tensor.values().name()));
}

std::unique_ptr<Region> Importer::importSubgraph(const GraphProto &graph, Frame &outer,
                                                 ArrayRef<Type> argumentTypes, Location loc) {
  OpBuilder::InsertionGuard guard(builder);
  auto region = std::make_unique<Region>();
  Block *block = builder.createBlock(region.get());
  Scope scope;
  scope.outer = outer.scope;
  Frame frame;
  frame.scope = &scope;
  frame.opsets = outer.opsets;
  frame.attributes = outer.attributes;
  frame.prefix = outer.prefix;
  declareTypes(graph, frame);
  importInitializers(graph, frame);
  unsigned index = 0;
  for (const ValueInfoProto &input : graph.input()) {
    if (scope.values.count(input.name()))
      continue;
    Type type = index < argumentTypes.size() ? argumentTypes[index] : AnyType::get(context);
    ++index;
    bool declared = input.type().value_case() != TypeProto::VALUE_NOT_SET &&
                    !(input.type().has_tensor_type() && !input.type().tensor_type().elem_type());
    if (declared) {
      llvm::Expected<Type> known = importType(input.type());
      if (known)
        type = *known;
      else
        problem(loc, "the input '" + input.name() +
                         "' of a subgraph: " + llvm::toString(known.takeError()));
    }
    Location named = NameLoc::get(builder.getStringAttr(frame.prefix + input.name()), loc);
    define(input.name(), block->addArgument(type, named), frame, loc);
  }
  importNodes(graph.node(), frame);
  SmallVector<Value> outputs;
  for (const ValueInfoProto &output : graph.output())
    outputs.push_back(lookup(output.name(), frame, loc));
  builder.create<YieldOp>(loc, TypeRange(), outputs);
  return region;
}

static std::string sanitised(StringRef name) {
  std::string symbol;
  for (char c : name)
    symbol += llvm::isAlnum(c) ? c : '_';
  if (symbol.empty() || llvm::isDigit(symbol.front()))
    symbol = symbol.empty() ? "main" : "_" + symbol;
  return symbol;
}

DictionaryAttr Importer::modelAttributes(const Opsets &opsets) {
  NamedAttrList attrs;
  attrs.set("ir_version", builder.getI64IntegerAttr(model->ir_version()));
  attrs.set("producer_name", builder.getStringAttr(model->producer_name()));
  attrs.set("producer_version", builder.getStringAttr(model->producer_version()));
  attrs.set("domain", builder.getStringAttr(model->domain()));
  attrs.set("model_version", builder.getI64IntegerAttr(model->model_version()));
  attrs.set("doc_string", builder.getStringAttr(model->doc_string()));
  attrs.set("graph_name", builder.getStringAttr(model->graph().name()));
  NamedAttrList metadata, domains;
  for (const StringStringEntryProto &entry : model->metadata_props())
    if (!entry.key().empty())
      metadata.set(entry.key(), builder.getStringAttr(entry.value()));
  for (const auto &[domain, version] : opsets)
    if (!domain.empty())
      domains.set(domain, builder.getI64IntegerAttr(version));
  attrs.set("metadata", metadata.getDictionary(context));
  attrs.set("opsets", domains.getDictionary(context));
  if (auto opset = opsets.find(""); opset != opsets.end())
    attrs.set("opset", builder.getI64IntegerAttr(opset->second));
  return attrs.getDictionary(context);
}

std::vector<Importer::MainInput> Importer::mainInputs(const GraphProto &graph, Location loc) {
  // Types and sizes of initialisers, by their names.
  llvm::StringMap<std::pair<int32_t, ArrayRef<int64_t>>> initialised;
  for (const TensorProto &tensor : graph.initializer())
    initialised[tensor.name()] = {tensor.data_type(),
                                  ArrayRef(tensor.dims().data(), tensor.dims_size())};
  for (const SparseTensorProto &tensor : graph.sparse_initializer())
    initialised[tensor.values().name()] = {tensor.values().data_type(),
                                           ArrayRef(tensor.dims().data(), tensor.dims_size())};
  std::vector<MainInput> inputs;
  llvm::StringSet<> declared;
  for (const ValueInfoProto &input : graph.input()) {
    declared.insert(input.name());
    bool isDefault = initialised.contains(input.name());
    if (isDefault && !llvm::is_contained(options.overridable, input.name())) {
      // Up to IR version 3 every initialiser had to be an input; later it is a default value.
      if (model->ir_version() >= 4)
        emitRemark(loc) << path << ": the input '" << input.name()
                        << "' has a default value and becomes a constant; --overridable="
                        << input.name() << " keeps it an input";
      continue;
    }
    llvm::Expected<Type> type = importType(input.type());
    if (!type) {
      problem(loc, "the input '" + input.name() + "': " + llvm::toString(type.takeError()));
      continue;
    }
    inputs.push_back({input.name(), *type, importDims(input.type())});
  }
  for (const std::string &name : options.overridable) {
    auto found = initialised.find(name);
    if (found == initialised.end()) {
      problem(loc, "--overridable: the model has no initialiser '" + name + "'");
      continue;
    }
    emitRemark(loc) << path << ": the initialiser '" << name
                    << "' becomes an input, which each run must be given";
    if (!declared.insert(name).second)
      continue;
    auto [number, sizes] = found->second;
    std::optional<ElementKind> kind = elementKindOfNumber(number);
    if (!kind) {
      problem(loc,
              "the initialiser '" + name + "' has elements of the unknown type " + Twine(number));
      continue;
    }
    inputs.push_back({name, RankedTensorType::get(sizes, elementTypeOf(*kind, context)),
                      builder.getI64ArrayAttr(sizes)});
  }
  return inputs;
}

LogicalResult Importer::importMain(ModuleOp module) {
  const GraphProto &graph = model->graph();
  Opsets opsets;
  if (failed(readOpsets(model->opset_import(), "the model", opsets)))
    return failure();
  module->setAttr(kOpsetAttr, builder.getI64IntegerAttr(kOpset));
  module->setAttr(kModelAttr, modelAttributes(opsets));
  Location loc = module.getLoc();

  std::vector<MainInput> inputs = mainInputs(graph, loc);
  SmallVector<Type> inputTypes;
  for (const MainInput &input : inputs)
    inputTypes.push_back(input.type);

  builder.setInsertionPointToEnd(module.getBody());
  auto func = builder.create<func::FuncOp>(loc, sanitised(graph.name()),
                                           builder.getFunctionType(inputTypes, {}));
  Block *entry = func.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  none = builder.create<NoneOp>(loc, builder.getNoneType(), ValueRange());
  Scope scope;
  Frame frame;
  frame.scope = &scope;
  frame.opsets = &opsets;
  declareTypes(graph, frame);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    define(input.name, entry->getArgument(i), frame, loc);
    func.setArgAttr(i, kNameAttr, builder.getStringAttr(input.name));
    if (input.dims)
      func.setArgAttr(i, kDimsAttr, input.dims);
  }
  importInitializers(graph, frame);
  importNodes(graph.node(), frame);

  SmallVector<Value> results;
  llvm::StringSet<> outputNames;
  for (const ValueInfoProto &output : graph.output()) {
    Value value = lookup(output.name(), frame, loc);
    // Nodes were refined as they were made; this checks arguments and initialisers.
    refine(value, output.type(), output.name(), loc);
    results.push_back(value);
    if (!outputNames.insert(output.name()).second)
      problem(loc, "the output '" + output.name() + "' is listed twice");
  }
  if (results.empty() && problems.empty())
    problem(loc, "the graph has no outputs");
  builder.create<func::ReturnOp>(loc, results);
  func.setFunctionType(builder.getFunctionType(inputTypes, ValueRange(results).getTypes()));
  for (auto [i, output] : llvm::enumerate(graph.output())) {
    func.setResultAttr(i, kNameAttr, builder.getStringAttr(output.name()));
    auto type = dyn_cast<RankedTensorType>(results[i].getType());
    ArrayAttr dims = importDims(output.type());
    // A declaration of another rank was ignored.
    if (dims && (!type || type.getRank() == static_cast<int64_t>(dims.size())))
      func.setResultAttr(i, kDimsAttr, dims);
  }
  return success();
}

LogicalResult Importer::importModel(ModuleOp module) {
  if (model->ir_version() > kIrVersion)
    problem(module.getLoc(), "the file has IR version " + Twine(model->ir_version()) + "; up to " +
                                 Twine(kIrVersion) + " are supported");
  for (const FunctionProto &function : model->functions()) {
    std::string domain = function.domain() == "ai.onnx" ? "" : function.domain();
    std::string key = domain + "\n" + function.name() + "\n" + function.overload();
    if (!functions.try_emplace(key, &function).second)
      problem(module.getLoc(), "the function '" + function.name() + "' is defined twice");
  }
  return problems.empty() ? importMain(module) : failure();
}

OwningOpRef<ModuleOp> Importer::run() {
  context->loadDialect<OnnxDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(NameLoc::get(builder.getStringAttr(path)));
  (void)importModel(*module);
  for (const std::string &file : tensors.unreadableFiles())
    problem(module->getLoc(), file);
  if (options.externalFiles)
    *options.externalFiles = tensors.externalFiles();
  if (failed(reportProblems()) || failed(verify(*module)))
    return nullptr;
  return module;
}

/// `path` stands in messages; without `folder` there are no external data.
static OwningOpRef<ModuleOp> importParsed(llvm::Expected<std::shared_ptr<ModelProto>> model,
                                          StringRef path, MLIRContext *context,
                                          std::optional<std::string> folder,
                                          const ImportOptions &options) {
  if (!model) {
    emitError(UnknownLoc::get(context)) << path << ": " << llvm::toString(model.takeError());
    return nullptr;
  }
#ifdef CAMEO_ATTRIBUTE_MUTANTS
  applyAttributeMutant(**model);
#endif
  return Importer(context, *model, path, std::move(folder), options).run();
}

OwningOpRef<ModuleOp> cameo::onnx::importOnnxFile(StringRef path, MLIRContext *context,
                                                  const ImportOptions &options) {
  llvm::Expected<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file) {
    emitError(UnknownLoc::get(context)) << llvm::toString(file.takeError());
    return nullptr;
  }
  llvm::Expected<std::shared_ptr<ModelProto>> model =
      parseModel(StringRef((*file)->bytes().data(), (*file)->bytes().size()));
  // The messages own their bytes: the mapping would only count as memory.
  file->reset();
  return importParsed(std::move(model), path, context, llvm::sys::path::parent_path(path).str(),
                      options);
}

OwningOpRef<ModuleOp> cameo::onnx::importOnnxBuffer(StringRef bytes, StringRef name,
                                                    MLIRContext *context,
                                                    const ImportOptions &options) {
  std::optional<std::string> folder;
  if (!options.externalDataFolder.empty())
    folder = options.externalDataFolder;
  return importParsed(parseModel(bytes), name, context, std::move(folder), options);
}
