// cameoc: compiles an ONNX model into a self-contained GPU executable.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Compile.h"
#include "codegen/ModelInput.h"
#include "codegen/StageForm.h"
#include "codegen/calibrate/CalibrationCache.h"
#include "codegen/schedule/ScheduleFile.h"
#include "dialects/onnx/Export.h"
#include "passes/linalg/Lowering.h"
#include "passes/precision/Policy.h"
#include "tools/Accuracy.h"
#include "tools/Calibration.h"
#include "tools/CameocOptions.h"
#include "tools/OutputFiles.h"
#include "tools/PassPrinting.h"
#include "tools/StageFiles.h"
#include "tools/Version.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <csignal>
#include <malloc.h>

using namespace mlir;
using namespace cameo;

namespace {

/// One run of cameoc: from its arguments to its files.
class Invocation {
public:
  /// `accuracy` is what --accuracy has found; null without it.
  Invocation(const CameocOptions &options, PassPrinting &printing, StringRef executable,
             const AccuracyResult *accuracy)
      : options(options), printing(printing), executable(executable), accuracy(accuracy),
        compiler(compileOptions()) {}

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
    return failed(result) ? 1 : 0;
  }

private:
  CompileOptions compileOptions();
  LogicalResult compile();
  LogicalResult read();
  LogicalResult checkFiles();
  LogicalResult write();
  LogicalResult writeCode();
  LogicalResult writeArtefactFile();
  LogicalResult writeText(StringRef path, StringRef text);
  Stage lastStage() const;

  const CameocOptions &options;
  PassPrinting &printing;
  StringRef executable;
  const AccuracyResult *accuracy;
  Compiler compiler;
};

CompileOptions Invocation::compileOptions() {
  CompileOptions result;
  result.pipeline = options.pipeline;
  result.shapes = options.shapes;
  result.code = codeTools(options);
  result.code.simChecks = options.simChecks;
  result.code.simTrace = options.simTrace;
  result.code.simForms = options.simForms;
  result.dropAbsentTargets = !options.targetGiven;
  result.warningsAreErrors = options.warningsAreErrors;
  result.code.remarks = options.remarks;
  result.keepGraphs = !options.report.empty();
  result.jobs = options.jobs;
  result.onMessage = [](const CompileMessage &message) { llvm::errs() << message; };
  result.onPasses = [this](PassManager &passes) { printing.attach(passes); };
  if (options.time)
    result.onStep = printStep;
  return result;
}

/// The stage whose IR is written, or which what is written is made of.
Stage Invocation::lastStage() const {
  if (options.stopAfter)
    return *options.stopAfter;
  return options.emit == Emit::Onnx        ? Stage::Precision
         : options.emit == Emit::Schedules ? Stage::Scheduled
                                           : Stage::Host;
}

LogicalResult Invocation::compile() {
  if (failed(read()) || failed(checkFiles()))
    return failure();
  if (*compiler.stage() > lastStage())
    return compiler.fail("the input is past stage " + stageName(lastStage()) + ", which --emit=" +
                         (options.emit == Emit::Onnx ? "onnx" : "schedules") + " needs");
  return success(succeeded(compiler.runTo(lastStage())) && succeeded(write()));
}

LogicalResult Invocation::read() {
  StringRef name = options.input;
  if (!options.startFrom) {
    if (name.ends_with(".mlir") || name.ends_with(".mlirbc"))
      return compiler.fail(
          "'" + name +
          "' is IR by its name, no ONNX model; --start-from=STAGE says at which stage");
    return compiler.read(name);
  }
  OwningOpRef<ModuleOp> module;
  {
    StepTimer timer = compiler.timeStep("read");
    module = readStageFile(name, &compiler.context());
  }
  if (!module)
    return failure();
  if (llvm::Error error = checkStageForm(*module, *options.startFrom, name))
    return compiler.fail(std::move(error));
  return compiler.take(std::move(module), *options.startFrom,
                       name == "-" ? "stdin" : llvm::sys::path::stem(name),
                       isStream(name) ? 0 : hashFile(name));
}

/// No output may be an input.
LogicalResult Invocation::checkFiles() {
  std::vector<std::string> inputs = compiler.filesRead();
  if (!isStream(options.input))
    inputs.push_back(options.input);
  if (options.startFrom)
    inputs.push_back(options.input + ".weights");
  for (const std::string *file : {&options.pipeline.precision.ranges, &options.calibration.data,
                                  &options.accuracy.data, &options.accuracy.labels})
    if (!file->empty())
      inputs.push_back(*file);
  SmallVector<StringRef> schedules;
  StringRef(options.pipeline.schedules).split(schedules, ',', -1, /*KeepEmpty=*/false);
  for (StringRef file : schedules)
    inputs.push_back(file.str());
  std::vector<OutputName> outputs;
  if (options.output != "-") {
    outputs.push_back({"-o", options.output});
    if (options.emit == Emit::Onnx)
      outputs.push_back({"-o's external data", options.output + ".data"});
    else if (options.stopAfter || options.emit == Emit::Mlir)
      outputs.push_back({"-o's weights", options.output + ".weights"});
  }
  if (!options.report.empty())
    outputs.push_back({"--report", options.report});
  if (llvm::Error error = checkOutputs(inputs, outputs))
    return compiler.fail(std::move(error));
  return success();
}

