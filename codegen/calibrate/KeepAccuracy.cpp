// Model, samples and contract ==> layers to keep.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/KeepAccuracy.h"

#include "codegen/calibrate/Calibrate.h"
#include "codegen/calibrate/LayerSearch.h"
#include "codegen/calibrate/NoiseSamples.h"
#include "codegen/calibrate/SwitchedModel.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cmath>

using namespace mlir;
using namespace cameo;
using llvm::BitVector;
using llvm::Error;
using llvm::Expected;

static Error problem(const llvm::Twine &what) {
  return llvm::createStringError("accuracy: " + what);
}

namespace {

using RunFunction = llvm::function_ref<Expected<std::vector<HostTensor>>(DataBatch &)>;

class ModelOracle : public LayerOracle {
public:
  /// `targets` are those of accuracy.device.
  ModelOracle(StringRef path, const CompileOptions &given, StringRef targets,
              const AccuracyOptions &accuracy, AccuracyMetric metric)
      : path(path), options(SwitchedModel::optionsFor(given, targets)), accuracy(accuracy),
        metric(std::move(metric)) {}

  /// Plans, compiles the model with switches, and runs it in FP32.
  Error start();
  Expected<std::optional<double>> noiseOf(unsigned layer) override;
  Expected<std::optional<bool>> seemsGood(const BitVector &kept) override;
  Expected<std::optional<bool>> isGood(const BitVector &kept) override;

  AccuracyResult result(const LayerChoice &choice) const;
  Error explain(const LayerChoice &choice) const;
  size_t layers() const { return plans->layers().size(); }

private:
  using Clock = std::chrono::steady_clock;
  bool isOver() const {
    return std::chrono::duration<double>(Clock::now() - began).count() > accuracy.budget;
  }
  void tell(const llvm::Twine &what, uint64_t done, uint64_t all) const {
    if (accuracy.onProgress)
      accuracy.onProgress(what.str(), done, all);
  }
  static Error notCompiled() { return problem("the model was not compiled"); }
  Error compileSwitches();
  Expected<bool> runReference();
  Expected<std::optional<AccuracyScore>> score(RunFunction run, const llvm::Twine &what,
                                               bool isFull);
  std::string keptText(const BitVector &kept) const {
    return llvm::formatv("{0} of {1} layers kept", kept.count(), kept.size());
  }

  StringRef path;
  CompileOptions options;
  const AccuracyOptions &accuracy;
  AccuracyMetric metric;
  Clock::time_point began = Clock::now();

  std::unique_ptr<LayerPlans> plans;
  std::vector<QuantizedOperands> alone; // by layer
  SwitchPlaces places;
  std::unique_ptr<SwitchedModel> switches;
  std::optional<CalibrationData> data;

