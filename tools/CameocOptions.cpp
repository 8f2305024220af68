// One table of options: name, form, help. Read by hand, because LLVM's own command-line parser
// would accept the hundreds of options of the libraries in this process too.
// SPDX-License-Identifier: Apache-2.0
#include "tools/CameocOptions.h"

#include "codegen/InputShapes.h"
#include "codegen/ModelInput.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <cstdlib>

using namespace cameo;
using llvm::StringRef;

namespace {

llvm::Error fail(const llvm::Twine &what) { return llvm::createStringError(what.str()); }

struct Option {
  StringRef name;  // with its dashes
  StringRef value; // what the help calls the value; empty: takes none
  StringRef help;
  llvm::Error (*set)(CameocOptions &, StringRef);
};

llvm::Error setEmit(CameocOptions &options, StringRef value) {
  static constexpr std::pair<llvm::StringLiteral, Emit> kinds[] = {
      {"exe", Emit::Exe},      {"lib", Emit::Lib},
      {"plan", Emit::Plan},    {"ptx", Emit::Ptx},
      {"cubin", Emit::Cubin},  {"onnx", Emit::Onnx},
      {"mlir", Emit::Mlir},    {"schedules", Emit::Schedules},
      {"ranges", Emit::Ranges}};
  for (auto [name, kind] : kinds)
    if (value == name) {
      options.emit = kind;
      return llvm::Error::success();
    }
  return fail("'" + value +
              "' is none of exe, lib, plan, ptx, cubin, onnx, mlir, schedules and ranges");
}

llvm::Error setStage(std::optional<Stage> &target, StringRef value) {
  llvm::Expected<Stage> stage = findStage(value);
  if (!stage)
    return stage.takeError();
  target = *stage;
  return llvm::Error::success();
}

llvm::Error setShapes(CameocOptions &options, StringRef value) {
  return parseShapes(value).moveInto(options.shapes);
}

template <std::string CameocOptions::*Member>
llvm::Error setString(CameocOptions &options, StringRef value) {
  if (value.empty())
    return fail("an empty value");
  options.*Member = value.str();
  return llvm::Error::success();
}
template <std::string CalibrationOptions::*Member>
llvm::Error setString(CameocOptions &options, StringRef value) {
  if (value.empty())
    return fail("an empty value");
  options.calibration.*Member = value.str();
  return llvm::Error::success();
}
template <std::string AccuracyOptions::*Member>
llvm::Error setString(CameocOptions &options, StringRef value) {
  if (value.empty())
    return fail("an empty value");
  options.accuracy.*Member = value.str();
  return llvm::Error::success();
}
template <std::string PipelineOptions::*Member>
llvm::Error setString(CameocOptions &options, StringRef value) {
  if (value.empty())
    return fail("an empty value");
  options.pipeline.*Member = value.str();
  return llvm::Error::success();
}
template <bool CameocOptions::*Member> llvm::Error setFlag(CameocOptions &options, StringRef) {
  options.*Member = true;
  return llvm::Error::success();
}

template <bool PrecisionOptions::*Member> llvm::Error setFlag(CameocOptions &options, StringRef) {
  options.pipeline.precision.*Member = true;
  return llvm::Error::success();
}

template <std::string PrecisionOptions::*Member>
llvm::Error setPrecision(CameocOptions &options, StringRef value) {
  bool isIo = Member == &PrecisionOptions::io;
  bool isKnown = value == "fp32" || value == "fp16" || value == "bf16" ||
                 (!isIo && (value == "tf32" || value == "int8"));
  if (!isKnown)
    return fail("'" + value + "' is none of " +
                (isIo ? "fp32, fp16 and bf16" : "fp32, tf32, fp16, bf16 and int8"));
  options.pipeline.precision.*Member = value.str();
  return llvm::Error::success();
}

/// Several are one text, in which semicolons are between them.
llvm::Error addNodePrecision(CameocOptions &options, StringRef value) {
  auto [glob, type] = value.rsplit('=');
  if (glob.empty() || !value.contains('='))
    return fail("'" + value + "' is not of the form GLOB=fp16");
  if (type != "fp32" && type != "tf32" && type != "fp16" && type != "bf16" && type != "int8")
    return fail("'" + type + "' in '" + value + "' is none of fp32, tf32, fp16, bf16 and int8");
  if (glob.contains(';'))
    return fail("'" + glob + "': write ? for a semicolon");
  std::string &nodes = options.pipeline.precision.nodes;
  nodes += (nodes.empty() ? "" : ";") + value.str();
  return llvm::Error::success();
}

/// The same.
llvm::Error addTap(CameocOptions &options, StringRef value) {
  if (value.empty())
    return fail("an empty value");
  if (value.contains(';'))
    return fail("'" + value + "': write ? for a semicolon");
  std::string &taps = options.pipeline.taps;
  taps += (taps.empty() ? "" : ";") + value.str();
  return llvm::Error::success();
}

llvm::Error setTarget(CameocOptions &options, StringRef value) {
  options.pipeline.targets = value.str();
  options.targetGiven = true;
  return llvm::Error::success();
}

const Option kOptions[] = {
    {"-o", "FILE", "where to write; -: standard output", setString<&CameocOptions::output>},
    {"--target", "LIST",
     "architectures: sm_80 (a cubin), sm_90a:h200 (for that board), ptx (text that later GPUs can "
     "take), ptx:sm_80, sim:sm_80 (code for the simulated GPU), native; default "
     "sm_80,sm_90a,ptx,sim:sm_80, with --emit=ptx and --emit=cubin sm_80",
     setTarget},
    {"--emit", "KIND",
     "exe (default), lib (shared library), plan (for cameo_model_load), ptx, cubin, onnx, mlir, "
     "schedules (JSON for --schedules), ranges (JSON for --ranges)",
     setEmit},
    {"-O", "LEVEL",
     "0: one kernel an operator; 1: operators share kernels where every bit stays; 2 (default): "
     "also "
     "what agrees to rounding",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       if (v.getAsInteger(10, o.pipeline.level) || o.pipeline.level > 2)
         return fail("it takes 0, 1 or 2, not '" + v + "'");
       return llvm::Error::success();
     }},
    {"--layout", "ORDER",
     "how values between kernels are stored: as-imported (default), auto (as costs say), "
     "channels-last (wherever that can be)",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       if (v != "auto" && v != "channels-last" && v != "as-imported")
         return fail("'" + v + "' is none of auto, channels-last and as-imported");
       o.pipeline.layout = v.str();
       return llvm::Error::success();
     }},
    {"--precision", "TYPE",
     "fp32 (default): as imported; fp16, bf16: FP32 values in 16 bits where their range allows it; "
     "tf32: FP32 values, multiplied by Tensor Cores; int8: what products read quantised by "
     "--ranges, "
     "the rest as fp16",
     setPrecision<&PrecisionOptions::type>},
    {"--precision-of", "GLOB=TYPE",
     "another precision for nodes whose name or operator matches (layer4.*=bf16, Softmax=fp32); "
     "may "
     "be "
     "given again, and the last that matches counts",
     addNodePrecision},
    {"--io-precision", "TYPE", "what inputs and outputs of FP32 become: fp32 (default), fp16, bf16",
     setPrecision<&PrecisionOptions::io>},
    {"--keep-ends", "WHICH",
     "with --precision=int8: products that no other comes before or behind stay in 16 bits: none "
     "(default), first, last, both",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       if (v != "none" && v != "first" && v != "last" && v != "both")
         return fail("'" + v + "' is none of none, first, last and both");
       o.pipeline.precision.keptEnds = v.str();
       return llvm::Error::success();
     }},
    {"--equalize-ranges", "",
     "scales channels between two products so that one scale fits them better in 8 bits; results "
     "in FP32 are the same",
     setFlag<&PrecisionOptions::equalizesRanges>},
    {"--bias-correction", "",
     "with int8: biases make up for what quantisation adds to the mean of each channel, by means "
     "that calibration records",
     setFlag<&PrecisionOptions::correctsBiases>},
    {"--learn-rounding", "",
     "with int8: weights are rounded up or down so that what products give is closest on the "
     "calibration data, instead of to the nearest",
     setFlag<&PrecisionOptions::learnsRounding>},
    {"--ranges", "FILE",
     "recorded ranges of values, by which --precision=fp16 knows what would overflow, and int8 "
     "what "
     "becomes 127",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       if (v.empty())
         return fail("an empty value");
       o.pipeline.precision.ranges = v.str();
       return llvm::Error::success();
     }},
    {"--tap", "GLOB",
     "runs can show the intermediate values whose name, or whose node's name or operator, matches "
     "(conv*, Relu): --taps=FOLDER of the executable, cameo_context_set_taps; may be given again",
     addTap},
    {"--calibration-data", "DIR|FILE.npz",
     "samples by which ranges of values are recorded, on the simulator: an array an input, whose "
     "first axis runs over samples, in an archive or a folder of them",
     setString<&CalibrationOptions::data>},
    {"--calibration-method", "METHOD",
     "where values are clipped that become 8 bits: max, entropy, percentile:99.99, mse (default), "
     "best (for each value the one that costs least)",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       llvm::Expected<CalibrationMethod> method = CalibrationMethod::parse(v);
       if (!method)
         return method.takeError();
       o.calibration.method = *method;
       return llvm::Error::success();
     }},
    {"--calibration-cache", "FILE",
     "keeps what calibration has found, and takes it from there; TensorRT's files are read, too",
     setString<&CalibrationOptions::cache>},
    {"--calibration-batch", "N", "samples at a time, where the model leaves that open; default 8",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       if (v.getAsInteger(10, o.calibration.batch) || o.calibration.batch < 1)
         return fail("it takes a number from 1 on, not '" + v + "'");
       return llvm::Error::success();
     }},
    {"--accuracy", "99%|-0.3%|30dB",
     "with --precision=int8: keeps as few layers as it finds in 16 bits, so that the model reaches "
     "this share of FP32's rows that are right, or loses so many points, or has so much signal "
     "over noise",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       llvm::Expected<AccuracyContract> contract = AccuracyContract::parse(v);
       if (!contract)
         return contract.takeError();
       o.accuracy.contract = *contract;
       return llvm::Error::success();
     }},
    {"--accuracy-data", "DIR|FILE.npz",
     "samples for --accuracy; else those of --calibration-data, which flatter the model",
     setString<&AccuracyOptions::data>},
    {"--labels", "FILE.npy",
     "for --accuracy: the right index for each row of the first output; else where FP32 has its "
     "largest element",
     setString<&AccuracyOptions::labels>},
    {"--budget", "SECONDS", "what --accuracy may take; default: as long as it takes",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       if (v.getAsDouble(o.accuracy.budget) || !(o.accuracy.budget > 0))
         return fail("it takes a number of seconds, not '" + v + "'");
       return llvm::Error::success();
     }},
    {"--shapes", "x:1x3x224x224,...", "fixes sizes of inputs; ? leaves one open", setShapes},
    {"--stop-after", "STAGE",
     "writes the IR that this stage reaches: as bytecode to a FILE.mlirbc, as text to any other",
     [](CameocOptions &o, StringRef v) { return setStage(o.stopAfter, v); }},
    {"--start-from", "STAGE", "the input is IR of this stage, as --stop-after writes it",
     [](CameocOptions &o, StringRef v) { return setStage(o.startFrom, v); }},
    {"--schedules", "FILE",
     "schedules that --emit=schedules wrote, perhaps edited, instead of those that would be "
     "chosen; "
     "dispatches that it does not have get theirs as always",
     setString<&PipelineOptions::schedules>},
    {"--tune", "static",
     "chooses schedules of products among a few by their machine code: needs ptxas and nvdisasm, "
     "and no GPU",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       if (v != "static")
         return fail("'" + v + "' is not static");
       o.pipeline.tune = v.str();
       return llvm::Error::success();
     }},
    {"--sim-checks", "", "adds an image for the simulator's --sim-checks and --sim-counters",
     setFlag<&CameocOptions::simChecks>},
    {"--sim-trace", "", "the same, and for --sim-trace: large and slow",
     setFlag<&CameocOptions::simTrace>},
    {"--sim-forms", "FORMS",
     "warp (default): simulated kernels run a warp at once where they can; thread: each thread on "
     "its own; both: as --sim-form says at run time",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       using Forms = SimForms;
       if (v != "warp" && v != "thread" && v != "both")
         return fail("'" + v + "' is not one of warp, thread, both");
       o.simForms = v == "warp" ? Forms::Warp : v == "thread" ? Forms::Thread : Forms::Both;
       return llvm::Error::success();
     }},
    {"--ptxas", "FILE", "NVIDIA's assembler; else $CUDA_HOME/bin/ptxas, else the PATH's",
     setString<&PipelineOptions::ptxas>},
    {"--nvdisasm", "FILE", "NVIDIA's disassembler, for --tune; else the PATH's",
     setString<&PipelineOptions::nvdisasm>},
    {"--libdevice", "FILE", "NVIDIA's libdevice.10.bc; else looked for beside ptxas",
     setString<&PipelineOptions::libdevice>},
    {"--cache-dir", "DIR",
     "keeps cubins in this folder and takes from there what ptxas has made before; else "
     "$CAMEO_CACHE_DIR, else none are kept",
     setString<&PipelineOptions::cacheDir>},
    {"--report", "FILE.json|FILE.html",
     "writes what was compiled and why: kernels, memory, decisions; as data or as a page",
     setString<&CameocOptions::report>},
    {"--remarks", "",
     "says on stderr what passes decided: schedules, what was folded or fused and what not",
     setFlag<&CameocOptions::remarks>},
    {"--Werror", "", "warnings are errors: no ptxas, for one, and thus PTX instead of cubins",
     setFlag<&CameocOptions::warningsAreErrors>},
    {"--time", "", "says on stderr how long each stage takes", setFlag<&CameocOptions::time>},
    {"--statistics", "", "says on stderr what passes have counted",
     setFlag<&CameocOptions::statistics>},
    {"--print-pipeline", "",
     "says on stderr which passes lead to each stage, as cameo-opt's --pass-pipeline takes them",
     setFlag<&CameocOptions::printPipeline>},
    {"--print-ir-after", "PASS",
     "prints on stderr what this pass (cameo-fold-constants), or all, has changed; goes with -j 1",
     setString<&CameocOptions::printIrAfter>},
    {"-j", "N", "threads; default one a core",
     [](CameocOptions &o, StringRef v) -> llvm::Error {
       if (v.getAsInteger(10, o.jobs) || o.jobs < 1 || o.jobs > 1024)
         return fail("it takes a number from 1 to 1024, not '" + v + "'");
       return llvm::Error::success();
     }},
    {"--list-operators", "", "prints the supported operators as Markdown",
     setFlag<&CameocOptions::listOperators>},
    {"--list-precision-policy", "", "prints what --precision does with each operator, as Markdown",
     setFlag<&CameocOptions::listPrecisionPolicy>},
    {"--version", "", "prints versions", setFlag<&CameocOptions::version>},
    {"--help", "", "prints this text", setFlag<&CameocOptions::help>},
};

