// cameoc: compiles an ONNX model into a self-contained GPU executable.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Compile.h"
#include "codegen/ModelInput.h"
#include "codegen/StageForm.h"
#include "codegen/calibrate/CalibrationCache.h"
#include "codegen/schedule/ScheduleFile.h"
#include "dialects/onnx/Differences.h"
#include "dialects/onnx/Export.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/OpsetConversion.h"
#include "passes/OperatorInterfaces.h"
#include "passes/expand/Expander.h"
#include "passes/graph/ControlFlow.h"
#include "passes/linalg/Lowering.h"
#include "passes/precision/Policy.h"
#include "tools/Accuracy.h"
#include "tools/Calibration.h"
#include "tools/CameocOptions.h"
#include "tools/CrashReports.h"
#include "tools/ExitCode.h"
#include "tools/Inspect.h"
#include "tools/ModelHeader.h"
#include "tools/OptionHints.h"
#include "tools/OutputFiles.h"
#include "tools/PassPlugins.h"
#include "tools/PassPrinting.h"
#include "tools/StageFiles.h"
#include "tools/Summary.h"
#include "tools/Version.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <csignal>
#include <malloc.h>
#include <unistd.h>

using namespace mlir;
using namespace cameo;

namespace {

/// An error about an option, or about the samples or the cache that one names, begins with it.
bool isOfUsage(const CompileMessage &message) {
  return message.severity == CompileMessage::Severity::Error &&
         llvm::any_of(
             ArrayRef<StringRef>{"--", "samples '", "calibration cache '",
                                 "calibration: no sample"},
             [&](StringRef prefix) { return StringRef(message.text).starts_with(prefix); });
}

/// Whether the system has refused to read or write.
bool isOfSystem(const llvm::Error &error) {
  bool found = false;
  llvm::visitErrors(error, [&](const llvm::ErrorInfoBase &info) {
    std::error_code code = info.convertToErrorCode();
    found |=
        code.category() == std::generic_category() || code.category() == std::system_category();
  });
  return found;
}

/// Why a file cannot be read; success where it can.
std::error_code readability(StringRef path) {
  return access(path.str().c_str(), R_OK) == 0 ? std::error_code()
                                               : std::error_code(errno, std::generic_category());
}

llvm::Error checkInput(StringRef path) {
  if (isStream(path))
    return llvm::Error::success();
  if (std::error_code error = readability(path))
    return llvm::createStringError(error, "cannot open '" + path + "': " + error.message());
  if (llvm::sys::fs::is_directory(path) || isDevice(path))
    return llvm::createStringError(std::make_error_code(std::errc::is_a_directory),
                                   "cannot open '" + path + "': not a regular file");
  return llvm::Error::success();
}

SmallVector<StringRef> scheduleFiles(const CameocOptions &options) {
  SmallVector<StringRef> files;
  StringRef(options.pipeline.schedules).split(files, ',', -1, /*KeepEmpty=*/false);
  return files;
}

/// Files that options name must be there, and the output must be no folder, before anything is compiled.
llvm::Error checkNamedFiles(const CameocOptions &options) {
  if (llvm::Error error = checkInput(options.input))
    return error;
  SmallVector<std::pair<StringRef, StringRef>> files = {
      {"ranges in", options.pipeline.precision.ranges},
      {"samples", options.calibration.data},
      {"samples", options.accuracy.data},
      {"labels", options.accuracy.labels}};
  for (StringRef file : scheduleFiles(options))
    files.push_back({"schedules", file});
  for (auto [what, path] : files) {
    if (path.empty())
      continue;
    if (std::error_code error = readability(path))
      return llvm::createStringError(error, what + " '" + path + "': " + error.message());
    if (isDevice(path))
      return llvm::createStringError(what + " '" + path + "': not a regular file");
  }
  const std::string &ptxas = options.pipeline.ptxas;
  if (!ptxas.empty() && !llvm::sys::fs::can_execute(ptxas))
    return llvm::createStringError("no executable ptxas at " + ptxas);
  if (llvm::Error error = checkCalibrationCache(options.calibration))
    return error;
  if (llvm::sys::fs::is_directory(options.output))
    return llvm::createStringError(std::make_error_code(std::errc::is_a_directory),
                                   "cannot write '" + options.output + "': it is a folder");
  return llvm::Error::success();
}

/// Of a file that could not be read.
void noteModelHint(const Messages &messages, StringRef path) {
  if (StringRef hint = modelHint(path); !hint.empty())
    messages.note("'" + path + "' is " + hint);
}

/// One run of cameoc: from its arguments to its files.
class Invocation {
public:
  /// `accuracy` is what --accuracy has found; null without it.
  Invocation(const CameocOptions &options, PassPrinting &printing, StringRef executable,
             const CalibratedRanges &ranges, const AccuracyResult *accuracy)
      : options(options), printing(printing), executable(executable), ranges(ranges),
        accuracy(accuracy), compiler(compileOptions()) {}