  std::optional<NoiseSamples> noise; // by which layers are put in order
  unsigned compilations = 0, trials = 0;
  std::optional<double> unkept; // INT8's value with no layer kept
  double reached = 0;           // the best of INT8 models that were compiled
  BitVector best;
  std::map<std::string, double> values; // of overrides that were tried
};

//===-- Before the search ---------------------------------------------------------------------===//

Error ModelOracle::start() {
  FailureOr<std::unique_ptr<LayerPlans>> made = LayerPlans::create(path, options);
  if (failed(made))
    return notCompiled();
  plans = std::move(*made);
  FailureOr<std::vector<TensorPort>> inputs = calibrationInputs(plans->compiler());
  if (failed(inputs))
    return notCompiled();
  Expected<CalibrationData> opened = CalibrationData::open(accuracy.data, *inputs);
  if (!opened)
    return opened.takeError();
  data.emplace(std::move(*opened));
  FailureOr<QuantizedOperands> all = plans->withKept(BitVector(layers()));
  if (failed(all))
    return notCompiled();
  places.add(*all);
  for (unsigned layer = 0; layer < layers(); ++layer) {
    FailureOr<QuantizedOperands> one = plans->alone(layer);
    if (failed(one))
      return notCompiled();
    places.add(*one);
    alone.push_back(std::move(*one));
  }
  if (Error error = compileSwitches())
    return error;
  Expected<bool> hasTime = runReference();
  if (!hasTime)
    return hasTime.takeError();
  if (!*hasTime)
    return problem(llvm::formatv("the budget of {0} s ended before FP32 had run over all {1} "
                                 "samples; a larger --budget or fewer samples may do",
                                 shortText(accuracy.budget), data->samples()));
  Expected<NoiseSamples> taken = NoiseSamples::take(*switches, *data, accuracy.batch);
  if (!taken)
    return problem(llvm::toString(taken.takeError()));
  noise.emplace(std::move(*taken));
  return Error::success();
}

Error ModelOracle::compileSwitches() {
  FailureOr<std::unique_ptr<SwitchedModel>> model =
      SwitchedModel::create(path, options, places, {accuracy.device, accuracy.threads});
  ++compilations;
  if (failed(model))
    return notCompiled();
  switches = std::move(*model);
  return Error::success();
}

/// What FP32 says of all samples. False: there was no time.
Expected<bool> ModelOracle::runReference() {
  switches->set({});
  data->rewind();
  for (uint64_t done = 0;;) {
    Expected<DataBatch> batch = data->next(accuracy.batch);
    if (!batch)
      return batch.takeError();
    if (batch->samples == 0)
      break;
    Expected<std::vector<HostTensor>> outputs = switches->run(*batch);
    if (!outputs)
      return problem(llvm::toString(outputs.takeError()));
    dropRepeated(*batch, *outputs);
    if (Error error = metric.addReference(switches->outputs(), *outputs))
      return problem(llvm::toString(std::move(error)));
    done += batch->samples;
    tell("FP32", done, data->samples());
    if (isOver())
      return false;
  }
  if (Error error = metric.finishReference())
    return problem(llvm::toString(std::move(error)));
  return true;
}

//===-- Answers -------------------------------------------------------------------------------===//

Expected<std::optional<double>> ModelOracle::noiseOf(unsigned layer) {
  Expected<std::optional<NoiseSamples::Noise>> found =
      noise->noiseOf(*switches, alone[layer], [&] { return isOver(); });
  if (!found)
    return problem(llvm::toString(found.takeError()));
  if (!*found)
    return std::nullopt;
  tell("noise of layers", layer + 1, layers());
  return (*found)->all;
}

/// Over all samples, or until it is certain what comes of them; nothing where there is no time.
Expected<std::optional<AccuracyScore>> ModelOracle::score(RunFunction run, const llvm::Twine &what,
                                                          bool isFull) {
  AccuracyScore score;
  data->rewind();
  for (uint64_t done = 0;;) {
    if (isOver())
      return std::nullopt;
    Expected<DataBatch> batch = data->next(accuracy.batch);
    if (!batch)
      return batch.takeError();
    if (batch->samples == 0 || (!isFull && metric.verdict(score, /*isAll=*/false)))
      return score;
    Expected<std::vector<HostTensor>> outputs = run(*batch);
    if (!outputs)
      return problem(llvm::toString(outputs.takeError()));
    dropRepeated(*batch, *outputs);
    metric.add(score, *outputs);
    done += batch->samples;
    tell(what, done, data->samples());
  }
}

Expected<std::optional<bool>> ModelOracle::seemsGood(const BitVector &kept) {
  FailureOr<QuantizedOperands> operands = plans->withKept(kept);
  if (failed(operands))
    return notCompiled();
  if (!places.cover(*operands)) { // the plan quantises elsewhere without these layers
    places.add(*operands);
    if (Error error = compileSwitches())
      return std::move(error);
  }
  switches->set(*operands);
  ++trials;
  Expected<std::optional<AccuracyScore>> found =
      score([&](DataBatch &batch) { return switches->run(batch); }, "trial with " + keptText(kept),
            /*isFull=*/false);
  if (!found)
    return found.takeError();
  if (!*found)
    return std::nullopt;
  return metric.verdict(**found, /*isAll=*/true);
}

Expected<std::optional<bool>> ModelOracle::isGood(const BitVector &kept) {
  if (isOver())
    return std::nullopt;
  CompileOptions these = options;
  std::string &nodes = these.pipeline.precision.nodes;
  std::string overrides = plans->overridesOf(kept);
  nodes += (nodes.empty() || overrides.empty() ? "" : ";") + overrides;
  Compiler compiler(std::move(these));
  ++compilations;
  if (failed(compiler.read(path)) || failed(compiler.runTo(Stage::Host)) || failed(compiler.emit()))
    return notCompiled();
  Expected<std::unique_ptr<Runner>> runner =
      Runner::create(compiler.artefact(), {accuracy.device, accuracy.threads});
  if (!runner)
    return problem(llvm::toString(runner.takeError()));
  Expected<std::optional<AccuracyScore>> found =
      score([&](DataBatch &batch) { return (*runner)->run(batch.inputs); },
            "INT8 with " + keptText(kept), /*isFull=*/true);
  if (!found)
    return found.takeError();
  if (!*found)
    return std::nullopt;
  double value = metric.valueOf(**found);
  values[overrides] = value;
  if (kept.none())
    unkept = value;
  if (values.size() == 1 || value > reached) {
    reached = value;
    best = kept;
  }
  return metric.verdict(**found, /*isAll=*/true);
}

//===-- Results -------------------------------------------------------------------------------===//

AccuracyResult ModelOracle::result(const LayerChoice &choice) const {
  AccuracyResult result;
  result.contract = metric.asked().text();
  result.measure = metric.asked().kind == AccuracyContract::Noise ? "sqnr"
                   : metric.hasLabels()                           ? "right"
                                                                  : "agreement";
  result.samples = data->samples();
  result.rows = metric.rows();
  result.reference = metric.referenceValue();
  result.needed = metric.needed();
  result.overrides = plans->overridesOf(choice.kept);
  result.unkept = unkept.value_or(0);
  result.reached = values.at(result.overrides);
  result.isEarly = choice.end == LayerChoice::Early;
  result.compilations = compilations;
  result.trials = trials;
  for (auto [i, layer] : llvm::enumerate(plans->layers())) {
    AccuracyResult::Layer &entry = result.layers.emplace_back();
    entry.name = layer.name;
    entry.op = layer.op;
    entry.around = layer.around;
    if (i < choice.noise.size())
      entry.sqnr = -10 * std::log10(choice.noise[i]);
    if (choice.kept.test(i))
      entry.kept = layer.otherwise;
  }
  return result;
}

/// Why there is no result.
Error ModelOracle::explain(const LayerChoice &choice) const {
  std::string asked = metric.asked().text() + " asks for " + metric.text(metric.needed()) + " " +
                      metric.what().str();
  if (metric.hasLabels())
    asked += "; FP32 has " + metric.text(metric.referenceValue());
  std::string tried;
  if (unkept)
    tried = "; INT8 with no layer kept has " + metric.text(*unkept);
  if (unkept && best.any())
    tried += ", with " + keptText(best) + " " + metric.text(reached);
  if (choice.end == LayerChoice::Hopeless)
    return problem("not reached with all " + llvm::Twine(layers()) +
                   " layers kept in 16 or 32 bits: " + asked + tried);
  std::string ordered =
      choice.noise.size() < layers()
          ? llvm::formatv("; {0} of {1} layers were measured", choice.noise.size(), layers()).str()
          : llvm::formatv("; after {0} trials of layers", trials).str();
  return problem(llvm::formatv("the budget of {0} s ended before an INT8 model was found that "
                               "keeps it: ",
                               shortText(accuracy.budget))
                     .str() +
                 asked + tried + ordered +
                 ". A larger --budget, fewer samples or --precision-of may do");
}

} // namespace

