// Model and data ==> thresholds.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/Calibrate.h"

#include "codegen/Run.h"
#include "codegen/calibrate/CalibrationData.h"
#include "codegen/calibrate/ChooseMethods.h"
#include "codegen/calibrate/InputMeans.h"
#include "codegen/calibrate/LearnRounding.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/Schema.h"
#include "dialects/rt/Rt.h"
#include "passes/precision/Policy.h"
#include "passes/precision/RecordedRanges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cameo;

CompileOptions cameo::calibrationOptions(CompileOptions options, StringRef targets,
                                         const CalibrationOptions &calibration) {
  options.pipeline.targets = targets.str();
  options.pipeline.countsMagnitudes = calibration.countsByKernels;
  options.pipeline.schedules.clear();
  bool equalizesRanges = options.pipeline.precision.equalizesRanges;
  options.pipeline.precision = {};
  options.pipeline.precision.equalizesRanges = equalizesRanges;
  options.pipeline.taps = "*";
  // One kernel per operator: each value is what its operator computes, and is read
  // where it is shown.
  options.pipeline.level = 0;
  options.pipeline.isCalibration = true;
  options.code.remarks = options.code.simChecks = options.code.simTrace = false;
  options.code.simForms = SimForms::Warp;
  options.dropAbsentTargets = options.keepGraphs = false;
  return options;
}

//===-- Inputs --------------------------------------------------------------------------------===//

FailureOr<std::vector<TensorPort>> cameo::calibrationInputs(Compiler &compiler) {
  auto function = *compiler.module().getOps<func::FuncOp>().begin();
  std::vector<TensorPort> inputs;
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), onnx::kNameAttr);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    std::optional<onnx::ElementKind> kind =
        type ? onnx::elementKind(type.getElementType()) : std::nullopt;
    if (!name || !kind)
      return compiler.fail("calibration: input " + Twine(argument.getArgNumber()) +
                           " has no name, no type of elements or no number of "
                           "dimensions; --shapes "
                           "gives it sizes");
    TensorPort &input = inputs.emplace_back();
    input.name = name.str();
    input.type = cameo_dtype(onnx::elementNumber(*kind));
    for (int64_t size : type.getShape())
      input.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  }
  return inputs;
}

static llvm::Expected<CalibrationSource> sourceOf(Compiler &compiler, const CalibrationData &data,
                                                  StringRef path) {
  llvm::Expected<uint64_t> hash = data.hash();
  if (!hash)
    return hash.takeError();
  CalibrationSource source;
  source.model = compiler.hash();
  source.dataName = llvm::sys::path::filename(path.rtrim('/')).str();
  source.dataHash = *hash;
  source.files = data.files();
  source.samples = data.samples();
  source.passes = insertedUpTo(Stage::Normalized, compiler.pipeline());
  if (compiler.filesRead().empty())
    return source;
  llvm::Expected<uint64_t> weights = hashFiles(compiler.filesRead());
  if (!weights)
    return weights.takeError();
  source.weights = *weights;
  return source;
}

//===-- Collecting ----------------------------------------------------------------------------===//

namespace {

/// A histogram for each tap of FP32: of its elements, or what kernels have counted of them.
class Collector {
public:
  /// The first `values` of the taps are values; behind them those of FP32 have histograms, in their
  /// order, where kernels count.
  Collector(ArrayRef<TensorPort> allTaps, size_t values, unsigned threads)
      : taps(allTaps.take_front(values)), isCounted(allTaps.size() > values),
        threads(llvm::hardware_concurrency(threads)), histograms(values), elements(values) {
    tallies.resize(this->threads.getMaxConcurrency());
    for (auto [i, tap] : llvm::enumerate(taps))
      if (tap.type == CAMEO_DTYPE_F32)
        floats.push_back(i);
  }

  bool isWanted(unsigned tap, uint64_t bytes) {
    if (tap >= taps.size())
      return true;
    elements[tap] = bytes / sizeof(float);
    return !isCounted && taps[tap].type == CAMEO_DTYPE_F32;
  }

