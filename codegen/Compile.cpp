// Model ==> stages ==> code ==> artefact.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Compile.h"

#include "codegen/ModelInput.h"
#include "codegen/PassWatch.h"
#include "codegen/States.h"
#include "codegen/Version.h"
#include "codegen/emit/Manifest.h"
#include "codegen/tune/Bundle.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Differences.h"
#include "dialects/onnx/Import.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Ledger.h"
#include "dialects/rt/Rt.h"
#include "passes/OperatorInterfaces.h"
#include "passes/precision/RecordedRanges.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Action.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace mlir;
using namespace cameo;

//===-- Messages ------------------------------------------------------------------------------===//

StringRef cameo::nameOf(CompileMessage::Severity severity) {
  switch (severity) {
  case CompileMessage::Severity::Error:
    return "error";
  case CompileMessage::Severity::Warning:
    return "warning";
  case CompileMessage::Severity::Remark:
    return "remark";
  case CompileMessage::Severity::Note:
    return "note";
  }
  llvm_unreachable("no other severity");
}

raw_ostream &cameo::operator<<(raw_ostream &output, const CompileMessage &message) {
  if (!message.where.empty())
    output << message.where << ": ";
  output << nameOf(message.severity) << ": " << message.text << "\n";
  for (const CompileMessage &note : message.notes)
    output << note;
  return output;
}

/// "conv1" for a node, "file.mlir:3:7" for text, nothing where nothing is known.
static std::string describeLocation(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().getValue().str();
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(), file.getLine(),
                         file.getColumn());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string text = describeLocation(part); !text.empty())
        return text;
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return describeLocation(call.getCallee());
  return "";
}

static CompileMessage messageOf(Diagnostic &diagnostic) {
  static constexpr CompileMessage::Severity severities[] = {
      CompileMessage::Severity::Note, CompileMessage::Severity::Warning,
      CompileMessage::Severity::Error, CompileMessage::Severity::Remark};
  CompileMessage message{severities[unsigned(diagnostic.getSeverity())],
                         describeLocation(diagnostic.getLocation()),
                         diagnostic.str(),
                         {}};
  for (Diagnostic &note : diagnostic.getNotes())
    message.notes.push_back(messageOf(note));
  return message;
}

void Compiler::say(CompileMessage message) {
  std::lock_guard<std::mutex> lock(saying);
  if (options.warningsAreErrors && message.severity == CompileMessage::Severity::Warning) {
    message.severity = CompileMessage::Severity::Error;
    message.text += " [--Werror]";
  }
  errors += message.severity == CompileMessage::Severity::Error;
  if (options.onMessage)
    options.onMessage(message);
  said.push_back(std::move(message));
}

LogicalResult Compiler::fail(const Twine &text) {
  say({CompileMessage::Severity::Error, "", text.str(), {}});
  return failure();
}

LogicalResult Compiler::fail(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  return errors ? failure() : fail(text);
}

void Compiler::warn(const Twine &text) {
  say({CompileMessage::Severity::Warning, "", text.str(), {}});
}

void Compiler::remark(const Twine &text) {
  say({CompileMessage::Severity::Remark, "", text.str(), {}});
}

void Compiler::remarkDecisions() {
  if (current)
    rt::remarkDecisions(*current);
}

/// What the assembler has to say of its cache.
void Compiler::tell(const CodeStore::Messages &messages) {
  for (const std::string &message : messages.warnings)
    warn(message);
  for (const std::string &message : messages.remarks)
    if (options.code.remarks)
      remark(message);
}

//===-- Input ---------------------------------------------------------------------------------===//

static DialectRegistry registry(PassStatistics &statistics) {
  DialectRegistry result;
  result
      .insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              gpu::GPUDialect, linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
              memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect, tensor::TensorDialect,
              vector::VectorDialect, onnx::OnnxDialect, kernel::KernelDialect, rt::RtDialect>();
  registerOperatorInterfaces(result);
  statistics.attach(result);
  return result;
}

namespace {

/// While it lives, a context's passes do nothing once that is wanted.
class PassesEndEarly {
public:
  PassesEndEarly(MLIRContext &context, const std::atomic<bool> *cancelled) : context(context) {
    if (cancelled)
      context.registerActionHandler(
          [cancelled](function_ref<void()> act, const tracing::Action &action) {
            if (!isa<PassExecutionAction>(action) || !*cancelled)
              act();
          });
  }
  ~PassesEndEarly() { context.registerActionHandler({}); }

private:
  MLIRContext &context;
};

} // namespace