/// What is not given may stand in the environment.
void addEnvironment(CameocOptions &options) {
  if (const char *home = std::getenv("CUDA_HOME");
      options.pipeline.ptxas.empty() && home && *home) {
    llvm::SmallString<256> path(home);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::exists(path))
      options.pipeline.ptxas = std::string(path);
  }
  if (const char *folder = std::getenv("CAMEO_CACHE_DIR");
      options.pipeline.cacheDir.empty() && folder)
    options.pipeline.cacheDir = folder;
}

llvm::Error checkCalibration(const CameocOptions &options) {
  const PrecisionOptions &precision = options.pipeline.precision;
  if (!options.isCalibrated()) {
    if (options.emit == Emit::Ranges)
      return fail("--emit=ranges needs --calibration-data, or --calibration-cache");
    if (options.calibration.method)
      return fail("--calibration-method goes with --calibration-data or --calibration-cache");
    return llvm::Error::success();
  }
  if (!precision.isAsked() && options.emit != Emit::Ranges)
    return fail("--calibration-data and --calibration-cache go with --precision or --emit=ranges");
  if (!precision.ranges.empty())
    return fail("--ranges and calibration: one of them says what the ranges are");
  if (options.startFrom)
    return fail("--calibration-data and --calibration-cache apply to models, not to --start-from");
  if (isStream(options.input))
    return fail("calibration reads the model twice, so it cannot come from a stream");
  return llvm::Error::success();
}

