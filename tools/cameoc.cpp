// cameoc: compiles an ONNX model into a self-contained GPU executable.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/StageForm.h"
#include "codegen/emit/Code.h"
#include "codegen/emit/Manifest.h"
#include "codegen/emit/Report.h"
#include "codegen/schedule/ScheduleFile.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Differences.h"
#include "dialects/onnx/Export.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Ledger.h"
#include "dialects/rt/Rt.h"
#include "passes/Statistics.h"
#include "passes/linalg/Lowering.h"
#include "tools/CameocOptions.h"
#include "tools/InputShapes.h"
#include "tools/ModelInput.h"
#include "tools/StageFiles.h"
#include "tools/Version.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Timer.h"

#include <csignal>
#include <cstdlib>
#include <malloc.h>

using namespace mlir;
using namespace cameo;

namespace {

/// Says how long a part took, where asked.
class Stopwatch {
public:
  Stopwatch(bool enabled, StringRef what) : enabled(enabled), what(what) {
    if (enabled)
      start = llvm::TimeRecord::getCurrentTime();
  }
  ~Stopwatch() {
    if (!enabled)
      return;
    llvm::TimeRecord end = llvm::TimeRecord::getCurrentTime(false);
    end -= start;
    llvm::errs() << llvm::formatv("{0,-12} {1,10:f1} ms, {2,10:f1} ms of CPU\n", what,
                                  end.getWallTime() * 1e3, end.getProcessTime() * 1e3);
  }

private:
  bool enabled;
  StringRef what;
  llvm::TimeRecord start;
};

/// "conv1: " for a node, "file.mlir:3:7: " for text, nothing where nothing is known.
std::string describeLocation(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().getValue().str() + ": ";
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return llvm::formatv("{0}:{1}:{2}: ", file.getFilename().getValue(), file.getLine(),
                         file.getColumn());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string text = describeLocation(part); !text.empty())
        return text;
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return describeLocation(call.getCallee());
  return "";
}

void printDiagnostic(Diagnostic &diagnostic, bool warningsAreErrors) {
  StringRef severity = "error";
  bool isWarning = diagnostic.getSeverity() == DiagnosticSeverity::Warning;
  if (isWarning && !warningsAreErrors)
    severity = "warning";
  else if (diagnostic.getSeverity() == DiagnosticSeverity::Note)
    severity = "note";
  else if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
    severity = "remark";
  llvm::errs() << describeLocation(diagnostic.getLocation()) << severity << ": " << diagnostic.str()
               << (isWarning && warningsAreErrors ? " [--Werror]\n" : "\n");
  for (Diagnostic &note : diagnostic.getNotes())
    printDiagnostic(note, warningsAreErrors);
}

/// The assembler that is named or stands in $CUDA_HOME; empty where the PATH is to be searched.
std::string chosenPtxas(const CameocOptions &options) {
  const char *home = std::getenv("CUDA_HOME");
  if (!options.ptxas.empty() || !home || !*home)
    return options.ptxas;
  llvm::SmallString<256> path(home);
  llvm::sys::path::append(path, "bin", "ptxas");
  return llvm::sys::fs::exists(path) ? std::string(path) : std::string();
}

/// The folder for cubins that is named, or stands in $CAMEO_CACHE_DIR; empty for none.
std::string chosenCache(const CameocOptions &options) {
  const char *folder = std::getenv("CAMEO_CACHE_DIR");
  return !options.cacheDir.empty() || !folder ? options.cacheDir : folder;
}

class Compiler {
public:
  Compiler(const CameocOptions &options, std::string executable)
      : options(options), executable(std::move(executable)), threads(strategy()),
        context(registry(statistics), MLIRContext::Threading::DISABLED) {
    if (options.jobs != 1)
      context.setThreadPool(threads);
    // Notes with a whole kernel in generic form help nobody.
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      std::lock_guard<std::mutex> lock(printing);
      errors += diagnostic.getSeverity() == DiagnosticSeverity::Error ||
                (this->options.warningsAreErrors &&
                 diagnostic.getSeverity() == DiagnosticSeverity::Warning);
      printDiagnostic(diagnostic, this->options.warningsAreErrors);
      return success();
    });
  }

  int run() {
    LogicalResult result = compile();
    if (options.remarks && module)
      rt::remarkDecisions(*module);
    if (options.statistics)
      statistics.print(llvm::errs());
    // Whatever fails has said why; if it has not, that must not be silent.
    if (failed(result) && !errors)
      (void)report("compilation failed without a message; please report this, with the model");
    return failed(result) ? 1 : 0;
  }

