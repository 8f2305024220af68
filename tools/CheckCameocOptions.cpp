// Which options of cameoc go together. Each function is about one subject and reports one error.
// SPDX-License-Identifier: Apache-2.0
#include "tools/CameocOptions.h"

#include "codegen/ModelInput.h"
#include "codegen/target/Target.h"

#include <cmath>

using namespace cameo;
using llvm::StringRef;

static llvm::Error fail(const llvm::Twine &what) { return llvm::createStringError(what.str()); }

static std::string way(const CameocOptions &options) {
  return "on the way from stage " + stageName(options.firstStage()).str() + " to " +
         stageName(options.lastStage()).str();
}

static bool isArtefact(Emit emit) {
  return emit == Emit::Exe || emit == Emit::Lib || emit == Emit::Plan;
}

static bool isExecutable(Emit emit) { return isArtefact(emit) || emit == Emit::Tuning; }

static llvm::Error checkFiles(const CameocOptions &options) {
  if (options.input.empty())
    return fail("no input file; cameoc --help says more");
  if (options.output.empty())
    return fail("no output file; name one with -o: cameoc " + options.input + " -o FILE");
  if (options.output == "-" && !options.stopAfter && isExecutable(options.emit))
    return fail("-o -: standard output takes IR, PTX, cubins and ONNX; name a file");
  return llvm::Error::success();
}

/// Those that the GPU of this machine decides are not asked for here.
static llvm::Error checkTargetList(const CameocOptions &options) {
  llvm::SmallVector<StringRef> words;
  StringRef(options.pipeline.targets).split(words, ',');
  if (llvm::is_contained(words, "native"))
    return llvm::Error::success();
  auto targets = parseTargetSpec(options.pipeline.targets);
  return targets ? llvm::Error::success()
                 : fail("--target: " + llvm::toString(targets.takeError()));
}

/// --inspect reads the model, with inputs as --shapes and --shape-values give them, and makes nothing.
static llvm::Error checkInspection(const CameocOptions &options) {
  if (options.input.empty())
    return fail("no input file: cameoc --inspect MODEL.onnx");
  if (!options.output.empty() || options.emitGiven || options.stopAfter)
    return fail("--inspect prints what a model is, and writes no file");
  if (options.startFrom)
    return fail("--inspect is of ONNX models, not of --start-from=" +
                stageName(*options.startFrom));
  if (isStream(options.input))
    return fail("--inspect reads the model twice, so it cannot come from a stream");
  return llvm::Error::success();
}

static llvm::Error checkStages(const CameocOptions &options) {
  if (options.startFrom == Stage::Binary)
    return fail("--start-from=binary: nothing is left to do from there");
  if (options.stopAfter == Stage::Binary)
    return fail("--stop-after=binary is what happens anyway; --emit says what is written");
  if (options.stopAfter && options.startFrom && *options.stopAfter < *options.startFrom)
    return fail("--stop-after is a stage before --start-from");
  if (options.stopAfter && options.emitGiven && options.emit != Emit::Mlir &&
      options.emit != Emit::Onnx && options.emit != Emit::Tuning)
    return fail("--stop-after writes IR; of --emit, only mlir, onnx and tuning go with it");
  if (options.emit == Emit::Onnx && options.stopAfter && *options.stopAfter > Stage::Precision)
    return fail("--emit=onnx: the model is not ONNX any more after stage " +
                stageName(*options.stopAfter));
  for (auto [name, isGiven] : {std::pair("--shapes", !options.shapes.empty()),
                               std::pair("--shape-values", !options.values.empty()),
                               std::pair("--state", !options.states.empty()),
                               std::pair("--overridable", !options.overridable.empty())})
    if (options.firstStage() > Stage::Imported && isGiven)
      return fail(llvm::Twine(name) +
                  " applies to models, not to --start-from=" + stageName(*options.startFrom));
  return llvm::Error::success();
}

/// IR that --start-from reads is at its stage, and a model from ONNX may have passes there.
static llvm::Error checkInsertedPasses(const CameocOptions &options) {
  for (StringRef text : options.insertedPasses) {
    llvm::Expected<Stage> stage = findStage(text.split(':').first);
    if (!stage) { // parseInsertedPass says it
      llvm::consumeError(stage.takeError());
      continue;
    }
    bool isAhead = *stage > options.firstStage() || *stage == Stage::Imported;
    if (!isAhead || *stage > options.lastStage())
      return fail("--insert-pass=" + text + ": no passes lead to stage " + stageName(*stage) + " " +
                  way(options));
  }
  return llvm::Error::success();
}