StepTimer::StepTimer(const CompileOptions &options, StringRef step) : options(options), step(step) {
  if (options.onStep)
    start = llvm::TimeRecord::getCurrentTime();
}

StepTimer::~StepTimer() {
  if (!options.onStep)
    return;
  llvm::TimeRecord time = llvm::TimeRecord::getCurrentTime(false);
  time -= start;
  options.onStep(step, time);
}

Compiler::Compiler(CompileOptions given)
    : options(std::move(given)), threads(llvm::hardware_concurrency(options.jobs)),
      mlirContext(registry(passStatistics), MLIRContext::Threading::DISABLED) {
  if (options.jobs != 1)
    mlirContext.setThreadPool(threads);
  if (options.onProgress)
    options.code.onProgress = [this](StringRef what, uint64_t done, uint64_t all) {
      std::lock_guard<std::mutex> lock(saying);
      options.onProgress(what, done, all);
    };
  // Notes with a whole kernel in generic form help nobody.
  mlirContext.printOpOnDiagnostic(false);
  mlirContext.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    say(messageOf(diagnostic));
    return success();
  });
}

LogicalResult Compiler::read(StringRef path) {
  if (failed(parseTargets()))
    return failure();
  {
    StepTimer timer(options, "read");
    ModelInput input = readModel(path, &mlirContext, options.overridable);
    if (!input.module)
      return failure();
    current = std::move(input.module);
    modelHash = input.hash;
    options.pipeline.precision.model = hashText(hash());
    files = std::move(input.files);
    tensors = std::move(input.tensors);
    modelName = path == "-" ? "stdin" : llvm::sys::path::stem(path).str();
  }
  return startAt(Stage::Imported);
}

LogicalResult Compiler::read(StringRef bytes, StringRef name) {
  if (failed(parseTargets()))
    return failure();
  {
    StepTimer timer(options, "read");
    onnx::ImportOptions importOptions;
    importOptions.overridable = options.overridable;
    importOptions.tensors = &tensors;
    current = onnx::importOnnxBuffer(bytes, name, &mlirContext, importOptions);
  }
  if (!current)
    return failure();
  modelHash = hashOfModel(bytes);
  options.pipeline.precision.model = hashText(hash());
  modelName = name.str();
  return startAt(Stage::Imported);
}

LogicalResult Compiler::take(OwningOpRef<ModuleOp> module, Stage stage, StringRef name,
                             uint64_t hash) {
  if (failed(parseTargets()))
    return failure();
  current = std::move(module);
  modelName = name.str();
  modelHash = hash;
  return startAt(stage);
}

/// Says in the module what the model's file calls values, whose names here are their nodes'.
static void nameTensors(ModuleOp module, ArrayRef<onnx::TensorOrigin> origins) {
  SmallVector<NamedAttribute> names;
  Builder b(module.getContext());
  for (const onnx::TensorOrigin &origin : origins)
    if (!origin.tensor.empty())
      names.push_back(
          b.getNamedAttr(valueName(origin.node, origin.result), b.getStringAttr(origin.tensor)));
  if (!names.empty())
    for (auto function : module.getOps<func::FuncOp>())
      function->setAttr(onnx::kTensorsAttr, b.getDictionaryAttr(names));
}

LogicalResult Compiler::startAt(Stage stage) {
  reached = stage;
  if (stage == Stage::Imported) {
    if (options.code.remarks)
      onnx::remarkDifferences(*current);
    if (failed(fixInputShapes(*current, options.shapes)) ||
        failed(fixInputValues(*current, options.values)) ||
        failed(declareStates(*current, options.states)))
      return failure();
    if (!options.pipeline.taps.empty())
      nameTensors(*current, tensors);
    // No passes lead here, so that runTo passes the stage over.
    if (InsertedPassWatch::isWanted(options.pipeline, stage))
      return runStage(stages()[size_t(stage)]);
  }
  keepGraph(stage);
  return success();
}

LogicalResult Compiler::parseTargets() {
  llvm::Expected<SmallVector<TargetVariant>> parsed = parseTargetSpec(options.pipeline.targets);
  if (!parsed)
    return fail("--target: " + llvm::toString(parsed.takeError()));
  targets = std::move(*parsed);
  return success();
}

//===-- Stages --------------------------------------------------------------------------------===//