  int run() {
    LogicalResult result = compile();
    if (options.remarks)
      compiler.remarkDecisions();
    if (options.statistics)
      compiler.statistics().print(llvm::errs());
    // Whatever fails has said why; if it has not, that must not be silent.
    if (failed(result) && !compiler.hasErrors())
      (void)compiler.fail(
          "compilation failed without a message; please report this, with the model");
    if (failed(result))
      return isUsage || llvm::any_of(compiler.messages(), isOfUsage) ? Usage : Negative;
    return Good;
  }

private:
  CompileOptions compileOptions();
  LogicalResult compile();
  LogicalResult read();
  LogicalResult checkFiles();
  LogicalResult write();
  LogicalResult writeCode();
  LogicalResult writeArtefactFile();
  std::vector<std::string> inputs() const;
  LogicalResult writeReports();
  LogicalResult writeDepfile();
  LogicalResult writeText(StringRef path, StringRef text);
  LogicalResult failToWrite(llvm::Error error);
  void summarise();

  const CameocOptions &options;
  PassPrinting &printing;
  StringRef executable;
  const CalibratedRanges &ranges;
  const AccuracyResult *accuracy;
  Compiler compiler;
  Summary summary;
  std::optional<MessageProgress> progress; // of kernels; it may be a bar on the terminal
  bool isUsage = false;                    // what has failed is an option or a file
};

CompileOptions Invocation::compileOptions() {
  CompileOptions result;
  result.pipeline = options.pipeline;
  result.shapes = options.shapes;
  result.values = options.values;
  result.states = options.states;
  result.overridable = options.overridable;
  result.code = codeTools(options);
  result.code.simChecks = options.simChecks;
  result.code.simChecksOnly = options.simChecksOnly;
  result.code.simTrace = options.simTrace;
  result.code.simForms = options.simForms;
  result.code.simQuick = options.simQuick;
  result.dropAbsentTargets = !options.targetGiven;
  result.warningsAreErrors = options.warningsAreErrors;
  result.code.remarks = options.remarks;
  result.keepGraphs = !options.reports.empty();
  // Whichever stages are reached on the way to the last.
  result.pipeline.reportUnsupported = options.lastStage() >= Stage::Dispatched;
  result.jobs = options.jobs;
  result.onMessage = [this](const CompileMessage &message) {
    progress.reset();
    options.messages(message);
  };
  if (!options.quiet)
    result.onProgress = [this](StringRef what, uint64_t done, uint64_t all) {
      if (!progress)
        progress.emplace(options.messages);
      progress->update(what, done, all);
      if (done == all)
        progress.reset();
    };
  result.onPasses = [this](PassManager &passes) { printing.attach(passes); };
  if (options.time)
    result.onStep = printStep;
  return result;
}

LogicalResult Invocation::compile() {
  if (failed(read()) || failed(checkFiles()))
    return failure();
  if (*compiler.stage() > options.lastStage())
    return compiler.fail("the input is past stage " + stageName(options.lastStage()) +
                         ", which --emit=" + (options.emit == Emit::Onnx ? "onnx" : "schedules") +
                         " needs");
  if (*compiler.stage() < Stage::Precision && options.lastStage() == Stage::Host) {
    if (failed(compiler.runTo(Stage::Precision)))
      return failure();
    summary.readProducts(compiler.module(), compiler.statistics());
  }
  return success(succeeded(compiler.runTo(options.lastStage())) && succeeded(write()) &&
                 succeeded(writeDepfile()));
}

LogicalResult Invocation::read() {
  StringRef name = options.input;
  if (!options.startFrom) {
    if (name.ends_with(".mlir") || name.ends_with(".mlirbc")) {
      isUsage = true;
      return compiler.fail(
          "'" + name +
          "' is IR by its name, no ONNX model; --start-from=STAGE says at which stage");
    }
    if (succeeded(compiler.read(name)))
      return success();
    noteModelHint(options.messages, name);
    return failure();
  }
  OwningOpRef<ModuleOp> module;
  {
    StepTimer timer = compiler.timeStep("read");
    module = readStageFile(name, &compiler.context());
  }
  if (!module) {
    if (name.ends_with(".onnx"))
      options.messages.note(
          "'" + name +
          "' is an ONNX model by its name; --start-from is of IR that --stop-after wrote");
    return failure();
  }
  if (llvm::Error error = checkStageForm(*module, *options.startFrom, name))
    return compiler.fail(std::move(error));
  return compiler.take(std::move(module), *options.startFrom,
                       name == "-" ? "stdin" : llvm::sys::path::stem(name),
                       isStream(name) ? 0 : hashFile(name));
}

std::vector<std::string> Invocation::inputs() const {
  std::vector<std::string> inputs = compiler.filesRead();
  if (!isStream(options.input))
    inputs.push_back(options.input);
  if (std::string weights = options.input + ".weights";
      options.startFrom && llvm::sys::fs::exists(weights))
    inputs.push_back(std::move(weights));
  for (const std::string *file :
       {&options.pipeline.precision.ranges, &options.calibration.data, &options.calibration.cache,
        &options.accuracy.data, &options.accuracy.labels, &options.pipeline.libdevice})
    if (!file->empty())
      inputs.push_back(*file);
  for (StringRef file : scheduleFiles(options))
    inputs.push_back(file.str());
  for (const auto &[name, value] : options.values)
    if (!value.file.empty())
      inputs.push_back(value.file);
  llvm::append_range(inputs, options.passPlugins);
  return inputs;
}

/// No output may be an input.
LogicalResult Invocation::checkFiles() {
  std::vector<OutputName> outputs;
  if (options.output != "-") {
    outputs.push_back({"-o", options.output});
    if (options.emit == Emit::Onnx)
      outputs.push_back({"-o's external data", options.output + ".data"});
    else if (options.stopAfter || options.emit == Emit::Mlir)
      outputs.push_back({"-o's weights", options.output + ".weights"});
  }
  for (const std::string &report : options.reports)
    outputs.push_back({"--report", report});
  for (auto [option, path] :
       {std::pair("--header", &options.header), std::pair("--depfile", &options.depfile)})
    if (!path->empty())
      outputs.push_back({option, *path});
  if (llvm::Error error = checkOutputs(inputs(), outputs)) {
    isUsage = true;
    return compiler.fail(std::move(error));
  }
  return success();
}

LogicalResult Invocation::write() {
  if (options.emit == Emit::Onnx)
    return onnx::exportOnnxFile(compiler.module(), options.output);
  if (options.stopAfter || options.emit == Emit::Mlir) {
    llvm::Error error = writeStageFile(compiler.module(), options.output);
    return error ? failToWrite(std::move(error)) : success();
  }
  if (options.emit == Emit::Schedules) {
    llvm::Expected<std::string> text = scheduleFileOf(compiler.module());
    return text ? writeText(options.output, *text) : compiler.fail(text.takeError());
  }
  if (options.emit == Emit::Ptx || options.emit == Emit::Cubin)
    return writeCode();
  return writeArtefactFile();
}

LogicalResult Invocation::writeCode() {
  FailureOr<std::string> code =
      options.emit == Emit::Ptx ? compiler.emitPtx() : compiler.emitCubin();
  return failed(code) ? failure() : writeText(options.output, *code);
}

/// What executables begin with, in ../lib/cameo seen from this program.
static StringRef stubName(Emit emit) {
  return emit == Emit::Exe      ? "cameo-stub"
         : emit == Emit::Tuning ? "cameo-tuner"
                                : "libcameo-model.so";
}

LogicalResult Invocation::writeArtefactFile() {
  if (failed(options.emit == Emit::Tuning ? compiler.emitTuning() : compiler.emit()))
    return failure();
  StepTimer timer = compiler.timeStep("write");
  std::unique_ptr<llvm::MemoryBuffer> stub = llvm::MemoryBuffer::getMemBuffer("");
  if (options.emit != Emit::Plan) {
    llvm::SmallString<256> path(
        llvm::sys::path::parent_path(llvm::sys::path::parent_path(executable)));
    llvm::sys::path::append(path, "lib", "cameo", stubName(options.emit));
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file)
      return compiler.fail("cannot read '" + path +
                           "', which belongs to this compiler: " + file.getError().message());
    stub = std::move(*file);
  }
  // Who loads a library or a plan need not be able to execute it.
  unsigned mode = options.emit == Emit::Exe || options.emit == Emit::Tuning ? 0755 : 0644;
  if (llvm::Error error = writeFile(options.output, mode, [&](llvm::raw_fd_ostream &output) {
        writeArtefact(output, stub->getBuffer(), compiler.payload());
        return llvm::Error::success();
      }))
    return failToWrite(std::move(error));
  if (failed(writeReports()))
    return failure();
  if (!options.header.empty() &&
      failed(writeText(options.header, modelHeader(compiler.payload().manifest,
                                                   llvm::sys::path::filename(options.output)))))
    return failure();
  if (!options.quiet && options.emit != Emit::Tuning)
    summarise();
  return success();
}