private:
  static llvm::ThreadPoolStrategy strategyFor(unsigned jobs) {
    return jobs ? llvm::hardware_concurrency(jobs) : llvm::hardware_concurrency();
  }
  llvm::ThreadPoolStrategy strategy() const { return strategyFor(options.jobs); }
  static DialectRegistry registry(PassStatistics &statistics) {
    DialectRegistry result;
    result.insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, gpu::GPUDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect, onnx::OnnxDialect,
                  kernel::KernelDialect, rt::RtDialect>();
    statistics.attach(result);
    return result;
  }

  LogicalResult report(const Twine &message) {
    ++errors;
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }
  LogicalResult report(llvm::Error error) {
    // The handler has printed diagnostics already.
    std::string message = llvm::toString(std::move(error));
    return errors ? failure() : report(message);
  }

  void warn(const Twine &message) {
    errors += options.warningsAreErrors;
    llvm::errs() << (options.warningsAreErrors ? "error: " : "warning: ") << message
                 << (options.warningsAreErrors ? " [--Werror]\n" : "\n");
  }

  LogicalResult writeAll(StringRef path, StringRef bytes) {
    llvm::Error error = writeFile(path, 0644, [&](llvm::raw_fd_ostream &output) {
      output << bytes;
      return llvm::Error::success();
    });
    return error ? report(std::move(error)) : success();
  }

  /// What the assembler has to say of its cache.
  void tell(const Assembler::Messages &messages) {
    for (const std::string &message : messages.warnings)
      warn(message);
    for (const std::string &message : messages.remarks)
      if (options.remarks)
        llvm::errs() << "remark: " << message << "\n";
  }

  LogicalResult compile();
  LogicalResult read();
  std::vector<OutputName> outputs() const;
  LogicalResult runStages(Stage from, Stage to);
  LogicalResult checkPrintedPass(const PipelineOptions &pipeline);
  void printIrAfter(PassManager &passes);
  LogicalResult write();
  LogicalResult emitReport(const ManifestInfo &info, ArrayRef<CodeVariant> variants,
                           ArrayRef<Assembled> assembled);
  void keepGraph(Stage stage);
  LogicalResult writeSchedules();
  LogicalResult writeText(llvm::ArrayRef<CodeVariant> variants, const CodeOptions &code);
  llvm::Expected<CodeOptions> codeOptions();
  llvm::Error replaceCubinsByPtx();
  void dropAbsentTargets();
  std::string runtimeFile(StringRef name) const;

  const CameocOptions &options;
  std::string executable;
  llvm::DefaultThreadPool threads;
  PassStatistics statistics;
  MLIRContext context;
  std::mutex printing;
  unsigned errors = 0;
  OwningOpRef<ModuleOp> module;
  uint64_t modelHash = 0;
  SmallVector<TargetVariant> targets;
  std::vector<StageGraph> graphs;
};

LogicalResult Compiler::read() {
  Stopwatch stopwatch(options.time, "read");
  std::vector<std::string> inputs;
  if (!isStream(options.input))
    inputs = {options.input};
  if (options.startFrom) {
    inputs.push_back(options.input + ".weights");
    module = readStageFile(options.input, &context);
    modelHash = isStream(options.input) ? 0 : hashFile(options.input);
    if (!module)
      return failure();
    if (llvm::Error error = checkStageForm(*module, *options.startFrom, options.input))
      return report(std::move(error));
  } else {
    StringRef name = options.input;
    if (name.ends_with(".mlir") || name.ends_with(".mlirbc"))
      return report("'" + name +
                    "' is IR by its name, no ONNX model; --start-from=STAGE says at which stage");
    ModelInput input = readModel(options.input, &context);
    module = std::move(input.module);
    modelHash = input.hash;
    inputs.insert(inputs.end(), input.files.begin(), input.files.end());
  }
  if (!module)
    return failure();
  if (!options.schedules.empty())
    inputs.push_back(options.schedules);
  if (llvm::Error error = checkOutputs(inputs, outputs()))
    return report(std::move(error));
  if (options.startFrom)
    return success();
  if (options.remarks)
    onnx::remarkDifferences(*module);
  return fixInputShapes(*module, options.shapes);
}

