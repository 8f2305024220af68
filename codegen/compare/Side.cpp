// What is compared: a model at a precision, an artefact, or numbers that were recorded.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/compare/Side.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/rt/Rt.h"
#include "passes/graph/Bodies.h"
#include "passes/precision/RecordedRanges.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cameo;
using llvm::StringRef;

//===-- Models that run -----------------------------------------------------------------------===//

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> compileModel(Compiler &compiler,
                                                                        StringRef path) {
  if (failed(compiler.read(path)) || failed(compiler.runTo(Stage::Host)) || failed(compiler.emit()))
    return llvm::createStringError("'" + path + "' is not compiled");
  return compiler.artefact();
}

static void addOperators(ModuleOp module, SideFacts &facts) {
  llvm::DenseMap<Operation *, Operation *> callers = callersOf(module);
  for (func::FuncOp function : modelFunctions(module)) {
    std::vector<std::string> around = nodesAround(function, callers);
    for (Operation &op : function.getBody().front())
      for (Value result : op.getResults())
        if (std::string name = valueName(result); !name.empty() && !isa<onnx::ConstantOp>(op)) {
          facts.operators[name] = onnx::operatorName(&op).str();
          if (!around.empty())
            facts.around[name] = around;
        }
    // Trips hand on what is carried; captures are of the graph around.
    if (auto loop = dyn_cast_or_null<onnx::CallLoopOp>(callers.lookup(function)))
      for (BlockArgument argument : function.getArguments().slice(1, loop.getCarried()))
        facts.around[valueName(argument)] = around;
  }
}

static std::vector<LaunchTotals> totalsOfAll(ModuleOp module) {
  std::vector<LaunchTotals> list;
  for (auto variant : module.getOps<rt::VariantOp>())
    list.push_back(totalsOf(variant));
  return list;
}

static void addLaunches(std::vector<LaunchTotals> totals, SideFacts &facts) {
  for (const LaunchTotals &each : totals)
    if (each.estimate)
      facts.estimates.push_back(*each.estimate);
  if (!totals.empty())
    facts.launches = std::move(totals.front());
}

llvm::Expected<std::vector<LaunchTotals>> cameo::countLaunches(StringRef path,
                                                               CompileOptions options) {
  Compiler compiler(std::move(options));
  if (failed(compiler.read(path)) || failed(compiler.runTo(Stage::Host)))
    return llvm::createStringError("'" + path + "' is not compiled");
  return totalsOfAll(compiler.module());
}

llvm::Expected<std::unique_ptr<RunningSide>> RunningSide::compile(StringRef path, StringRef name,
                                                                  const CompileOptions &options,
                                                                  StringRef taps,
                                                                  const RunOptions &run) {
  SideFacts facts;
  facts.name = name.str();
  std::unique_ptr<Runner> runners[2];
  for (bool withTaps : {false, true}) {
    if (withTaps && taps.empty())
      break;
    CompileOptions these = options;
    if (withTaps) {
      these.pipeline.taps = taps.str();
      // The rest has been said before.
      these.onMessage = [say = options.onMessage](const CompileMessage &message) {
        if (say && message.severity == CompileMessage::Severity::Error)
          say(message);
      };
    }
    Compiler compiler(std::move(these));
    llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> artefact = compileModel(compiler, path);
    if (!artefact)
      return artefact.takeError();
    if (!withTaps) {
      facts.bytes = (*artefact)->getBufferSize();
      addLaunches(totalsOfAll(compiler.module()), facts);
    }
    llvm::Expected<std::unique_ptr<Runner>> runner = Runner::create(std::move(*artefact), run);
    if (!runner)
      return runner.takeError();
    runners[withTaps] = std::move(*runner);
  }
  // Names are those of stage normalized.
  CompileOptions quiet = options;
  quiet.onMessage = nullptr;
  quiet.pipeline.precision = PrecisionOptions();
  Compiler normalizer(std::move(quiet));
  if (succeeded(normalizer.read(path)) && succeeded(normalizer.runTo(Stage::Normalized)))
    addOperators(normalizer.module(), facts);
  return std::make_unique<RunningSide>(std::move(facts), std::move(runners[0]),
                                       std::move(runners[1]));
}