LogicalResult Invocation::writeReports() {
  if (options.reports.empty())
    return success();
  ReportContents report = compiler.report();
  report.calibration = ranges.shown();
  if (accuracy)
    report.accuracy = accuracy->json();
  for (const std::string &path : options.reports)
    if (failed(writeText(path, StringRef(path).ends_with(".html") ? makeReportPage(report)
                                                                  : makeReport(report))))
      return failure();
  return success();
}

LogicalResult Invocation::writeDepfile() {
  return options.depfile.empty()
             ? success()
             : writeText(options.depfile, dependencyRule(options.output, inputs()));
}

LogicalResult Invocation::writeText(StringRef path, StringRef text) {
  llvm::Error error = writeFile(path, 0644, [&](llvm::raw_fd_ostream &output) {
    output << text;
    return llvm::Error::success();
  });
  return error ? failToWrite(std::move(error)) : success();
}

LogicalResult Invocation::failToWrite(llvm::Error error) {
  isUsage |= isOfSystem(error);
  return compiler.fail(std::move(error));
}

void Invocation::summarise() {
  llvm::TimeRecord time = llvm::TimeRecord::getCurrentTime(false);
  time -= options.start;
  std::string lines;
  llvm::raw_string_ostream output(lines);
  summary.print(output, options.output, compiler.payload().manifest, time.getWallTime(),
                options.pipeline.precision, accuracy);
  options.messages.summary(lines);
}