llvm::Error checkAccuracy(const CameocOptions &options) {
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

llvm::Error check(const CameocOptions &options) {
  if (options.help || options.version || options.listOperators || options.listPrecisionPolicy)
    return llvm::Error::success();
  if (options.input.empty())
    return fail("no input file; cameoc --help says more");
  if (options.output.empty())
    return fail("no output file; name one with -o");
  if (options.output == "-" && !options.stopAfter &&
      (options.emit == Emit::Exe || options.emit == Emit::Lib || options.emit == Emit::Plan))
    return fail("-o -: standard output takes IR, PTX, cubins and ONNX; name a file");
  if (options.startFrom == Stage::Binary)
    return fail("--start-from=binary: nothing is left to do from there");
  if (options.stopAfter == Stage::Binary)
    return fail("--stop-after=binary is what happens anyway; --emit says what is written");
  if (options.stopAfter && options.startFrom && *options.stopAfter < *options.startFrom)
    return fail("--stop-after is a stage before --start-from");
  if (options.stopAfter && options.emit != Emit::Exe && options.emit != Emit::Mlir &&
      options.emit != Emit::Onnx)
    return fail("--stop-after writes IR; it does not go with this --emit");
  if (options.emit == Emit::Onnx && options.stopAfter && *options.stopAfter > Stage::Precision)
    return fail("--emit=onnx: the model is not ONNX any more after stage " +
                stageName(*options.stopAfter));
  if (options.startFrom && *options.startFrom > Stage::Imported && !options.shapes.empty())
    return fail("--shapes applies to models, not to --start-from=" + stageName(*options.startFrom));
  if (!options.pipeline.schedules.empty() || !options.pipeline.tune.empty()) {
    Stage last = options.emit == Emit::Onnx ? Stage::Precision : Stage::Host;
    if (options.stopAfter.value_or(last) < Stage::Scheduled ||
        options.startFrom.value_or(Stage::Imported) >= Stage::Scheduled)
      return fail(StringRef(options.pipeline.tune.empty() ? "--schedules" : "--tune") +
                  ": no schedules are chosen on the way from stage " +
                  stageName(options.startFrom.value_or(Stage::Imported)) + " to " +
                  stageName(options.stopAfter.value_or(last)));
  }
  Stage last = options.stopAfter.value_or(Stage::Host);
  Stage first = options.startFrom.value_or(Stage::Imported);
  if (options.pipeline.precision.isAsked() &&
      (last < Stage::Precision || first >= Stage::Precision))
    return fail(
        "--precision, --precision-of, --io-precision: types are not changed on the way from "
        "stage " +
        stageName(first) + " to " + stageName(last));
  if (!options.pipeline.precision.ranges.empty() && !options.pipeline.precision.isAsked())
    return fail("--ranges goes with --precision or --precision-of");
  if (!options.pipeline.taps.empty() && (last < Stage::Precision || first >= Stage::Precision))
    return fail("--tap: no taps are placed on the way from stage " + stageName(first) + " to " +
                stageName(last));
  if (llvm::Error error = checkCalibration(options))
    return error;
  if (llvm::Error error = checkAccuracy(options))
    return error;
  if (options.pipeline.precision.isQuantized() && options.pipeline.precision.ranges.empty() &&
      !options.isCalibrated())
    return fail("INT8 needs the ranges of the model's values: --calibration-data=DIR|FILE.npz "
                "records them, --calibration-cache or --ranges=FILE has them");
  if (options.pipeline.precision.correctsBiases && !options.pipeline.precision.isQuantized() &&
      options.emit != Emit::Ranges)
    return fail("--bias-correction goes with --precision=int8 or --emit=ranges");
  if (options.pipeline.precision.learnsRounding && !options.pipeline.precision.isQuantized() &&
      options.emit != Emit::Ranges)
    return fail("--learn-rounding goes with --precision=int8 or --emit=ranges");
  if (options.pipeline.precision.equalizesRanges && first >= Stage::Normalized)
    return fail("--equalize-ranges: channels are scaled on the way to stage normalized, not from "
                "stage " +
                stageName(first));
  if (options.pipeline.precision.keptEnds != "none" && options.pipeline.precision.type != "int8")
    return fail("--keep-ends goes with --precision=int8");
  // Passes that run at the same time would print into one another, and MLIR ends the process where
  // it is to keep what each of them was given.
  if (!options.printIrAfter.empty() && options.jobs != 1)
    return fail("--print-ir-after needs -j 1");
  for (StringRef option : options.mlir)
    if (options.jobs != 1 && (option.starts_with("--mlir-print-ir-") ||
                              option.starts_with("--mlir-pass-pipeline-local-reproducer")))
      return fail(option.split('=').first + " needs -j 1");
  if (StringRef report = options.report;
      !report.empty() && !report.ends_with(".json") && !report.ends_with(".html"))
    return fail("--report=" + options.report +
                ": JSON or a page is written; use a name ending in .json or .html");
  bool isArtefact =
      options.emit == Emit::Exe || options.emit == Emit::Lib || options.emit == Emit::Plan;
  if (!options.report.empty() && (options.stopAfter || !isArtefact))
    return fail("--report tells of artefacts; it goes with --emit=exe, lib and plan");
  return llvm::Error::success();
}

} // namespace