static llvm::Error checkSchedules(const CameocOptions &options) {
  const PipelineOptions &pipeline = options.pipeline;
  if (pipeline.schedules.empty() && pipeline.tune.empty())
    return llvm::Error::success();
  if (options.lastStage() < Stage::Scheduled || options.firstStage() >= Stage::Scheduled)
    return fail(StringRef(pipeline.tune.empty() ? "--schedules" : "--tune") +
                ": no schedules are chosen " + way(options));
  return llvm::Error::success();
}

static llvm::Error checkTuning(const CameocOptions &options) {
  if (options.emit != Emit::Tuning)
    return options.pipeline.tuningCandidates ? fail("--tuning-candidates goes with --emit=tuning")
                                             : llvm::Error::success();
  if (!options.pipeline.tune.empty())
    return fail("--tune chooses schedules without a GPU; --emit=tuning is to have them measured");
  if (!options.pipeline.schedules.empty())
    return fail("--schedules: --emit=tuning measures others than those of a file");
  return llvm::Error::success();
}

/// True where the model is written with the values whose ranges INT8 needs, at a stage before it has any.
static bool isToBeRecorded(const CameocOptions &options) {
  const PrecisionOptions &precision = options.pipeline.precision;
  return precision.isQuantized() && !precision.hasRanges() && !options.isCalibrated() &&
         options.firstStage() < Stage::Normalized && options.lastStage() == Stage::Normalized;
}

/// Types and taps, which stage `precision` brings.
static llvm::Error checkPrecisionStage(const CameocOptions &options) {
  const PipelineOptions &pipeline = options.pipeline;
  bool isPassed =
      options.lastStage() < Stage::Precision || options.firstStage() >= Stage::Precision;
  if (pipeline.precision.isAsked() && isPassed && !isToBeRecorded(options))
    return fail("--precision, --precision-of, --io-precision: types are not changed " +
                way(options));
  if (!pipeline.precision.weights.empty() && isPassed)
    return fail("--weights: none are quantised " + way(options));
  if (!pipeline.precision.ranges.empty() && !pipeline.precision.isAsked())
    return fail("--ranges goes with --precision or --precision-of");
  if (!pipeline.taps.empty() && isPassed)
    return fail("--tap: no taps are placed " + way(options));
  return llvm::Error::success();
}

static llvm::Error checkCalibration(const CameocOptions &options) {
  const PrecisionOptions &precision = options.pipeline.precision;
  if (!options.isCalibrated()) {
    if (options.emit == Emit::Ranges)
      return fail("--emit=ranges needs --calibration-data, or --calibration-cache");
    if (options.countsByKernels)
      return fail("--calibration-histograms goes with --calibration-data");
    if (options.calibration.method)
      return fail("--calibration-method goes with --calibration-data or --calibration-cache");
    return llvm::Error::success();
  }
  if (!precision.isAsked() && options.emit != Emit::Ranges)
    return fail("--calibration-data and --calibration-cache go with --emit=ranges or a --precision "
                "other than fp32");
  if (options.calibration.method && !precision.isQuantized() && options.emit != Emit::Ranges)
    return fail("--calibration-method goes with --precision=int8 or --emit=ranges");
  if (!precision.ranges.empty())
    return fail("--ranges and calibration: one of them says what the ranges are");
  if (options.startFrom)
    return fail("--calibration-data and --calibration-cache apply to models, not to --start-from");
  if (isStream(options.input))
    return fail("calibration reads the model twice, so it cannot come from a stream");
  return llvm::Error::success();
}

static llvm::Error checkAccuracy(const CameocOptions &options) {
  const AccuracyOptions &accuracy = options.accuracy;
  if (!accuracy.contract) {
    for (auto [name, isGiven] : {std::pair("--accuracy-data", !accuracy.data.empty()),
                                 std::pair("--labels", !accuracy.labels.empty()),
                                 std::pair("--budget", std::isfinite(accuracy.budget))})
      if (isGiven)
        return fail(llvm::Twine(name) + " goes with --accuracy");
    return llvm::Error::success();
  }
  if (options.pipeline.precision.type != "int8")
    return fail("--accuracy goes with --precision=int8");
  if (accuracy.data.empty() && options.calibration.data.empty())
    return fail("--accuracy needs samples: --accuracy-data or --calibration-data");
  if (!accuracy.labels.empty() && accuracy.contract->kind == AccuracyContract::Noise)
    return fail("--labels: --accuracy=" + accuracy.contract->text() +
                " compares numbers, and no classes");
  if (options.startFrom)
    return fail("--accuracy applies to models, not to --start-from");
  if (isStream(options.input))
    return fail("--accuracy reads the model several times, so it cannot come from a stream");
  if (options.emit == Emit::Ranges)
    return fail("--accuracy chooses layers; it does not go with --emit=ranges");
  return llvm::Error::success();
}