LogicalResult Invocation::write() {
  if (options.emit == Emit::Onnx)
    return onnx::exportOnnxFile(compiler.module(), options.output);
  if (options.stopAfter || options.emit == Emit::Mlir) {
    llvm::Error error = writeStageFile(compiler.module(), options.output);
    return error ? compiler.fail(std::move(error)) : success();
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
  if (llvm::Error error = writeArtefact(options.output, stub->getBuffer(), compiler.payload()))
    return compiler.fail(std::move(error));
  if (options.report.empty())
    return success();
  ReportContents report = compiler.report();
  if (const std::string &ranges = options.pipeline.precision.ranges; !ranges.empty())
    report.calibration = calibrationShown(ranges);
  if (accuracy)
    report.accuracy = accuracy->json();
  return writeText(options.report, StringRef(options.report).ends_with(".html")
                                       ? makeReportPage(report)
                                       : makeReport(report));
}

LogicalResult Invocation::writeText(StringRef path, StringRef text) {
  llvm::Error error = writeFile(path, 0644, [&](llvm::raw_fd_ostream &output) {
    output << text;
    return llvm::Error::success();
  });
  return error ? compiler.fail(std::move(error)) : success();
}

CalibrationRequest calibrationRequest(const CameocOptions &options) {
  CalibrationRequest request;
  request.model = options.input;
  CompileOptions &compile = request.compile;
  compile.shapes = options.shapes;
  compile.warningsAreErrors = options.warningsAreErrors;
  compile.jobs = options.jobs;
  compile.code = codeTools(options);
  compile.onMessage = [](const CompileMessage &message) { llvm::errs() << message; };
  const PrecisionOptions &precision = options.pipeline.precision;
  compile.pipeline.precision.equalizesRanges = precision.equalizesRanges;
  compile.pipeline.strict = options.pipeline.strict;
  CalibrationOptions &calibration = request.calibration;
  calibration = options.calibration;
  calibration.device = options.device.value_or(RunDevice());
  calibration.threads = options.jobs;
  calibration.countsByKernels =
      options.countsByKernels.value_or(calibration.device.kind == CAMEO_DEVICE_CUDA);
  calibration.correctsBiases = precision.correctsBiases;
  calibration.learnsRounding = precision.learnsRounding;
  if (options.time)
    compile.onStep = calibration.onStep = printStep;
  for (const std::string *file : {&options.accuracy.data, &options.accuracy.labels})
    if (!file->empty())
      request.inputs.push_back(*file);
  if (options.output != "-")
    request.outputs.push_back({"-o", options.output});
  return request;
}

void listOperators(raw_ostream &output) {
  output << "| Operator | Not supported of it |\n|---|---|\n";
  SmallVector<StringRef> names(supportedOperators().keys());
  llvm::sort(names);
  for (StringRef name : names)
    output << "| " << name << " | " << supportedOperators().lookup(name).limits << " |\n";
}

int fail(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  llvm::setBugReportMsg("cameoc has a bug: it ended without a result. Please report it with the "
                        "model and the command line below.\n");
  llvm::InitLLVM init(argc, argv);
  // Weights have mappings of their own, which go back to the system as soon as they are freed. (By
  // default the C library puts ever larger blocks into the heap, where they leave holes.)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // A limit on the size of files is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  llvm::Expected<CameocOptions> options =
      parseCameocOptions(ArrayRef<const char *>(argv, argc).drop_front());
  if (!options)
    return fail(options.takeError());
  if (options->help) {
    printCameocHelp(llvm::outs());
    return 0;
  }
  if (options->version) {
    llvm::Expected<std::string> ptxas = findPtxas(options->pipeline.ptxas);
    if (!ptxas)
      return fail(ptxas.takeError());
    printVersions(llvm::outs(), *ptxas);
    return 0;
  }
  if (options->listOperators) {
    listOperators(llvm::outs());
    return 0;
  }
  if (options->listPrecisionPolicy) {
    printPrecisionPolicy(llvm::outs());
    return 0;
  }
  std::string executable =
      llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&main));
  llvm::Expected<std::unique_ptr<PassPrinting>> printing = PassPrinting::create(*options);
  if (!printing)
    return fail(printing.takeError());
  CalibratedRanges ranges;
  if (options->isCalibrated()) {
    if (failed(ranges.make(calibrationRequest(*options))))
      return 1;
    if (options->emit == Emit::Ranges)
      return failed(ranges.write(options->output));
    llvm::Expected<std::string> file = ranges.file();
    if (!file)
      return fail(file.takeError());
    options->pipeline.precision.ranges = *file;
  }
  std::optional<AccuracyResult> accuracy;
  if (options->accuracy.contract) {
    llvm::Expected<AccuracyResult> found = findKeptLayers(*options);
    if (!found)
      return fail(found.takeError());
    accuracy = std::move(*found);
    keepLayers(*accuracy, *options);
  }
  return Invocation(*options, **printing, executable, accuracy ? &*accuracy : nullptr).run();
}