/// The files that may be written.
std::vector<OutputName> Compiler::outputs() const {
  std::vector<OutputName> names;
  if (options.output != "-") {
    names.push_back({"-o", options.output});
    if (options.emit == Emit::Onnx)
      names.push_back({"-o's external data", options.output + ".data"});
    else if (options.stopAfter || options.emit == Emit::Mlir)
      names.push_back({"-o's weights", options.output + ".weights"});
  }
  if (!options.report.empty())
    names.push_back({"--report", options.report});
  return names;
}

LogicalResult Compiler::runStages(Stage from, Stage to) {
  PipelineOptions pipeline;
  pipeline.reportUnsupported = to >= Stage::Dispatched;
  pipeline.targets = options.target;
  pipeline.level = options.level;
  pipeline.schedules = options.schedules;
  pipeline.layout = options.layout;
  if (failed(checkPrintedPass(pipeline)))
    return failure();
  for (const StageInfo &info : stages()) {
    if (info.stage <= from || info.stage > to)
      continue;
    Stopwatch stopwatch(options.time, info.name);
    PassManager passes(&context, ModuleOp::getOperationName());
    populateStage(passes, info.stage, pipeline);
    if (options.printPipeline) {
      passes.printAsTextualPipeline(llvm::errs());
      llvm::errs() << "\n";
    }
    if (!options.printIrAfter.empty())
      printIrAfter(passes);
    if (failed(passes.run(*module)))
      return failure();
    // Weights that the stage has replaced: as many bytes as the model has, twice over.
    onnx::releaseUnusedConstants(*module);
    keepGraph(info.stage);
  }
  return success(!errors); // warnings may be errors
}

/// Whether some stage's pipeline has the pass that is to be printed after.
LogicalResult Compiler::checkPrintedPass(const PipelineOptions &pipeline) {
  if (options.printIrAfter.empty() || options.printIrAfter == "all")
    return success();
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const StageInfo &info : stages()) {
    PassManager passes(&context, ModuleOp::getOperationName());
    populateStage(passes, info.stage, pipeline);
    passes.printAsTextualPipeline(stream);
  }
  if (llvm::Regex("[(,]" + llvm::Regex::escape(options.printIrAfter) + "[,{)]").match(text))
    return success();
  return report("--print-ir-after: no pass of the pipeline is called '" +
                Twine(options.printIrAfter) + "'; --print-pipeline lists them");
}

/// Prints what passes have changed, on stderr; of large constants the names only.
void Compiler::printIrAfter(PassManager &passes) {
  StringRef wanted = options.printIrAfter;
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16).elideLargeResourceString(64);
  passes.enableIRPrinting([](Pass *, Operation *) { return false; },
                          [wanted](Pass *pass, Operation *) {
                            return wanted == "all" || wanted == pass->getArgument();
                          },
                          /*printModuleScope=*/false, /*printAfterOnlyOnChange=*/true,
                          /*printAfterOnlyOnFailure=*/false, llvm::errs(), flags);
}

LogicalResult Compiler::compile() {
  llvm::Expected<SmallVector<TargetVariant>> parsed = parseTargetSpec(options.target);
  if (!parsed)
    return report("--target: " + llvm::toString(parsed.takeError()));
  targets = std::move(*parsed);
  if (failed(read()))
    return failure();
  Stage from = options.startFrom.value_or(Stage::Imported);
  Stage to = Stage::Host;
  if (options.emit == Emit::Onnx)
    to = Stage::Precision;
  if (options.emit == Emit::Schedules)
    to = Stage::Scheduled;
  if (options.stopAfter)
    to = *options.stopAfter;
  if (from > to)
    return report("the input is past stage " + stageName(to) + ", which --emit=" +
                  (options.emit == Emit::Onnx ? "onnx" : "schedules") + " needs");
  keepGraph(from);
  if (failed(runStages(from, to)))
    return failure();
  if (options.emit == Emit::Onnx)
    return onnx::exportOnnxFile(*module, options.output);
  if (options.emit == Emit::Schedules)
    return writeSchedules();
  if (options.stopAfter || options.emit == Emit::Mlir) {
    if (llvm::Error error = writeStageFile(*module, options.output))
      return report(std::move(error));
    return success();
  }
  return write();
}