LogicalResult Compiler::runStage(const StageInfo &stage) {
  StepTimer timer(options, stage.name);
  PassManager passes(&mlirContext, ModuleOp::getOperationName());
  populateStage(passes, stage.stage, options.pipeline);
  passes.addInstrumentation(namePassesInCrashes());
  if (InsertedPassWatch::isWanted(options.pipeline, stage.stage))
    passes.addInstrumentation(std::make_unique<InsertedPassWatch>(
        options.pipeline, stage.stage, [this](const Twine &text) { (void)fail(text); },
        [this](const Twine &text) { warn(text); }));
  if (options.onPasses)
    options.onPasses(passes);
  PassesEndEarly guard(mlirContext, options.code.cancelled);
  LogicalResult result = passes.run(*current);
  if (options.code.isCancelled())
    return fail("cancelled on the way to stage " + stage.name);
  if (failed(result))
    return failure();
  // Weights that the stage has replaced: as many bytes as the model has, twice over.
  SmallVector<Operation *> roots{*current};
  if (kept)
    roots.push_back(kept);
  onnx::releaseUnusedConstants(roots);
  reached = stage.stage;
  keepGraph(stage.stage);
  return success();
}

LogicalResult Compiler::runTo(Stage to) {
  options.pipeline.reportUnsupported |= to >= Stage::Dispatched;
  for (const StageInfo &info : stages())
    if (info.stage > *reached && info.stage <= to && failed(runStage(info)))
      return failure();
  return success(!errors); // warnings may be errors
}

/// For the report: later stages have forgotten the graphs of those before.
void Compiler::keepGraph(Stage stage) {
  bool isTyped = stage == Stage::Precision && options.pipeline.precision.isAsked();
  if (options.keepGraphs &&
      (isTyped ||
       llvm::is_contained({Stage::Imported, Stage::Normalized, Stage::Dispatched}, stage)))
    graphs.push_back(readGraph(stage, *current));
}

//===-- Code ----------------------------------------------------------------------------------===//

/// Without ptxas, or of a target that it does not know yet, there is PTX only, which the driver compiles for the GPU when
/// the model is loaded.
LogicalResult Compiler::prepareAssembler(Purpose purpose) {
  if (purpose == Purpose::Ptx ||
      llvm::none_of(targets, [](const TargetVariant &target) { return target.cubin; }))
    return success();
  llvm::Expected<std::string> found = findPtxas(options.code.ptx.ptxas);
  if (!found)
    return fail(found.takeError());
  unsigned version = found->empty() ? 0 : ptxasCudaVersion(*found).value_or(UINT_MAX), newest = 0;
  std::string names;
  for (TargetVariant &target : targets) {
    unsigned needed = target.cubin ? target.target->cudaVersion() : 0;
    if (needed <= version)
      continue;
    newest = std::max(newest, needed);
    target.cubin = false;
    target.ptx = true;
    names += (names.empty() ? "" : ", ") + target.target->name.str();
  }
  if (names.empty())
    return success();
  std::string where = "NVIDIA's ptxas is neither in $CUDA_HOME/bin nor on the PATH";
  if (!found->empty())
    where = llvm::formatv("{0} is of CUDA {1}.{2}; {3} needs {4}.{5}", *found, version / 10,
                          version % 10, names, newest / 10, newest % 10);
  const char *hint = "; --ptxas=FILE names one";
  if (purpose == Purpose::Cubin)
    return fail(Twine(where) + ", so there are no cubins" + hint);
  warn(Twine(where) + ": " + names +
       " as PTX only, which the driver compiles when the model is loaded" + hint);
  return success(!errors);
}

/// Input of a late stage has the architectures that it has: of the targets those that are there are
/// meant, if any is.
void Compiler::dropAbsentTargets() {
  auto isThere = [&](const TargetVariant &target) {
    return llvm::any_of(current->getOps<rt::VariantOp>(), [&](rt::VariantOp variant) {
      return variant.getTarget().getArch() == target.target->name;
    });
  };
  if (options.dropAbsentTargets && llvm::any_of(targets, isThere))
    llvm::erase_if(targets, [&](const TargetVariant &target) { return !isThere(target); });
}

FailureOr<std::vector<CodeVariant>> Compiler::variantsWanted(Purpose purpose) {
  dropAbsentTargets();
  if (failed(prepareAssembler(purpose)))
    return failure();
  llvm::Expected<std::vector<CodeVariant>> found = findVariants(*current, targets);
  if (!found)
    return fail(found.takeError());
  return std::move(*found);
}

