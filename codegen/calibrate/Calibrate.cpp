// Model and data ==> thresholds.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/Calibrate.h"

#include "codegen/Run.h"
#include "codegen/calibrate/CalibrationData.h"
#include "codegen/calibrate/ChannelScaler.h"
#include "codegen/calibrate/ChooseMethods.h"
#include "codegen/calibrate/InputMeans.h"
#include "codegen/calibrate/QuantizationTrials.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/Schema.h"
#include "dialects/rt/Rt.h"
#include "passes/graph/Bodies.h"
#include "passes/precision/Policy.h"
#include "passes/precision/RecordedRanges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cameo;

CompileOptions cameo::calibrationOptions(CompileOptions options, StringRef targets,
                                         const CalibrationOptions &calibration) {
  options.pipeline.targets = targets.str();
  options.pipeline.countsMagnitudes = calibration.countsByKernels;
  options.pipeline.schedules.clear();
  options.pipeline.precision = {};
  options.pipeline.taps = "*";
  // One kernel per operator: each value is what its operator computes, and is read
  // where it is shown.
  options.pipeline.level = 0;
  options.pipeline.isCalibration = true;
  options.code.remarks = options.code.simChecks = options.code.simTrace = false;
  options.code.simChecksOnly = false;
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
  /// order, where kernels count. Values whose channels `scaler` has scaled have two: the second one is
  /// counted here.
  Collector(ArrayRef<TensorPort> allTaps, size_t values, const ChannelScaler *scaler,
            llvm::DefaultThreadPool &threads)
      : taps(allTaps.take_front(values)), isCounted(allTaps.size() > values), threads(threads),
        histograms(values), scaledHistograms(values), scaledBy(values), elements(values) {
    tallies.resize(threads.getMaxConcurrency());
    for (auto [i, tap] : llvm::enumerate(taps))
      if (tap.type == CAMEO_DTYPE_F32) {
        floats.push_back(i);
        scaledBy[i] = scaler ? scaler->of(tap.name) : nullptr;
      }
  }

  bool isWanted(unsigned tap, uint64_t bytes) {
    if (tap >= taps.size())
      return true;
    elements[tap] = bytes / sizeof(float);
    return taps[tap].type == CAMEO_DTYPE_F32 && (!isCounted || scaledBy[tap]);
  }

  llvm::Error look(const TappedValue &value) {
    if (value.tap >= taps.size())
      return take(floats[value.tap - taps.size()], value);
    ArrayRef<float> numbers(reinterpret_cast<const float *>(value.bytes.data()),
                            value.bytes.size() / sizeof(float));
    llvm::TimeRecord start = llvm::TimeRecord::getCurrentTime();
    if (!isCounted)
      countAll(numbers, histograms[value.tap]);
    if (const ChannelScaler::Scaled *scaled = scaledBy[value.tap]) {
      std::vector<float> multiplied = numbers.vec();
      scaled->multiply(multiplied, value.shape);
      countAll(multiplied, scaledHistograms[value.tap]);
    }
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
      threads.async([&all, &method, this, i = i] {
        finish(all[i], histograms[i], method);
        if (scaledBy[i])
          all[i].scaled = Thresholds::of(scaledHistograms[i], method.percent);
      });
    }
    threads.wait();
    std::vector<CalibratedValue> found;
    for (auto [value, histogram] : llvm::zip(all, histograms))
      if (histogram.count())
        found.push_back(std::move(value));
    llvm::sort(found, [](const auto &a, const auto &b) { return a.name < b.name; });
    return found;
  }

  /// The first taps with values that are not finite, and how many of how many they are; empty: there are none. One such
  /// number of an input is in all that follows.
  std::string notFinite() const {
    std::string text;
    unsigned found = 0;
    for (auto [tap, histogram] : llvm::zip(taps, histograms))
      if (uint64_t count = histogram.nonFiniteCount(); count && ++found <= kShown)
        text += (found == 1 ? "'" : ", '") + tap.name + "' in " + std::to_string(count) + " of " +
                std::to_string(count + histogram.count()) + " elements";
    if (found > kShown)
      text += " and " + std::to_string(found - kShown) + " more";
    return found ? "infinite or no number: " + text : text;
  }

  /// Whether a value has elements, none of which was finite.
  bool isNeverFinite(StringRef name) const {
    return llvm::any_of(llvm::zip(taps, histograms), [&](auto pair) {
      auto &[tap, histogram] = pair;
      return tap.name == name && !histogram.count() && histogram.nonFiniteCount();
    });
  }

  /// True of a value that has elements, all of which were 0.
  bool isAlwaysZero(StringRef name) const {
    return llvm::any_of(llvm::zip(taps, histograms), [&](auto pair) {
      auto &[tap, histogram] = pair;
      return tap.name == name && histogram.count() && !histogram.nonFiniteCount() &&
             histogram.least() == 0 && histogram.most() == 0;
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

  static constexpr unsigned kShown = 3;
  static constexpr size_t kMostAtOnce = Tally::kMostValues, kLeastPiece = 1 << 15;

  void countAll(ArrayRef<float> numbers, Histogram &histogram) {
    for (; !numbers.empty(); numbers = numbers.drop_front(std::min(numbers.size(), kMostAtOnce)))
      count(numbers.take_front(kMostAtOnce), histogram);
  }

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
  llvm::DefaultThreadPool &threads;
  std::vector<Tally> tallies;
  std::vector<Histogram> histograms, scaledHistograms;
  std::vector<const ChannelScaler::Scaled *> scaledBy; // null: its channels are not
  std::vector<uint64_t> elements;                      // of the last run
  llvm::TimeRecord spent;
};

} // namespace

static constexpr uint64_t kAllSamples = std::numeric_limits<uint64_t>::max();
/// Four methods, once without factors of channels, and once with corrected biases.
static constexpr uint64_t kMostTrials = 6;

/// Runs the model over the first `most` samples; `look` sees the taps that are wanted.
static llvm::Error collect(Runner &runner, CalibrationData &data, uint64_t most,
                           Runner::WantFunction isWanted, Runner::TapFunction look, StringRef what,
                           const CalibrationOptions &options) {
  data.rewind();
  for (uint64_t done = 0; done < most;) {
    llvm::Expected<DataBatch> batch = data.next(std::min(options.batch, most - done));
    if (!batch)
      return batch.takeError();
    if (batch->samples == 0)
      break;
    llvm::Expected<std::vector<HostTensor>> outputs =
        runner.runWatched(batch->inputs, isWanted, look);
    if (!outputs)
      return llvm::createStringError("calibration: " + llvm::toString(outputs.takeError()));
    done += batch->samples;
    if (options.onProgress)
      options.onProgress(what, done, std::min(most, data.samples()));
  }
  return llvm::Error::success();
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
  for (func::FuncOp function : modelFunctions(compiler.module()))
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
                              const ChannelScaler *scaler, std::vector<CalibratedValue> &values,
                              const CalibrationOptions &options) {
  constexpr uint64_t kSearchSamples = 2;
  data.rewind();
  llvm::Expected<DataBatch> samples = data.next(kSearchSamples);
  if (!samples)
    return samples.takeError();
  return chooseMethods(runner, *samples, names, scaler, values, [&](uint64_t done, uint64_t runs) {
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
  bool wantsScales =
      options.scalesChannels.value_or(!cache->choice || !cache->choice->triedScales());
  if ((options.correctsBiases.value_or(false) && !cache->inputs) ||
      (wantsScales && !cache->channels))
    return std::nullopt;
  return std::move(*cache);
}

namespace {
/// Runs over the data, each for what the ones before it have shown.
class Calibration {
public:
  Calibration(Compiler &compiler, CalibrationData &data, const CalibrationOptions &options)
      : compiler(compiler), data(data), options(options),
        threads(llvm::hardware_concurrency(options.threads)) {}

  /// Calibrates the model, which is at stage normalized; `source` is what the cache says it was made of.
  FailureOr<CalibrationCache> run(CalibrationSource source);

private:
  llvm::Error scaleChannels();
  llvm::Error findThresholds();
  llvm::Error recordInputs(uint64_t samples);
  llvm::Error choose();
  void dropScales();

  Compiler &compiler;
  CalibrationData &data;
  const CalibrationOptions &options;
  llvm::DefaultThreadPool threads;
  OwningOpRef<ModuleOp> normalized;
  llvm::StringSet<> operands; // of products
  TappedModel model;
  std::optional<ChannelScaler> scaler;
  CalibrationCache result;
};
} // namespace

/// The first samples show how channels differ.
llvm::Error Calibration::scaleChannels() {
  Step step(options, "channels");
  scaler.emplace(*normalized, model.taps());
  auto isWanted = [&](unsigned tap, uint64_t) { return scaler->isSource(tap); };
  auto look = [&](const TappedValue &value) {
    scaler->add(value);
    return llvm::Error::success();
  };
  if (llvm::Error error = collect(*model.runner, data, ChannelScaler::kSamples, isWanted, look,
                                  "looking at channels", options))
    return error;
  scaler->choose(threads);
  result.channels = scaler->exponents();
  return llvm::Error::success();
}

llvm::Error Calibration::findThresholds() {
  const ChannelScaler *scaled = scaler ? &*scaler : nullptr;
  Collector collector(model.runner->taps(), model.values, scaled, threads);
  {
    Step step(options, "calibrate");
    auto isWanted = [&](unsigned tap, uint64_t bytes) { return collector.isWanted(tap, bytes); };
    auto look = [&](const TappedValue &value) { return collector.look(value); };
    if (llvm::Error error =
            collect(*model.runner, data, kAllSamples, isWanted, look, "calibrating", options))
      return error;
  }
  if (options.onStep)
    options.onStep("histograms", collector.time());
  if (std::string text = collector.notFinite(); !text.empty())
    compiler.warn("calibration: " + text);
  for (const TensorPort &input : model.runner->inputs()) {
    if (collector.isNeverFinite(input.name))
      return llvm::createStringError("calibration: no sample has a finite number for input '" +
                                     input.name + "'");
    if (collector.isAlwaysZero(input.name))
      compiler.warn("calibration: input '" + input.name + "' is 0 in all samples");
  }
  {
    Step step(options, "thresholds");
    result.values = collector.values(result.method);
  }
  if (result.method.kind != CalibrationMethod::Best)
    return llvm::Error::success();
  Step step(options, "methods");
  return chooseBest(*model.runner, data, operands, scaled, result.values, options);
}

/// The inputs of products, whose thresholds are known by then.
llvm::Error Calibration::recordInputs(uint64_t samples) {
  Step step(options, "inputs");
  InputMeans means(*normalized, model.taps(), result.values);
  auto look = [&](const TappedValue &value) {
    const ChannelScaler::Scaled *scaled =
        scaler && value.type == CAMEO_DTYPE_F32 ? scaler->of(value.name) : nullptr;
    if (!scaled) {
      means.add(value);
      return llvm::Error::success();
    }
    ArrayRef<float> numbers(reinterpret_cast<const float *>(value.bytes.data()),
                            value.bytes.size() / sizeof(float));
    std::vector<float> multiplied = numbers.vec();
    scaled->multiply(multiplied, value.shape);
    TappedValue quantized = value;
    quantized.bytes = {reinterpret_cast<const char *>(multiplied.data()), value.bytes.size()};
    means.add(quantized);
    return llvm::Error::success();
  };
  auto isWanted = [&](unsigned tap, uint64_t) { return tap < model.values; };
  if (llvm::Error error = collect(*model.runner, data, samples, isWanted, look,
                                  "recording what products read", options))
    return error;
  result.inputs = means.means();
  for (ProductInput &input : *result.inputs)
    if (const ChannelScaler::Scaled *scaled = scaler ? scaler->of(input.value) : nullptr) {
      int64_t channels = int64_t(scaled->exponents.size());
      for (std::vector<float> *numbers : {&input.means, &input.shifts})
        ChannelScaler::Scaled{/*axis=*/0, scaled->exponents}.multiply(
            *numbers, {channels, int64_t(numbers->size()) / channels}, /*isInverse=*/true);
    }
  return llvm::Error::success();
}

/// Tries what no option names, one thing after another, and keeps what is clearly better.
llvm::Error Calibration::choose() {
  Step step(options, "trials");
  llvm::Expected<std::string> targets = options.device.targets();
  if (!targets)
    return targets.takeError();
  QuantizationTrials trials(options.model, options.compile, *targets,
                            {options.device, options.threads}, data);
  QuantizationChoice choice;
  auto attempt = [&](QuantizationChoice::Trial trial) -> llvm::Error {
    CalibrationCache tried = result;
    if (tried.method.kind != trial.method)
      tried.chooseForAll(trial.method);
    llvm::Expected<RecordedRanges> ranges = RecordedRanges::parse(tried.text(), options.data);
    if (!ranges)
      return ranges.takeError();
    llvm::Expected<std::optional<QuantizationTrials::Sqnr>> sqnr =
        trials.sqnr(std::make_shared<const RecordedRanges>(std::move(*ranges)),
                    trial.scalesChannels, trial.correctsBiases);
    if (!sqnr)
      return sqnr.takeError();
    if (!*sqnr)
      return llvm::Error::success();
    trial.sqnr = (*sqnr)->median;
    trial.sqnrOfAll = (*sqnr)->all;
    // Less may be due to the samples. Clipping is good for most samples and bad for the largest.
    constexpr double kGain = 1; // dB
    if (choice.trials.empty() ||
        (trial.sqnr >= choice.chosen.sqnr + kGain && trial.sqnrOfAll >= choice.chosen.sqnrOfAll))
      choice.chosen = trial;
    choice.trials.push_back(trial);
    choice.samples = trials.samples();
    if (options.onProgress)
      options.onProgress("trying INT8", choice.trials.size(), kMostTrials);
    return llvm::Error::success();
  };

  bool isScaled = result.channels && !result.channels->empty();
  if (llvm::Error error = attempt({result.method.kind, isScaled, /*correctsBiases=*/false}))
    return error;
  if (choice.trials.empty()) // no product is quantised
    return llvm::Error::success();
  if (!options.method) {
    for (CalibrationMethod::Kind kind : CalibrationMethod::kSingle)
      if (kind != result.method.kind)
        if (llvm::Error error = attempt({kind, isScaled, /*correctsBiases=*/false}))
          return error;
    result.method.kind = choice.chosen.method;
    result.chooseForAll(choice.chosen.method);
  }
  if (isScaled && !options.scalesChannels) {
    if (llvm::Error error = attempt({choice.chosen.method, false, /*correctsBiases=*/false}))
      return error;
    if (!choice.chosen.scalesChannels)
      dropScales();
  }
  if (!options.correctsBiases) {
    if (llvm::Error error = recordInputs(ChannelScaler::kSamples))
      return error;
    if (!result.inputs->empty())
      if (llvm::Error error = attempt({choice.chosen.method, choice.chosen.scalesChannels, true}))
        return error;
    if (!choice.chosen.correctsBiases)
      result.inputs.reset();
  }
  // Such results are seldom of use, and data in other units than the model's are a common reason.
  constexpr double kUsefulSqnr = 10; // dB
  double sqnr = choice.chosen.sqnrOfAll;
  if (sqnr < kUsefulSqnr && sqnr > -QuantizationChoice::kMostSqnr)
    compiler.warn(
        llvm::formatv(
            "calibration: INT8 leaves outputs {0:f1} dB of signal over noise; --accuracy=20dB "
            "keeps what needs more bits",
            sqnr)
            .str());
  result.choice = std::move(choice);
  return llvm::Error::success();
}

void Calibration::dropScales() {
  scaler.reset();
  result.channels.reset();
  for (CalibratedValue &value : result.values)
    value.scaled.reset();
}

FailureOr<CalibrationCache> Calibration::run(CalibrationSource source) {
  auto end = llvm::make_scope_exit([&] { compiler.keepConstantsOf({}); });
  result.source = std::move(source);
  result.method = options.method.value_or(CalibrationMethod());
  operands = readByProducts(compiler.module());
  bool scalesChannels = options.scalesChannels.value_or(true);
  bool mayChoose = !options.model.empty() &&
                   (!options.method || !options.scalesChannels || !options.correctsBiases);
  if (scalesChannels || options.correctsBiases.value_or(mayChoose)) {
    normalized = compiler.module().clone();
    compiler.keepConstantsOf(*normalized);
  }
  FailureOr<TappedModel> compiled = compileToRun(compiler, {options.device, options.threads});
  if (failed(compiled))
    return failure();
  model = std::move(*compiled);
  if (scalesChannels)
    if (llvm::Error error = scaleChannels())
      return compiler.fail(std::move(error));
  if (llvm::Error error = findThresholds())
    return compiler.fail(std::move(error));
  if (mayChoose)
    if (llvm::Error error = choose())
      compiler.warn("calibration: nothing was chosen by the model's outputs: " +
                    llvm::toString(std::move(error)));
  if (options.correctsBiases.value_or(false))
    if (llvm::Error error = recordInputs(kAllSamples))
      return compiler.fail(std::move(error));
  return std::move(result);
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
  llvm::Expected<std::optional<CalibrationCache>> cache = fittingCache(options, *source);
  if (!cache)
    return compiler.fail(cache.takeError());
  if (*cache)
    return std::move(**cache);
  return Calibration(compiler, *data, options).run(std::move(*source));
}