llvm::Expected<std::unique_ptr<RunningSide>> RunningSide::load(StringRef path,
                                                               const RunOptions &run) {
  auto bytes = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false, /*IsVolatile=*/false,
                                           llvm::Align(64));
  if (!bytes)
    return llvm::createStringError("cannot read '" + path + "': " + bytes.getError().message());
  SideFacts facts;
  facts.name = llvm::sys::path::filename(path).str();
  facts.bytes = (*bytes)->getBufferSize();
  llvm::Expected<std::unique_ptr<Runner>> runner = Runner::create(std::move(*bytes), run);
  if (!runner)
    return llvm::createStringError("'" + path + "': " + llvm::toString(runner.takeError()));
  addLaunches(readTotals((*runner)->manifest()), facts);
  return std::make_unique<RunningSide>(std::move(facts), std::move(*runner), nullptr);
}

llvm::Error RunningSide::run(const DataBatch &batch, ValueFunction onValue,
                             ValueFunction onOutput) {
  auto show = [&](const TappedValue &value) {
    return onValue({value.name, value.type, value.shape, value.bytes, value.trips});
  };
  llvm::Expected<std::vector<HostTensor>> results = withTaps().run(batch.inputs, show);
  if (results && tapped)
    results = model->run(batch.inputs);
  if (!results)
    return results.takeError();
  for (auto [port, tensor] : llvm::zip_equal(model->outputs(), *results))
    if (llvm::Error error = onOutput({port.name, tensor.type, tensor.shape, tensor.bytes}))
      return error;
  return llvm::Error::success();
}

//===-- Numbers that were recorded
//--------------------------------------------------------------===//

/// The types of an archive's arrays, by their names.
static llvm::Expected<llvm::StringMap<cameo_dtype>> typesOf(StringRef path) {
  llvm::Expected<std::shared_ptr<InputFile>> file = InputFile::open(path);
  if (!file)
    return file.takeError();
  llvm::Expected<std::vector<ArrayPlace>> places = listArrays(**file);
  if (!places)
    return places.takeError();
  llvm::StringMap<cameo_dtype> types;
  for (const ArrayPlace &place : *places) {
    llvm::Expected<std::unique_ptr<ArrayReader>> array = ArrayReader::open(*file, place);
    if (!array)
      return array.takeError();
    types[place.name] = (*array)->dtype();
  }
  return types;
}

llvm::Expected<std::unique_ptr<RecordedSide>>
RecordedSide::open(StringRef path, llvm::ArrayRef<TensorPort> outputs,
                   llvm::ArrayRef<TensorPort> values) {
  llvm::Expected<llvm::StringMap<cameo_dtype>> types = typesOf(path);
  if (!types)
    return types.takeError();
  std::vector<TensorPort> arrays;
  auto add = [&](llvm::ArrayRef<TensorPort> ports) {
    for (const TensorPort &port : ports)
      if (auto found = types->find(port.name); found != types->end())
        arrays.push_back({port.name, found->second, port.shape});
  };
  add(outputs);
  size_t outputsThere = arrays.size();
  add(values);
  if (arrays.empty())
    return llvm::createStringError("'" + path +
                                   "' has no array that is called like a value or an output");
  llvm::Expected<CalibrationData> data = CalibrationData::open(path, arrays);
  if (!data)
    return data.takeError();
  SideFacts facts;
  facts.name = llvm::sys::path::filename(path).str();
  return std::unique_ptr<RecordedSide>(
      new RecordedSide(std::move(facts), std::move(arrays), outputsThere, std::move(*data)));
}

llvm::Error RecordedSide::run(const DataBatch &batch, ValueFunction onValue,
                              ValueFunction onOutput) {
  llvm::Expected<DataBatch> recorded = data.next(batch.samples);
  if (!recorded)
    return recorded.takeError();
  // Where the model fixes how many samples a run takes, there may be more than are compared.
  if (recorded->samples < batch.samples)
    return llvm::createStringError(
        llvm::formatv("it has {0} samples where {1} are compared", recorded->samples, batch.samples)
            .str());
  for (auto [i, array] : llvm::enumerate(arrays)) {
    const HostTensor &tensor = recorded->inputs[i];
    const ValueFunction &see = i < outputs ? onOutput : onValue;
    if (llvm::Error error = see({array.name, array.type, tensor.shape, tensor.bytes}))
      return error;
  }
  return llvm::Error::success();
}
