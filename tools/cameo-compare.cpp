// cameo-compare: a model at several precisions, or artefacts, side by side on the same samples.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/InputShapes.h"
#include "codegen/calibrate/AccuracyContract.h"
#include "codegen/calibrate/CalibrationCache.h"
#include "codegen/compare/ComparisonReport.h"
#include "codegen/emit/Payload.h"
#include "codegen/target/Target.h"
#include "tools/Calibration.h"
#include "tools/CrashReports.h"
#include "tools/Environment.h"
#include "tools/ExitCode.h"
#include "tools/OutputFiles.h"
#include "tools/ShortHelp.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"

using namespace cameo;
using llvm::StringRef;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::list<std::string> files(cl::Positional, cl::cat(category),
                                   cl::desc("an ONNX model, or artefacts, the reference first"));
static cl::opt<std::string>
    precisions("precision", cl::init("fp32,fp16"), cl::cat(category), cl::value_desc("TYPE,..."),
               cl::desc("precisions of a model, as cameoc's --precision; the reference first"));
static cl::list<std::string>
    nodePrecisions("precision-of", cl::cat(category), cl::value_desc("GLOB=TYPE"),
                   cl::desc("as cameoc's, for all precisions but the reference"));
static cl::opt<std::string> ranges("ranges", cl::cat(category), cl::value_desc("FILE"),
                                   cl::desc("as cameoc's, for all precisions but the reference"));
static cl::opt<std::string>
    calibrationData("calibration-data", cl::cat(category), cl::value_desc("DIR|FILE.npz"),
                    cl::desc("samples by which ranges are recorded, for all precisions but the "
                             "reference, as cameoc's; others than those of --data judge better"));
static cl::opt<std::string> calibrationMethod("calibration-method", cl::cat(category),
                                              cl::value_desc("METHOD"), cl::desc("as cameoc's"));
static cl::opt<std::string> calibrationCache("calibration-cache", cl::cat(category),
                                             cl::value_desc("FILE"), cl::desc("as cameoc's"));
static cl::opt<uint64_t> calibrationBatch("calibration-batch", cl::cat(category),
                                          cl::value_desc("N"), cl::desc("as cameoc's"));
static cl::opt<std::string> calibrationHistograms("calibration-histograms", cl::cat(category),
                                                  cl::value_desc("host|kernels"),
                                                  cl::desc("as cameoc's"));
static cl::opt<std::string> channelScales("channel-scales", cl::cat(category),
                                          cl::value_desc("on|off"),
                                          cl::desc("as cameoc's, where there is INT8"));
static cl::opt<std::string> biasCorrection("bias-correction", cl::cat(category), cl::ValueOptional,
                                           cl::value_desc("on|off"),
                                           cl::desc("as cameoc's, where there is INT8"));
static cl::opt<std::string>
    data("data", cl::cat(category), cl::value_desc("DIR|FILE.npz"),
         cl::desc("samples: one array per input, the first axis running over samples"));
static cl::opt<std::string> recorded(
    "recorded", cl::cat(category), cl::value_desc("FILE.npz"),
    cl::desc("what another program made of the samples is the reference: arrays by the names of "
             "outputs and values"));
static cl::opt<uint64_t> samples("samples", cl::cat(category), cl::value_desc("N"),
                                 cl::desc("takes the first N samples; else all"));
static cl::opt<uint64_t> batch("batch", cl::init(8), cl::cat(category), cl::value_desc("N"),
                               cl::desc("samples a run, where the model leaves that open (8)"));
static cl::opt<std::string> labels("labels", cl::cat(category), cl::value_desc("FILE.npy"),
                                   cl::desc("the right index for each row of the first output"));
static cl::opt<std::string>
    values("values", cl::init("*"), cl::cat(category), cl::value_desc("GLOB;..."),
           cl::desc("which intermediate values, as cameoc's --tap (all); empty: none"));
static cl::opt<double> tolerance(
    "tolerance", cl::cat(category), cl::value_desc("DB"),
    cl::desc("names the first value whose SQNR is below that; exit code 1 where there is one"));
static cl::opt<size_t> worst("worst", cl::init(10), cl::cat(category), cl::value_desc("N"),
                             cl::desc("lists so many of the worst values (10)"));