  llvm::Error look(const TappedValue &value) {
    if (value.tap >= taps.size())
      return take(floats[value.tap - taps.size()], value);
    ArrayRef<float> rest(reinterpret_cast<const float *>(value.bytes.data()),
                         value.bytes.size() / sizeof(float));
    Histogram &histogram = histograms[value.tap];
    llvm::TimeRecord start = llvm::TimeRecord::getCurrentTime();
    for (; !rest.empty(); rest = rest.drop_front(std::min(rest.size(), kMostAtOnce)))
      count(rest.take_front(kMostAtOnce), histogram);
    spent += llvm::TimeRecord::getCurrentTime(false);
    spent -= start;
    return llvm::Error::success();
  }
  const llvm::TimeRecord &time() const { return spent; }

  /// Of values that have any finite number, in the order of their names.
  std::vector<CalibratedValue> values(const CalibrationMethod &method) {
    std::vector<CalibratedValue> all(taps.size());
    for (auto [i, tap] : llvm::enumerate(taps)) {
      all[i].name = tap.name;
      threads.async([&all, &method, this, i = i] { finish(all[i], histograms[i], method); });
    }
    threads.wait();
    std::vector<CalibratedValue> found;
    for (auto [value, histogram] : llvm::zip(all, histograms))
      if (histogram.count())
        found.push_back(std::move(value));
    llvm::sort(found, [](const auto &a, const auto &b) { return a.name < b.name; });
    return found;
  }

  /// Taps with values that are not finite, and how many of how many they are.
  std::vector<std::string> notFinite() const {
    std::vector<std::string> texts;
    for (auto [tap, histogram] : llvm::zip(taps, histograms))
      if (uint64_t count = histogram.nonFiniteCount())
        texts.push_back("'" + tap.name + "' was infinite or no number in " + std::to_string(count) +
                        " of " + std::to_string(count + histogram.count()) + " elements");
    return texts;
  }

  /// Whether a value has elements, none of which was finite.
  bool isNeverFinite(StringRef name) const {
    return llvm::any_of(llvm::zip(taps, histograms), [&](auto pair) {
      auto &[tap, histogram] = pair;
      return tap.name == name && !histogram.count() && histogram.nonFiniteCount();
    });
  }

private:
  /// Whether all elements were counted says whether kernels have run, and no count has overflowed.
  llvm::Error take(unsigned tap, const TappedValue &value) {
    ArrayRef<uint32_t> words(reinterpret_cast<const uint32_t *>(value.bytes.data()),
                             value.bytes.size() / sizeof(uint32_t));
    Histogram &histogram = histograms[tap];
    auto all = [&] { return histogram.count() + histogram.nonFiniteCount(); };
    uint64_t before = all();
    histogram.take(words);
    if (all() - before == elements[tap])
      return llvm::Error::success();
    return llvm::createStringError("kernels have counted %llu of the %llu elements of '%s'",
                                   (unsigned long long)(all() - before),
                                   (unsigned long long)elements[tap], taps[tap].name.c_str());
  }

  static constexpr size_t kMostAtOnce = Tally::kMostValues, kLeastPiece = 1 << 15;

  /// Counts are integers: neither the pieces nor the order in which they are
  /// added matter.
  void count(ArrayRef<float> values, Histogram &histogram) {
    size_t pieces = std::clamp<size_t>(values.size() / kLeastPiece, 1, tallies.size());
    size_t piece = (values.size() + pieces - 1) / pieces;
    auto part = [&](size_t i) { return values.drop_front(i * piece).take_front(piece); };
    for (size_t i = 1; i < pieces; ++i)
      threads.async([this, part, i] { tallies[i].add(part(i)); });
    tallies[0].add(part(0));
    threads.wait();
    for (size_t i = 0; i < pieces; ++i)
      histogram.take(tallies[i]);
  }

  static void finish(CalibratedValue &value, const Histogram &histogram,
                     const CalibrationMethod &method) {
    value.least = histogram.least();
    value.most = histogram.most();
    value.nonFinite = histogram.nonFiniteCount();
    value.thresholds = Thresholds::of(histogram, method.percent);
    value.chosen = method.kind;
    value.histogram = histogram.coarse();
  }

  ArrayRef<TensorPort> taps;
  std::vector<unsigned> floats; // taps of FP32
  bool isCounted;
  llvm::DefaultThreadPool threads;
  std::vector<Tally> tallies;
  std::vector<Histogram> histograms;
  std::vector<uint64_t> elements; // of the last run
  llvm::TimeRecord spent;
};

} // namespace