llvm::Expected<CameocOptions> cameo::parseCameocOptions(llvm::ArrayRef<const char *> arguments) {
  CameocOptions options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.starts_with("-") || argument == "-") {
      if (!options.input.empty())
        return fail("two input files: '" + options.input + "' and '" + argument + "'");
      options.input = argument.str();
      continue;
    }
    if (argument.starts_with("--mlir-")) {
      options.mlir.push_back(argument.str());
      continue;
    }
    bool isLong = argument.starts_with("--");
    StringRef name = isLong ? argument.split('=').first : argument.take_front(2);
    const Option *option =
        llvm::find_if(kOptions, [&](const Option &known) { return known.name == name; });
    if (option == std::end(kOptions))
      return fail("unknown option '" + name + "'; cameoc --help lists them");
    StringRef value = argument.drop_front(name.size());
    if (isLong && !option->value.empty() && !value.consume_front("="))
      return fail("'" + name + "' needs a value: " + name + "=" + option->value);
    if (!isLong && value.empty() && !option->value.empty()) {
      if (i + 1 == arguments.size())
        return fail("'" + name + "' needs a value: " + name + " " + option->value);
      value = arguments[++i];
    }
    if (option->value.empty() && !value.empty())
      return fail("'" + name + "' takes no value");
    if (llvm::Error error = option->set(options, value))
      return fail(name + ": " + llvm::toString(std::move(error)));
  }
  if (llvm::Error error = check(options))
    return std::move(error);
  addEnvironment(options);
  if (!options.targetGiven && (options.emit == Emit::Ptx || options.emit == Emit::Cubin))
    options.pipeline.targets = "sm_80"; // one architecture's code
  return options;
}