static cl::opt<std::string> report("report", cl::cat(category), cl::value_desc("FILE"),
                                   cl::desc("writes everything as .json or .html"));
static cl::opt<unsigned> level("O", cl::Prefix, cl::init(2), cl::cat(category),
                               cl::desc("as cameoc's"), cl::value_desc("0|1|2"));
static cl::opt<std::string> shapes("shapes", cl::cat(category), cl::value_desc("x:1x3x224x224,..."),
                                   cl::desc("as cameoc's"));
static cl::list<std::string> shapeValues("shape-values", cl::cat(category),
                                         cl::value_desc("INPUT=N,...|@FILE.npy"),
                                         cl::desc("as cameoc's"));
static cl::opt<std::string> device("device", cl::init("sim"), cl::cat(category),
                                   cl::value_desc("sim|cuda[:N]"),
                                   cl::desc("what runs them: the simulator, or a GPU (sim)"));
static cl::opt<std::string> target("target", cl::cat(category), cl::value_desc("ARCH"),
                                   cl::desc("what models are compiled for: sim:ARCH (sim:sm_80), "
                                            "for a GPU as cameoc's (what it is)"));
static cl::opt<std::string>
    estimate("estimate", cl::cat(category), cl::value_desc("ARCH[:BOARD],..."),
             cl::desc("GPUs that a model's time is estimated for, as sm_90a:h200; else that of "
                      "--target"));
static cl::opt<std::string> cacheDir("cache-dir", cl::cat(category), cl::value_desc("DIR"),
                                     cl::desc("as cameoc's, of the models that are compiled"));
static cl::opt<unsigned> jobs("j", cl::Prefix, cl::cat(category), cl::value_desc("N"),
                              cl::desc("threads; one a core"));

static llvm::Expected<RunOptions> runOptions() {
  llvm::Expected<RunDevice> where = RunDevice::parse(device);
  if (!where)
    return llvm::createStringError("--device: " + llvm::toString(where.takeError()));
  return RunOptions{*where, jobs};
}

/// What models are compiled for.
static llvm::Expected<std::string> targetsOf(const RunDevice &where) {
  if (target.empty())
    return where.targets();
  bool isSimulated = where.kind == CAMEO_DEVICE_SIMULATOR;
  if (StringRef(target).starts_with("sim:") != isSimulated)
    return llvm::createStringError("--target=" + target + ": models are compared on " +
                                   (isSimulated ? "the simulator" : "a GPU") +
                                   "; --device says where");
  return target;
}

/// `isTold` becomes true with an error that is printed.
static llvm::Expected<CompileOptions> compileOptions(const RunDevice &where, bool &isTold) {
  CompileOptions options;
  if (llvm::Error error = targetsOf(where).moveInto(options.pipeline.targets))
    return std::move(error);
  options.pipeline.level = level;
  options.pipeline.strict = isStrictByEnvironment();
  options.code.simQuick = isSimQuickByEnvironment();
  options.code.cache = cacheDir.empty() ? cacheFolderByEnvironment() : cacheDir.getValue();
  options.jobs = jobs;
  options.onMessage = [&isTold](CompileMessage message) {
    if (StringRef text = message.text; text.consume_front("--tap: "))
      message.text = "--values: " + text.str();
    isTold |= message.severity == CompileMessage::Severity::Error;
    llvm::errs() << message;
  };
  if (level > 2)
    return llvm::createStringError("-O takes 0, 1 or 2, not %u", unsigned(level));
  if (!shapes.empty()) {
    if (llvm::Error error = parseShapes(shapes, options.shapes))
      return llvm::createStringError("--shapes: " + llvm::toString(std::move(error)));
  }
  for (const std::string &text : shapeValues)
    if (llvm::Error error = parseInputValues(text, options.values))
      return llvm::createStringError("--shape-values: " + llvm::toString(std::move(error)));
  return options;
}

static bool isCalibrated() { return !calibrationData.empty() || !calibrationCache.empty(); }