/// Runs the model over all samples; `look` sees the taps that are wanted.
static llvm::Error collect(Runner &runner, CalibrationData &data, Runner::WantFunction isWanted,
                           Runner::TapFunction look, StringRef what,
                           const CalibrationOptions &options) {
  for (uint64_t done = 0;;) {
    llvm::Expected<DataBatch> batch = data.next(options.batch);
    if (!batch)
      return batch.takeError();
    if (batch->samples == 0)
      return llvm::Error::success();
    llvm::Expected<std::vector<HostTensor>> outputs =
        runner.runWatched(batch->inputs, isWanted, look);
    if (!outputs)
      return llvm::createStringError("calibration: " + llvm::toString(outputs.takeError()));
    done += batch->samples;
    if (options.onProgress)
      options.onProgress(what, done, data.samples());
  }
}

namespace {
/// The model as it is calibrated.
struct TappedModel {
  std::unique_ptr<Runner> runner;
  size_t values = 0; // how many of its taps are values: those behind are histograms

  ArrayRef<TensorPort> taps() const { return runner->taps().take_front(values); }
};
} // namespace

static FailureOr<TappedModel> compileToRun(Compiler &compiler, const RunOptions &options) {
  if (failed(compiler.runTo(Stage::Precision)))
    return failure();
  TappedModel model;
  auto function = *compiler.module().getOps<func::FuncOp>().begin();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    model.values += bool(function.getResultAttr(i, rt::kTapAttr));
  if (failed(compiler.runTo(Stage::Host)) || failed(compiler.emit()))
    return failure();
  llvm::Expected<std::unique_ptr<Runner>> runner = Runner::create(compiler.artefact(), options);
  if (!runner)
    return compiler.fail("calibration: " + llvm::toString(runner.takeError()));
  model.runner = std::move(*runner);
  return std::move(model);
}

/// What products read: the values for whose thresholds `best` looks at outputs.
static llvm::StringSet<> readByProducts(ModuleOp module) {
  llvm::StringSet<> names;
  module.walk([&](Operation *op) {
    if (op->getDialect() && policyOf(op).role == Role::Product)
      for (Value operand : op->getOperands())
        if (isFP32(operand) && !operand.getDefiningOp<onnx::ConstantOp>())
          names.insert(valueName(operand));
  });
  return names;
}

/// By the first samples, whose number is that of one run where the model fixes
/// it.
static llvm::Error chooseBest(Runner &runner, CalibrationData &data, const llvm::StringSet<> &names,
                              std::vector<CalibratedValue> &values,
                              const CalibrationOptions &options) {
  constexpr uint64_t kSearchSamples = 2;
  data.rewind();
  llvm::Expected<DataBatch> samples = data.next(kSearchSamples);
  if (!samples)
    return samples.takeError();
  return chooseMethods(runner, *samples, names, values, [&](uint64_t done, uint64_t runs) {
    if (options.onProgress)
      options.onProgress("choosing methods", done, runs);
  });
}

namespace {
/// Says of a step how long it has lived.
class Step {
public:
  Step(const CalibrationOptions &options, StringRef name)
      : options(options), name(name), start(llvm::TimeRecord::getCurrentTime()) {}
  ~Step() {
    llvm::TimeRecord time = llvm::TimeRecord::getCurrentTime(false);
    time -= start;
    if (options.onStep)
      options.onStep(name, time);
  }

private:
  const CalibrationOptions &options;
  StringRef name;
  llvm::TimeRecord start;
};
} // namespace

/// The cache, if it is there and answers what is asked; an error if it is of something else.
static llvm::Expected<std::optional<CalibrationCache>>
fittingCache(const CalibrationOptions &options, const CalibrationSource &source) {
  if (options.cache.empty() || !llvm::sys::fs::exists(options.cache))
    return std::nullopt;
  llvm::Expected<CalibrationCache> cache = CalibrationCache::read(options.cache);
  if (!cache)
    return cache.takeError();
  if (llvm::Error error = cache->checkSource(source, options.cache))
    return error;
  if (options.method && !cache->adopt(*options.method))
    return std::nullopt;
  if ((options.correctsBiases && !cache->inputs) || (options.learnsRounding && !cache->roundings))
    return std::nullopt;
  return std::move(*cache);
}