LogicalResult Compiler::writeSchedules() {
  llvm::Expected<std::string> text = scheduleFileOf(*module);
  if (!text)
    return report(text.takeError());
  return writeAll(options.output, *text);
}

/// The folder of stub and library: ../lib/cameo, seen from this program.
std::string Compiler::runtimeFile(StringRef name) const {
  llvm::SmallString<256> path(
      llvm::sys::path::parent_path(llvm::sys::path::parent_path(executable)));
  llvm::sys::path::append(path, "lib", "cameo", name);
  return std::string(path);
}

llvm::Expected<CodeOptions> Compiler::codeOptions() {
  CodeOptions code;
  std::string ptxas = chosenPtxas(options);
  code.ptx.ptxas = code.assemble.ptxas = ptxas;
  code.ptx.libdevice = options.libdevice;
  code.assemble.cache = chosenCache(options);
  code.simChecks = options.simChecks;
  code.simTrace = options.simTrace;
  code.simForms = options.simForms;
  code.remarks = options.remarks;
  if (options.emit == Emit::Ptx || llvm::none_of(targets, [](auto &t) { return t.cubin; }))
    return code;
  llvm::Expected<std::string> found = findPtxas(ptxas);
  if (!found)
    return found.takeError();
  if (found->empty())
    if (llvm::Error error = replaceCubinsByPtx())
      return std::move(error);
  return code;
}

/// Without ptxas there is PTX only, which the driver compiles for the GPU when the model is loaded.
llvm::Error Compiler::replaceCubinsByPtx() {
  const char *where = "NVIDIA's ptxas is neither in $CUDA_HOME/bin nor on the PATH";
  const char *hint = "; --ptxas=FILE names one";
  if (options.emit == Emit::Cubin)
    return llvm::createStringError(llvm::Twine(where) + ", so there are no cubins" + hint);
  std::string names;
  for (TargetVariant &target : targets)
    if (target.cubin) {
      target.cubin = false;
      target.ptx = true;
      names += (names.empty() ? "" : ", ") + target.target->name.str();
    }
  warn(Twine(where) + ": " + names +
       " as PTX only, which the driver compiles when the model is loaded" + hint);
  return llvm::Error::success();
}

/// --emit=ptx and --emit=cubin: the code of one architecture.
LogicalResult Compiler::writeText(ArrayRef<CodeVariant> variants, const CodeOptions &code) {
  SmallVector<const CodeVariant *> wanted;
  for (const CodeVariant &variant : variants)
    if (options.emit == Emit::Ptx ? variant.target.ptx || variant.target.cubin
                                  : variant.target.cubin)
      wanted.push_back(&variant);
  if (wanted.size() != 1)
    return report("--emit=" + Twine(options.emit == Emit::Ptx ? "ptx" : "cubin") +
                  " writes the code of one architecture; --target=" + options.target + " has " +
                  Twine(wanted.size()));
  llvm::Expected<std::string> text = emitVariantPtx(*wanted.front(), code);
  if (!text)
    return report(text.takeError());
  std::string bytes = *text;
  if (options.emit == Emit::Cubin) {
    llvm::Expected<std::unique_ptr<Assembler>> assembler = Assembler::create(code.assemble);
    if (!assembler)
      return report(assembler.takeError());
    llvm::Expected<Cubin> cubin = (*assembler)->assemble(*text, *wanted.front()->target.target);
    if (!cubin)
      return report(cubin.takeError());
    tell((*assembler)->finish());
    bytes.assign(cubin->data.begin(), cubin->data.end());
  }
  return writeAll(options.output, bytes);
}

/// Input of a late stage has the architectures that it has: of the default list those that are
/// there are meant, if any is.
void Compiler::dropAbsentTargets() {
  auto isThere = [&](const TargetVariant &target) {
    return llvm::any_of(module->getOps<rt::VariantOp>(), [&](rt::VariantOp variant) {
      return variant.getTarget().getArch() == target.target->name;
    });
  };
  if (llvm::any_of(targets, isThere))
    llvm::erase_if(targets, [&](const TargetVariant &target) { return !isThere(target); });
}