/// Whether the options that are about calibration go together, and with a model.
static llvm::Error checkCalibration(bool isModel) {
  std::pair<const cl::Option &, StringRef> needsData[] = {
      {calibrationMethod, "--calibration-method"},
      {calibrationBatch, "--calibration-batch"},
      {calibrationHistograms, "--calibration-histograms"}};
  for (auto [option, name] : needsData)
    if (option.getNumOccurrences() && !isCalibrated())
      return llvm::createStringError(name + " goes with --calibration-data or --calibration-cache");
  if (calibrationBatch.getNumOccurrences() && calibrationBatch == 0)
    return llvm::createStringError("--calibration-batch: it takes a number from 1 on, not '0'");
  for (const cl::opt<std::string> *option : {&channelScales, &biasCorrection})
    if (!option->empty() && *option != "on" && *option != "off")
      return llvm::createStringError("--" + option->ArgStr + ": '" + *option +
                                     "' is not one of on and off");
  if (isCalibrated() && !ranges.empty())
    return llvm::createStringError(
        "--ranges and calibration: one of them says what the ranges are");
  if (isCalibrated() && !isModel)
    return llvm::createStringError(
        "--calibration-data and --calibration-cache apply to models, not to artefacts");
  return llvm::Error::success();
}

/// The value of an option that takes on and off; alone it means on.
static std::optional<bool> asked(const cl::opt<std::string> &option) {
  if (!option.getNumOccurrences())
    return std::nullopt;
  return option.empty() || option == "on";
}

/// Ranges of the model by --calibration-data and --calibration-cache; `options` are those of any
/// side. `isTold` becomes true with an error that is printed.
static llvm::Error calibrateModel(const CompileOptions &options, const RunDevice &where,
                                  CalibratedRanges &found, bool &isTold) {
  CalibrationRequest request;
  request.model = files.front();
  PrecisionOptions ofNodes;
  ofNodes.nodes = llvm::join(nodePrecisions, ";");
  request.isForInt8 = StringRef(precisions).contains("int8") || ofNodes.isQuantized();
  request.compile = options;
  request.compile.pipeline.precision = {};
  CalibrationOptions &calibration = request.calibration;
  calibration.data = calibrationData;
  calibration.cache = calibrationCache;
  if (!calibrationMethod.empty()) {
    llvm::Expected<CalibrationMethod> method = CalibrationMethod::parse(calibrationMethod);
    if (!method)
      return llvm::createStringError("--calibration-method: " + llvm::toString(method.takeError()));
    calibration.method = *method;
  }
  if (calibrationBatch)
    calibration.batch = calibrationBatch;
  calibration.device = where;
  calibration.threads = jobs;
  calibration.countsByKernels = where.kind == CAMEO_DEVICE_CUDA;
  if (!calibrationHistograms.empty()) {
    calibration.countsByKernels = calibrationHistograms == "kernels";
    if (!calibration.countsByKernels && calibrationHistograms != "host")
      return llvm::createStringError("--calibration-histograms: '" + calibrationHistograms +
                                     "' is not one of host and kernels");
  }
  calibration.correctsBiases = asked(biasCorrection);
  calibration.scalesChannels = asked(channelScales);
  request.inputs = {data};
  for (const std::string *file : {&recorded.getValue(), &labels.getValue()})
    if (!file->empty())
      request.inputs.push_back(*file);
  if (!report.empty())
    request.outputs.push_back({"--report", report});
  if (succeeded(found.make(request)))
    return llvm::Error::success();
  isTold = true;
  return llvm::createStringError("calibration failed");
}

using Sides = std::vector<std::unique_ptr<RunningSide>>;

/// Of --precision, each with the options that its side is compiled with; calibrates the model where
/// that is asked for.
static llvm::Expected<std::vector<CompileOptions>>
optionsOfSides(const RunDevice &where, CalibratedRanges &calibrated, bool &isTold) {
  llvm::Expected<CompileOptions> options = compileOptions(where, isTold);
  if (!options)
    return options.takeError();
  llvm::SmallVector<StringRef> types;
  StringRef(precisions).split(types, ',');
  if (isCalibrated()) {
    if (llvm::Error error = calibrateModel(*options, where, calibrated, isTold))
      return std::move(error);
  } else if (!ranges.empty() && failed(calibrated.read(ranges))) {
    isTold = true;
    return llvm::createStringError("no ranges");
  }
  std::vector<CompileOptions> list;
  for (StringRef type : types) {
    CompileOptions these = *options;
    PrecisionOptions &precision = these.pipeline.precision;
    precision.type = type.str();
    if (!list.empty() || !recorded.empty()) {
      precision.recorded = calibrated.recorded();
      precision.nodes = llvm::join(nodePrecisions, ";");
      if (precision.isQuantized()) {
        precision.scalesChannels = asked(channelScales);
        precision.correctsBiases = asked(biasCorrection);
      }
    }
    if (precision.isQuantized() && !precision.hasRanges())
      return llvm::createStringError(
          list.empty() && recorded.empty()
              ? "--precision=" + precisions +
                    ": the first is the reference, which INT8 cannot be; write "
                    "--precision=fp32,int8"
              : "INT8 needs the ranges of the model's values: --calibration-data=DIR|FILE.npz "
                "records them, --calibration-cache or --ranges=FILE has them");
    list.push_back(std::move(these));
  }
  return std::move(list);
}