CalibrationRequest calibrationRequest(const CameocOptions &options) {
  CalibrationRequest request;
  request.model = options.input;
  request.isForInt8 = options.pipeline.precision.isQuantized() || options.emit == Emit::Ranges;
  request.isQuiet = options.quiet;
  CompileOptions &compile = request.compile;
  compile.shapes = options.shapes;
  compile.values = options.values;
  compile.overridable = options.overridable;
  compile.warningsAreErrors = options.warningsAreErrors;
  compile.jobs = options.jobs;
  compile.code = codeTools(options);
  compile.onMessage = options.messages;
  const PrecisionOptions &precision = options.pipeline.precision;
  compile.pipeline.strict = options.pipeline.strict;
  compile.pipeline.insertedPasses = options.pipeline.insertedPasses;
  CalibrationOptions &calibration = request.calibration;
  calibration = options.calibration;
  calibration.device = options.device.value_or(RunDevice());
  calibration.threads = options.jobs;
  calibration.countsByKernels =
      options.countsByKernels.value_or(calibration.device.kind == CAMEO_DEVICE_CUDA);
  calibration.correctsBiases = precision.correctsBiases;
  calibration.scalesChannels = precision.scalesChannels;
  if (options.time)
    compile.onStep = calibration.onStep = printStep;
  for (const std::string *file : {&options.accuracy.data, &options.accuracy.labels})
    if (!file->empty())
      request.inputs.push_back(*file);
  if (options.output != "-")
    request.outputs.push_back({"-o", options.output});
  return request;
}

/// The opsets that define the operator anew.
std::string opsetsOf(StringRef op) {
  std::string text;
  for (const onnx::ConversionRow &row : onnx::conversionRows())
    if (row.op == op)
      text += (text.empty() ? "" : ", ") + std::to_string(row.sinceVersion);
  return text;
}

void listOperators(raw_ostream &output) {
  output << "| Operator | Opsets | Computed by | Not supported of it |\n|---|---|---|---|\n";
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadOperators(context);
  for (OperationName op : operatorsOf(context)) {
    const LoweringRow *lowering = onnx::rowOf<LoweringModel>(op);
    const ExpansionRow *expansion = onnx::rowOf<ExpansionModel>(op);
    const StringRef *folded = onnx::rowOf<ControlFlowModel>(op);
    if (!lowering && !expansion && !folded)
      continue;
    SmallVector<StringRef> ways;
    if (lowering)
      ways.push_back("kernels");
    if (expansion)
      ways.push_back("other operators");
    if (folded)
      ways.push_back("the compiler, or the plan");
    if (op.hasInterface<onnx::HostValueInterface>())
      ways.push_back("the host, for shapes");
    output << "| " << op.stripDialect() << " | " << opsetsOf(op.stripDialect()) << " | "
           << llvm::join(ways, "; ") << " | "
           << (lowering    ? lowering->limits
               : expansion ? expansion->limits
                           : *folded)
           << " |\n";
  }
}