LogicalResult Compiler::write() {
  if (!options.targetGiven)
    dropAbsentTargets();
  llvm::Expected<CodeOptions> code = codeOptions();
  if (!code)
    return report(code.takeError());
  if (errors)
    return failure();
  llvm::Expected<std::vector<CodeVariant>> variants = findVariants(*module, targets);
  if (!variants)
    return report(variants.takeError());
  if (options.emit == Emit::Ptx || options.emit == Emit::Cubin)
    return writeText(*variants, *code);
  PayloadContents contents;
  std::vector<Assembled> assembled;
  {
    Stopwatch stopwatch(options.time, "binary");
    llvm::Expected<CodeSections> sections = emitSections(*variants, *code);
    if (!sections)
      return report(sections.takeError());
    contents.sections = std::move(sections->sections);
    assembled = std::move(sections->assembled);
    tell(sections->messages);
  }
  for (const Assembled &cubin : assembled)
    if (!cubin.warnings.empty())
      warn("ptxas, for " + cubin.target->name + ": " + StringRef(cubin.warnings).rtrim());
  if (errors)
    return failure();
  Stopwatch stopwatch(options.time, "write");
  contents.variantCount = variants->size();
  contents.module = *module;
  ManifestInfo info;
  info.compilerVersion = CAMEO_VERSION;
  info.modelName = options.input == "-" ? "stdin" : llvm::sys::path::stem(options.input).str();
  info.modelHash = modelHash;
  contents.manifest = makeManifest(*module, *variants, contents.sections, info);
  std::unique_ptr<llvm::MemoryBuffer> stub = llvm::MemoryBuffer::getMemBuffer("");
  if (options.emit != Emit::Plan) {
    std::string path = runtimeFile(options.emit == Emit::Exe ? "cameo-stub" : "libcameo-model.so");
    auto file = llvm::MemoryBuffer::getFile(path, false, false);
    if (!file)
      return report("cannot read '" + path +
                    "', which belongs to this compiler: " + file.getError().message());
    stub = std::move(*file);
  }
  if (llvm::Error error = writeArtefact(options.output, stub->getBuffer(), contents))
    return report(std::move(error));
  return options.report.empty() ? success() : emitReport(info, *variants, assembled);
}

LogicalResult Compiler::emitReport(const ManifestInfo &info, ArrayRef<CodeVariant> variants,
                                   ArrayRef<Assembled> assembled) {
  ReportContents contents{info.modelName, info.compilerVersion, *module, variants, assembled,
                          graphs};
  std::string text = StringRef(options.report).ends_with(".html") ? makeReportPage(contents)
                                                                  : makeReport(contents);
  return writeAll(options.report, text);
}

/// For the report: later stages have forgotten the graphs of those before.
void Compiler::keepGraph(Stage stage) {
  if (!options.report.empty() &&
      llvm::is_contained({Stage::Imported, Stage::Normalized, Stage::Dispatched}, stage))
    graphs.push_back(readGraph(stage, *module));
}

} // namespace

static void listOperators(raw_ostream &output) {
  output << "| Operator | Not supported of it |\n|---|---|\n";
  SmallVector<StringRef> names(supportedOperators().keys());
  llvm::sort(names);
  for (StringRef name : names)
    output << "| " << name << " | " << supportedOperators().lookup(name).limits << " |\n";
}

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
  if (!options) {
    llvm::errs() << "error: " << llvm::toString(options.takeError()) << "\n";
    return 1;
  }
  if (options->help) {
    printCameocHelp(llvm::outs());
    return 0;
  }
  if (options->version) {
    llvm::Expected<std::string> ptxas = findPtxas(chosenPtxas(*options));
    if (!ptxas) {
      llvm::errs() << "error: " << llvm::toString(ptxas.takeError()) << "\n";
      return 1;
    }
    printVersions(llvm::outs(), *ptxas);
    return 0;
  }
  if (options->listOperators) {
    listOperators(llvm::outs());
    return 0;
  }
  std::string executable =
      llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&main));
  return Compiler(*options, executable).run();
}