LogicalResult Compiler::emitVariants() {
  llvm::Expected<CodeSections> sections = emitSections(variants, options.code);
  if (!sections)
    return fail(sections.takeError());
  tell(sections->messages);
  assembled = std::move(sections->assembled);
  for (const Assembled &cubin : assembled)
    if (!cubin.warnings.empty())
      warn("ptxas, for " + cubin.target->name + ": " + StringRef(cubin.warnings).rtrim());
  contents.sections = std::move(sections->sections);
  return success(!errors);
}

/// The precision with the fewest bits that is asked for, of values, of nodes and of weights.
static std::string leastPrecision(const PrecisionOptions &precision) {
  static constexpr StringRef order[] = {"int4", "int8", "bf16", "fp16", "tf32"};
  for (StringRef type : order)
    if (precision.type == type || precision.io == type || precision.weights == type ||
        StringRef(precision.nodes + ";").contains(("=" + type + ";").str()))
      return type.str();
  return "fp32";
}

ManifestInfo Compiler::manifestInfo() const {
  ManifestInfo info;
  info.compilerVersion = CAMEO_VERSION;
  info.modelName = modelName;
  info.modelHash = modelHash;
  info.precision = options.pipeline.precision.type;
  info.leastPrecision = leastPrecision(options.pipeline.precision);
  return info;
}

LogicalResult Compiler::emit() {
  FailureOr<std::vector<CodeVariant>> wanted = variantsWanted(Purpose::Artefact);
  if (failed(wanted))
    return failure();
  variants = std::move(*wanted);
  StepTimer timer(options, "binary");
  if (failed(emitVariants()))
    return failure();
  contents.variantCount = variants.size();
  contents.module = *current;
  contents.manifest = makeManifest(*current, variants, contents.sections, manifestInfo());
  return success();
}

LogicalResult Compiler::emitTuning() {
  if (failed(prepareAssembler(Purpose::Artefact)))
    return failure();
  llvm::Expected<std::vector<CodeVariant>> found = findCandidates(*current, targets);
  if (!found)
    return fail(found.takeError());
  variants = std::move(*found);
  StepTimer timer(options, "binary");
  if (failed(emitVariants()))
    return failure();
  llvm::Expected<PayloadContents> bundle =
      makeTuningBundle(*current, variants, contents.sections, manifestInfo());
  if (!bundle)
    return fail(bundle.takeError());
  contents = std::move(*bundle);
  return success();
}

/// The variant whose code is to be written.
FailureOr<CodeVariant> Compiler::onlyVariant(Purpose purpose) {
  bool asCubin = purpose == Purpose::Cubin;
  FailureOr<std::vector<CodeVariant>> found = variantsWanted(purpose);
  if (failed(found))
    return failure();
  llvm::erase_if(*found, [&](const CodeVariant &variant) {
    return !variant.target.cubin && (asCubin || !variant.target.ptx);
  });
  if (found->size() != 1)
    return fail("--emit=" + Twine(asCubin ? "cubin" : "ptx") +
                " writes the code of one architecture; --target=" + options.pipeline.targets +
                " has " + Twine(found->size()));
  return found->front();
}

FailureOr<std::string> Compiler::emitPtx() {
  FailureOr<CodeVariant> variant = onlyVariant(Purpose::Ptx);
  if (failed(variant))
    return failure();
  llvm::Expected<std::string> text = emitVariantPtx(*variant, options.code);
  if (!text)
    return fail(text.takeError());
  return std::move(*text);
}

FailureOr<std::string> Compiler::emitCubin() {
  FailureOr<CodeVariant> variant = onlyVariant(Purpose::Cubin);
  if (failed(variant))
    return failure();
  llvm::Expected<std::string> text = emitVariantPtx(*variant, options.code);
  if (!text)
    return fail(text.takeError());
  CodeStore store(options.code.cache);
  llvm::Expected<std::unique_ptr<Assembler>> assembler =
      Assembler::create(options.code.ptx.ptxas, &store);
  if (!assembler)
    return fail(assembler.takeError());
  llvm::Expected<Cubin> cubin = (*assembler)->assemble(*text, *variant->target.target);
  if (!cubin)
    return fail(cubin.takeError());
  tell(store.finish());
  return std::string(cubin->data.begin(), cubin->data.end());
}

std::unique_ptr<llvm::MemoryBuffer> Compiler::artefact(StringRef stub) const {
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream output(bytes);
  writeArtefact(output, stub, contents);
  auto result =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size(), modelName, llvm::Align(64));
  std::memcpy(result->getBufferStart(), bytes.data(), bytes.size());
  return result;
}

ReportContents Compiler::report() {
  return {modelName, CAMEO_VERSION, *current, variants, assembled, graphs};
}