void cameo::printStep(StringRef step, const llvm::TimeRecord &time) {
  llvm::errs() << llvm::formatv("{0,-12} {1,10:f1} ms, {2,10:f1} ms of CPU\n", step,
                                time.getWallTime() * 1e3, time.getProcessTime() * 1e3);
}

void cameo::printCameocHelp(llvm::raw_ostream &output) {
  output
      << "cameoc MODEL.onnx -o FILE [options]\n"
         "Compiles an ONNX model into one executable file for NVIDIA GPUs. A model of the name - "
         "comes from\nstandard input, and its external data from the working directory.\n\n";
  for (const Option &option : kOptions) {
    std::string left = option.name.str();
    if (!option.value.empty())
      left += (option.name.starts_with("--") ? "=" : " ") + option.value.str();
    output << llvm::formatv("  {0,-28} ", left);
    // Words, wrapped.
    size_t column = 31;
    llvm::SmallVector<StringRef> words;
    option.help.split(words, ' ');
    for (StringRef word : words) {
      if (column + word.size() > 98) {
        output << "\n" << std::string(31, ' ');
        column = 31;
      }
      output << word << ' ';
      column += word.size() + 1;
    }
    output << "\n";
  }
  output
      << "\nMLIR's options for passes are taken too: --mlir-print-ir-after-all (and the others of "
         "that\nfamily, with -j 1), --mlir-timing, --mlir-pass-pipeline-crash-reproducer=FILE.\n";
  output << "\nStages:\n";
  for (const StageInfo &stage : stages())
    if (stage.stage != Stage::Binary) // what --emit writes
      output << llvm::formatv("  {0,-12} {1}\n", stage.name, stage.description);
}