static llvm::Expected<Sides> compileSides(llvm::ArrayRef<CompileOptions> options,
                                          const RunOptions &run) {
  Sides sides;
  for (const CompileOptions &these : options) {
    llvm::Expected<std::unique_ptr<RunningSide>> side =
        RunningSide::compile(files.front(), these.pipeline.precision.type, these, values, run);
    if (!side)
      return side.takeError();
    sides.push_back(std::move(*side));
  }
  return std::move(sides);
}

/// Estimates the model's launches for the sizes of a run, where the sides' own are not of them, or
/// other GPUs are asked for.
static llvm::Error estimateSides(llvm::ArrayRef<CompileOptions> options, const DataBatch &batch,
                                 Sides &sides) {
  for (auto [side, given] : llvm::zip_equal(sides, options)) {
    std::vector<TotalEstimate> &found = side->facts.estimates;
    auto isAssumed = [](const TotalEstimate &each) { return each.isAssumed; };
    if (estimate.empty() && llvm::none_of(found, isAssumed))
      continue;
    CompileOptions these = given;
    if (!estimate.empty())
      these.pipeline.targets = estimate;
    for (auto [port, tensor] : llvm::zip_equal(side->inputs(), batch.inputs))
      these.shapes.sizes[port.name] = tensor.shape;
    std::string said; // the rest has been said before
    these.onMessage = [&](const CompileMessage &message) {
      if (message.severity == CompileMessage::Severity::Error)
        said += (said.empty() ? "" : "; ") + message.text;
    };
    llvm::Expected<std::vector<LaunchTotals>> totals = countLaunches(files.front(), these);
    if (!totals) {
      std::string text = llvm::toString(totals.takeError());
      return llvm::createStringError("--estimate: " + (said.empty() ? text : said));
    }
    found.clear();
    for (const LaunchTotals &each : *totals)
      if (each.estimate)
        found.push_back(*each.estimate);
  }
  return llvm::Error::success();
}

static llvm::Expected<Sides> loadSides(const RunOptions &run) {
  Sides sides;
  for (const std::string &file : files) {
    llvm::Expected<std::unique_ptr<RunningSide>> side = RunningSide::load(file, run);
    if (!side)
      return side.takeError();
    sides.push_back(std::move(*side));
  }
  return std::move(sides);
}

/// An error about what an option names.
static llvm::Error errorOf(StringRef option, llvm::Error error) {
  return llvm::createStringError(option + ": " + llvm::toString(std::move(error)));
}

/// What was recorded is the reference.
static llvm::Expected<std::vector<std::unique_ptr<Side>>> withRecorded(Sides models) {
  std::vector<std::unique_ptr<Side>> sides;
  if (!recorded.empty()) {
    llvm::Expected<std::unique_ptr<RecordedSide>> side =
        RecordedSide::open(recorded, models.front()->outputs(), models.front()->values());
    if (!side)
      return errorOf("--recorded", side.takeError());
    sides.push_back(std::move(*side));
  }
  for (std::unique_ptr<RunningSide> &model : models)
    sides.push_back(std::move(model));
  if (sides.size() < 2)
    return llvm::createStringError("there is nothing to compare '" + files.front() + "' with");
  return std::move(sides);
}

static llvm::Error write(const Comparison &comparison, const ComparisonView &view) {
  return writeFile(report, 0644, [&](llvm::raw_fd_ostream &output) {
    if (StringRef(report).ends_with(".html"))
      output << comparisonPage(comparison, view);
    else
      output << llvm::formatv("{0:2}\n", llvm::json::Value(comparisonJson(comparison, view)));
    return llvm::Error::success();
  });
}