Expected<AccuracyResult> cameo::keepAccuracy(StringRef path, const CompileOptions &options,
                                             const AccuracyOptions &accuracy) {
  std::vector<int64_t> labels;
  if (!accuracy.labels.empty()) {
    Expected<std::vector<int64_t>> read = readLabels(accuracy.labels);
    if (!read)
      return read.takeError();
    labels = std::move(*read);
  }
  Expected<std::string> targets = accuracy.device.targets();
  if (!targets)
    return problem(llvm::toString(targets.takeError()));
  ModelOracle oracle(path, options, *targets, accuracy,
                     AccuracyMetric(*accuracy.contract, std::move(labels)));
  if (Error error = oracle.start())
    return std::move(error);
  Expected<LayerChoice> choice = chooseKeptLayers(oracle.layers(), oracle);
  if (!choice)
    return choice.takeError();
  if (choice->end == LayerChoice::OutOfTime || choice->end == LayerChoice::Hopeless)
    return oracle.explain(*choice);
  return oracle.result(*choice);
}

/// A number, or what is said where there is none: JSON has no infinities.
static llvm::json::Value figureOf(double value) {
  if (std::isfinite(value))
    return value;
  return value > 0 ? "no noise" : "not finite";
}

llvm::json::Object AccuracyResult::json() const {
  llvm::json::Array list;
  for (const Layer &layer : layers) {
    llvm::json::Object object{{"name", llvm::json::fixUTF8(layer.name)}, {"op", layer.op}};
    if (!layer.around.empty())
      object["in"] = llvm::json::Array(llvm::map_range(
          layer.around, [](const std::string &name) { return llvm::json::fixUTF8(name); }));
    if (layer.sqnr)
      object["sqnr"] = figureOf(*layer.sqnr);
    if (layer.kept)
      object["kept"] = precisionName(*layer.kept);
    list.push_back(std::move(object));
  }
  llvm::json::Object object{{"contract", contract},
                            {"measure", measure},
                            {"samples", int64_t(samples)},
                            {"fp32", figureOf(reference)},
                            {"needed", needed},
                            {"int8", figureOf(unkept)},
                            {"reached", figureOf(reached)},
                            {"ended_early", isEarly},
                            {"overrides", llvm::json::fixUTF8(overrides)},
                            {"layers", std::move(list)}};
  if (rows)
    object["rows"] = int64_t(rows);
  return object;
}