void listPrecisionPolicy(raw_ostream &output) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadOperators(context);
  printPrecisionPolicy(output, context);
}

int fail(const Messages &messages, llvm::Error error, ExitCode code) {
  (void)messages.fail(std::move(error));
  return code;
}

int inspect(const CameocOptions &options) {
  CompileOptions compile;
  compile.shapes = options.shapes;
  compile.values = options.values;
  compile.overridable = options.overridable;
  compile.jobs = options.jobs;
  bool isUsage = false;
  compile.onMessage = [&](const CompileMessage &message) {
    isUsage |= isOfUsage(message);
    options.messages(message);
  };
  if (llvm::Error error = checkInput(options.input))
    return fail(options.messages, std::move(error), Usage);
  if (succeeded(inspectModel(options.input, compile, options.inspectAsJson, llvm::outs())))
    return Good;
  noteModelHint(options.messages, options.input);
  return isUsage ? Usage : Negative;
}

/// What is printed instead of compiling anything; nothing where something is to be compiled.
std::optional<int> answer(const CameocOptions &options) {
  if (options.help)
    printCameocHelp(llvm::outs());
  else if (options.helpAll)
    printAllCameocHelp(llvm::outs());
  else if (options.listOperators)
    listOperators(llvm::outs());
  else if (options.listPrecisionPolicy)
    listPrecisionPolicy(llvm::outs());
  else if (options.listDifferences)
    onnx::printDifferences(llvm::outs());
  else if (options.version) {
    llvm::Expected<std::string> ptxas = findPtxas(options.pipeline.ptxas);
    if (!ptxas)
      return fail(options.messages, ptxas.takeError(), Usage);
    printVersions(llvm::outs(), *ptxas);
  } else if (options.inspect)
    return inspect(options);
  else
    return std::nullopt;
  return Good;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  reportCrashes(ArrayRef<const char *>(argv, argc));
  // Weights have mappings of their own, which go back to the system as soon as they are freed. (By
  // default the C library puts ever larger blocks into the heap, where they leave holes.)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // A limit on the size of files is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  llvm::Expected<CameocOptions> options =
      parseCameocOptions(ArrayRef<const char *>(argv, argc).drop_front());
  if (!options)
    return fail(Messages::of(ArrayRef<const char *>(argv, argc)), options.takeError(), Usage);
  if (std::optional<int> code = answer(*options)) {
    llvm::Error error = flushStandardOutput();
    return error ? fail(options->messages, std::move(error), Usage) : *code;
  }
  if (llvm::Error error = checkNamedFiles(*options))
    return fail(options->messages, std::move(error), Usage);
  // IR is a reproducer by itself, and a stream cannot be read twice.
  if (!options->startFrom && !isStream(options->input))
    reproduceCrashes();
  std::string executable =
      llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&main));
  if (llvm::Error error = insertPasses(*options))
    return fail(options->messages, std::move(error), Usage);
  llvm::Expected<std::unique_ptr<PassPrinting>> printing = PassPrinting::create(*options);
  if (!printing)
    return fail(options->messages, printing.takeError(), Usage);
  if (options->device)
    if (llvm::Expected<std::string> targets = options->device->targets(); !targets)
      return fail(options->messages, targets.takeError(), DeviceFailure);
  CalibratedRanges ranges(options->messages);
  if (options->isCalibrated()) {
    CalibrationRequest request = calibrationRequest(*options);
    bool isRefused = false; // the model, and not its data
    request.compile.onMessage = [&](const CompileMessage &message) {
      isRefused |= message.severity == CompileMessage::Severity::Error && !isOfUsage(message);
      options->messages(message);
    };
    if (failed(ranges.make(request)))
      return isRefused ? Negative : Usage;
    if (options->emit == Emit::Ranges)
      return failed(ranges.write(options->output)) ? Usage : Good;
  } else if (const std::string &file = options->pipeline.precision.ranges; !file.empty()) {
    if (failed(ranges.read(file)))
      return Usage;
  }
  options->pipeline.precision.recorded = ranges.recorded();
  std::optional<AccuracyResult> accuracy;
  if (options->accuracy.contract) {
    llvm::Expected<AccuracyResult> found = findKeptLayers(*options);
    if (!found)
      return fail(options->messages, found.takeError(), Negative);
    accuracy = std::move(*found);
    keepLayers(*accuracy, *options);
  }
  return Invocation(*options, **printing, executable, ranges, accuracy ? &*accuracy : nullptr)
      .run();
}