/// Whether every value is within the tolerance. `isTold` becomes true with an error that is printed.
static llvm::Expected<bool> run(bool &isTold) {
  if (!report.empty() && !StringRef(report).ends_with(".html") &&
      !StringRef(report).ends_with(".json"))
    return llvm::createStringError("--report=" + report + ": it ends in .json or .html");
  bool isModel = StringRef(files.front()).ends_with(".onnx");
  if (isModel && files.size() > 1)
    return llvm::createStringError("a model is compared with itself at several precisions; of " +
                                   llvm::Twine(files.size()) +
                                   " files, all would have to be artefacts");
  if (!isModel && !estimate.empty())
    return llvm::createStringError("--estimate is for a model; artefacts say what they take on the "
                                   "GPUs that they were compiled for");
  if (!estimate.empty())
    if (auto targets = parseTargetSpec(estimate); !targets)
      return llvm::createStringError("--estimate: " + llvm::toString(targets.takeError()));
  if (llvm::Error error = checkCalibration(isModel))
    return std::move(error);
  llvm::Expected<RunOptions> where = runOptions();
  if (!where)
    return where.takeError();
  CalibratedRanges calibrated{Messages()};
  std::vector<CompileOptions> options;
  if (isModel)
    if (llvm::Error error = optionsOfSides(where->device, calibrated, isTold).moveInto(options))
      return std::move(error);
  llvm::Expected<Sides> models = isModel ? compileSides(options, *where) : loadSides(*where);
  if (!models)
    return models.takeError();
  llvm::Expected<CalibrationData> input = CalibrationData::open(data, models->front()->inputs());
  if (!input)
    return errorOf("--data", input.takeError());
  uint64_t all = input->samples();
  if (samples)
    input->takeFirst(samples);
  llvm::Expected<DataBatch> next = input->next(batch);
  if (!next)
    return errorOf("--data", next.takeError());
  ComparisonView view;
  if (isModel) {
    if (llvm::Error error = estimateSides(options, *next, *models))
      return std::move(error);
    view.batch = next->samples + next->repeated;
  }
  std::vector<std::unique_ptr<Side>> sides;
  if (llvm::Error error = withRecorded(std::move(*models)).moveInto(sides))
    return std::move(error);
  std::vector<int64_t> indices;
  if (!labels.empty())
    if (llvm::Error error = readLabels(labels).moveInto(indices))
      return std::move(error);

  if (indices.size() > input->samples() && samples)
    indices.resize(indices.size() / all * input->samples());
  Comparison comparison(std::move(sides), std::move(indices));
  while (next->samples) {
    if (llvm::Error error = comparison.add(*next))
      return std::move(error);
    next = input->next(batch);
    if (!next)
      return errorOf("--data", next.takeError());
  }
  if (llvm::Error error = comparison.finish())
    return std::move(error);

  view.calibration = calibrated.shown();
  view.worst = worst;
  if (tolerance.getNumOccurrences())
    view.tolerance = tolerance;
  printComparison(llvm::outs(), comparison, view);
  if (llvm::Error error = flushStandardOutput())
    return std::move(error);
  if (!report.empty())
    if (llvm::Error error = write(comparison, view))
      return std::move(error);
  for (size_t side = 1; side < comparison.size() && view.tolerance; ++side)
    if (comparison.firstBeyond(side, *view.tolerance))
      return false;
  return true;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  reportCrashes(llvm::ArrayRef<const char *>(argv, argc));
  nameVersion();
  cl::HideUnrelatedOptions(category);
  // By itself, LLVM's parser ends the process with the exit code of a mismatch.
  if (!cl::ParseCommandLineOptions(
          argc, argv, "a model at several precisions, or artefacts, side by side\n", &llvm::errs()))
    return Usage;
  if (files.empty() || data.empty()) {
    llvm::errs() << "error: no " << (files.empty() ? "model" : "samples")
                 << "; as in: cameo-compare MODEL.onnx --data=FILE.npz, and --help\n";
    return Usage;
  }
  bool isTold = false;
  llvm::Expected<bool> good = run(isTold);
  if (!good) {
    std::string text = llvm::toString(good.takeError());
    if (!isTold)
      llvm::errs() << "error: " << text << "\n";
    return Usage;
  }
  return *good ? Good : Negative;
}