/// What runs over the data show, and what follows.
static llvm::Expected<std::vector<CalibratedValue>>
calibrateBy(TappedModel &model, CalibrationData &data, const llvm::StringSet<> &operands,
            const CalibrationMethod &method, Compiler &compiler,
            const CalibrationOptions &options) {
  Collector collector(model.runner->taps(), model.values, options.threads);
  {
    Step step(options, "calibrate");
    auto isWanted = [&](unsigned tap, uint64_t bytes) { return collector.isWanted(tap, bytes); };
    auto look = [&](const TappedValue &value) { return collector.look(value); };
    if (llvm::Error error = collect(*model.runner, data, isWanted, look, "calibrating", options))
      return error;
  }
  if (options.onStep)
    options.onStep("histograms", collector.time());
  for (const std::string &text : collector.notFinite())
    compiler.warn("calibration: " + text);
  for (const TensorPort &input : model.runner->inputs())
    if (collector.isNeverFinite(input.name))
      return llvm::createStringError("calibration: no sample has a finite number for input '" +
                                     input.name + "'");
  std::vector<CalibratedValue> values;
  {
    Step step(options, "thresholds");
    values = collector.values(method);
  }
  if (method.kind != CalibrationMethod::Best)
    return values;
  Step step(options, "methods");
  if (llvm::Error error = chooseBest(*model.runner, data, operands, values, options))
    return error;
  return values;
}

/// What a second run shows of the inputs of products, whose thresholds are known by then.
static llvm::Error recordInputs(TappedModel &model, CalibrationData &data, ModuleOp normalized,
                                std::optional<RoundingLearner> &learner, CalibrationCache &result,
                                const CalibrationOptions &options) {
  std::optional<InputMeans> means;
  if (options.correctsBiases)
    means.emplace(normalized, model.taps(), result.values);
  if (learner)
    learner->expect(model.taps(), result.values);
  {
    Step step(options, "inputs");
    data.rewind();
    auto look = [&](const TappedValue &value) {
      if (means)
        means->add(value);
      if (learner)
        learner->add(value);
      return llvm::Error::success();
    };
    auto isWanted = [&](unsigned tap, uint64_t) { return tap < model.values; };
    if (llvm::Error error =
            collect(*model.runner, data, isWanted, look, "recording what products read", options))
      return error;
  }
  if (means)
    result.inputs = means->means();
  if (learner) {
    Step step(options, "rounding");
    result.roundings = learner->learn();
  }
  return llvm::Error::success();
}

FailureOr<CalibrationCache> cameo::calibrate(Compiler &compiler,
                                             const CalibrationOptions &options) {
  FailureOr<std::vector<TensorPort>> inputs = calibrationInputs(compiler);
  if (failed(inputs))
    return failure();
  llvm::Expected<CalibrationData> data = CalibrationData::open(options.data, *inputs);
  if (!data)
    return compiler.fail(data.takeError());
  llvm::Expected<CalibrationSource> source = sourceOf(compiler, *data, options.data);
  if (!source)
    return compiler.fail(source.takeError());
  if (failed(compiler.runTo(Stage::Normalized)))
    return failure();
  auto function = *compiler.module().getOps<func::FuncOp>().begin();
  if (auto equalized = function->getAttrOfType<StringAttr>(kEqualizedAttr))
    source->equalized = equalized.str();
  llvm::Expected<std::optional<CalibrationCache>> cache = fittingCache(options, *source);
  if (!cache)
    return compiler.fail(cache.takeError());
  if (*cache)
    return std::move(**cache);
  llvm::StringSet<> operands = readByProducts(compiler.module());
  OwningOpRef<ModuleOp> normalized;
  bool recordsInputs = options.correctsBiases || options.learnsRounding;
  std::optional<RoundingLearner> learner;
  if (recordsInputs)
    normalized = compiler.module().clone();
  if (options.learnsRounding)
    learner.emplace(*normalized, options.threads);
  FailureOr<TappedModel> model = compileToRun(compiler, {options.device, options.threads});
  if (failed(model))
    return failure();
  CalibrationMethod method = options.method.value_or(CalibrationMethod());
  llvm::Expected<std::vector<CalibratedValue>> values =
      calibrateBy(*model, *data, operands, method, compiler, options);
  if (!values)
    return compiler.fail(values.takeError());
  CalibrationCache result{std::move(*source), method, std::move(*values), std::nullopt,
                          std::nullopt};
  if (recordsInputs)
    if (llvm::Error error = recordInputs(*model, *data, *normalized, learner, result, options))
      return compiler.fail(std::move(error));
  return result;
}