static llvm::Error checkDevice(const CameocOptions &options) {
  if (options.device && options.calibration.data.empty() && !options.accuracy.contract)
    return fail(
        "--device goes with --calibration-data or --accuracy, which run the model; --target "
        "says what is compiled for");
  return llvm::Error::success();
}

static llvm::Error checkQuantization(const CameocOptions &options) {
  const PrecisionOptions &precision = options.pipeline.precision;
  if (precision.isQuantized() && precision.ranges.empty() && !options.isCalibrated() &&
      !isToBeRecorded(options))
    return fail("INT8 needs the ranges of the model's values: --calibration-data=DIR|FILE.npz "
                "records them, --calibration-cache or --ranges=FILE has them");
  if (precision.correctsBiases && !precision.isQuantized() && options.emit != Emit::Ranges)
    return fail("--bias-correction goes with --precision=int8 or --emit=ranges");
  if (precision.scalesChannels && !precision.isQuantized() && options.emit != Emit::Ranges)
    return fail("--channel-scales goes with --precision=int8 or --emit=ranges");
  if (precision.scalesChannels && !options.isCalibrated() && options.emit != Emit::Ranges)
    return fail("--channel-scales goes with --calibration-data or --calibration-cache; a file of "
                "--ranges has "
                "the factors that it was recorded with");
  if (!precision.weights.empty() && precision.type == "int8")
    return fail("--weights: products of --precision=int8 have weights of 8 bits");
  if (precision.keptEnds != "none" && precision.type != "int8")
    return fail("--keep-ends goes with --precision=int8");
  return llvm::Error::success();
}

/// Passes that run at the same time would print into one another, and MLIR ends the process where
/// it is to keep what each of them was given.
static llvm::Error checkPrinting(const CameocOptions &options) {
  if (options.jobs == 1)
    return llvm::Error::success();
  if (!options.printIrAfter.empty())
    return fail("--print-ir-after needs -j 1");
  for (StringRef option : options.mlir)
    if (option.starts_with("--mlir-print-ir-") ||
        option.starts_with("--mlir-pass-pipeline-local-reproducer"))
      return fail(option.split('=').first + " needs -j 1");
  return llvm::Error::success();
}

static llvm::Error checkDepfile(const CameocOptions &options) {
  if (options.depfile.empty())
    return llvm::Error::success();
  if (options.output == "-")
    return fail("--depfile: its rule makes a file; write -o FILE");
  if (options.emit == Emit::Ranges)
    return fail("--depfile goes with compilations, not with --emit=ranges");
  return llvm::Error::success();
}

static llvm::Error checkHeader(const CameocOptions &options) {
  return options.header.empty() || options.emit == Emit::Lib
             ? llvm::Error::success()
             : fail("--header is of a library; it goes with --emit=lib");
}

static llvm::Error checkReports(const CameocOptions &options) {
  for (StringRef report : options.reports)
    if (!report.ends_with(".json") && !report.ends_with(".html"))
      return fail("--report=" + report +
                  ": JSON or a page is written; use a name ending in .json or .html");
  if (!options.reports.empty() && (options.stopAfter || !isArtefact(options.emit)))
    return fail("--report tells of artefacts; it goes with --emit=exe, lib and plan");
  return llvm::Error::success();
}

llvm::Error cameo::checkCameocOptions(const CameocOptions &options) {
  if (options.isQuestion())
    return llvm::Error::success();
  if (options.inspect)
    return checkInspection(options);
  for (auto *check :
       {checkFiles, checkTargetList, checkStages, checkInsertedPasses, checkSchedules, checkTuning,
        checkPrecisionStage, checkCalibration, checkAccuracy, checkDevice, checkQuantization,
        checkPrinting, checkDepfile, checkHeader, checkReports})
    if (llvm::Error error = check(options))
      return error;
  return llvm::Error::success();
}