std::vector<CompileMessage> AccuracyResult::remarks() const {
  auto figure = [&](double value) -> std::string {
    return measure == "sqnr" ? noiseText(value) : llvm::formatv("{0:f2} %", value * 100).str();
  };
  std::vector<CompileMessage> said;
  auto remark = [&](std::string where, const llvm::Twine &text) {
    said.push_back({CompileMessage::Severity::Remark, std::move(where), text.str(), {}});
  };
  size_t kept = llvm::count_if(layers, [](const Layer &layer) { return layer.kept.has_value(); });
  std::string text = llvm::formatv(
      "--accuracy={0}: {1} of {2} samples ({3}; {4} needed) with {5} of {6} layers kept; {7} with "
      "none; {8} compilations, {9} trials",
      contract, figure(reached), samples, measure, figure(needed), kept, layers.size(),
      figure(unkept), compilations, trials);
  remark("", text + (isEarly ? "; the budget ended before fewer layers were looked for" : ""));
  for (const Layer &layer : layers)
    if (layer.kept)
      remark(layer.name,
             "kept in " + precisionText(*layer.kept) + " by --accuracy: alone in 8 bits, it " +
                 (!layer.sqnr ? "was not measured"
                  : std::isinf(*layer.sqnr)
                      ? "leaves the outputs " + noiseText(*layer.sqnr)
                      : "leaves the outputs " + noiseText(*layer.sqnr) + " of signal over noise"));
  return said;
}
