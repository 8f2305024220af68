// The compiler as a library: a model or a module in, an artefact in memory out.
//
// A Compiler has a context and threads of its own, so that a process can hold several and use them
// at the same time; one of them is used by one thread at a time. What there is to say of a model is
// kept as values, and passed on as it is said.
//
//   cameo::CompileOptions options;
//   options.pipeline.targets = "sim:sm_80";
//   cameo::Compiler compiler(std::move(options));
//   if (succeeded(compiler.read("model.onnx")) && succeeded(compiler.runTo(Stage::Host)) &&
//       succeeded(compiler.emit()))
//     use(compiler.artefact()->getBuffer()); // a plan that cameo_model_load_memory takes
//   for (const cameo::CompileMessage &message : compiler.messages())
//     llvm::errs() << message;
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/InputShapes.h"
#include "codegen/InputValues.h"
#include "codegen/Pipeline.h"
#include "codegen/emit/Manifest.h"
#include "codegen/emit/Report.h"
#include "dialects/onnx/Import.h"
#include "passes/Statistics.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Timer.h"

#include <functional>
#include <map>

namespace cameo {

/// What the compiler says of a model.
struct CompileMessage {
  enum class Severity { Error, Warning, Remark, Note };
  Severity severity;
  /// A node's name, or file:line:column of a text; empty where neither is known.
  std::string where;
  std::string text;
  std::vector<CompileMessage> notes;
};

/// "error", "warning", "remark" or "note".
llvm::StringRef nameOf(CompileMessage::Severity severity);
/// "conv1: error: text", and a line each note.
llvm::raw_ostream &operator<<(llvm::raw_ostream &output, const CompileMessage &message);

struct CompileOptions {
  PipelineOptions pipeline;
  InputShapes shapes;
  /// Inputs that become constants.
  InputValues values;
  /// Inputs that outputs become after each run (codegen/States.h).
  std::vector<std::string> states;
  /// Initialisers that become inputs.
  std::vector<std::string> overridable;
  /// Tools, and what images for the simulator have. With `code.remarks`, what of the model differs
  /// from ONNX's own words is said as well. `code.cancelled`, set by any thread, ends the
  /// compilation with an error at any step, after the passes and kernels at work.
  CodeOptions code;
  /// Targets that a module read at a late stage has no variant for are left out, as long as it has
  /// one for any of them.
  bool dropAbsentTargets = false;
  bool warningsAreErrors = false;
  /// Keeps what a report shows of early stages.
  bool keepGraphs = false;
  /// Threads; 0: one a core.
  unsigned jobs = 0;

  /// Called with each message, by one thread at a time.
  std::function<void(const CompileMessage &)> onMessage;
  /// Called with the passes that lead to a stage, before they run.
  std::function<void(mlir::PassManager &)> onPasses;
  /// Called with how many kernels are compiled, by one thread at a time, and never together with onMessage.
  std::function<void(llvm::StringRef what, uint64_t done, uint64_t all)> onProgress;
  /// Called with how long a step took: a stage's passes, "read", "binary", and what callers time.
  std::function<void(llvm::StringRef step, const llvm::TimeRecord &time)> onStep;
};

/// Says how long it has lived.
class StepTimer {
public:
  StepTimer(const CompileOptions &options, llvm::StringRef step);
  ~StepTimer();

private:
  const CompileOptions &options;
  llvm::StringRef step;
  llvm::TimeRecord start;
};

class Compiler {
public:
  explicit Compiler(CompileOptions options);

  //===-- Input -------------------------------------------------------------------------------===//
  // Each is followed by options.shapes and options.values where the module is at stage imported. All
  // methods that may fail have said why.

  /// Reads an ONNX model from a file, or from a stream (codegen/ModelInput.h).
  mlir::LogicalResult read(llvm::StringRef path);
  /// Reads an ONNX model from memory; `name` stands in messages and in the artefact.
  mlir::LogicalResult read(llvm::StringRef bytes, llvm::StringRef name);
  /// Takes a module of this compiler's context that is at `stage`.
  mlir::LogicalResult take(mlir::OwningOpRef<mlir::ModuleOp> module, Stage stage,
                           llvm::StringRef name, uint64_t hash = 0);

  //===-- Steps -------------------------------------------------------------------------------===//

  /// Runs passes until the module is at `stage`; one that is there already stays as it is.
  mlir::LogicalResult runTo(Stage stage);
  /// Makes code and manifest of a module at stage host.
  mlir::LogicalResult emit();
  /// Makes code and manifest of a tuning bundle (codegen/tune/Bundle.h) of a module that
  /// options.pipeline.tuningCandidates led to stage host.
  mlir::LogicalResult emitTuning();
  /// PTX or cubin of the one target of options.pipeline.targets, from stage host.
  mlir::FailureOr<std::string> emitPtx();
  mlir::FailureOr<std::string> emitCubin();

  //===-- Results -----------------------------------------------------------------------------===//

  mlir::MLIRContext &context() { return mlirContext; }
  mlir::ModuleOp module() { return *current; }
  /// Keeps the constants of another module while stages are left behind; null ends that, before the module
  /// ends.
  void keepConstantsOf(mlir::ModuleOp module) { kept = module; }
  /// Where the module is; nothing before there is one.
  std::optional<Stage> stage() const { return reached; }
  /// Files that were read beside the model: external data.
  llvm::ArrayRef<std::string> filesRead() const { return files; }
  /// Where the tensors of a model from a file come from, by their names in ONNX.
  llvm::ArrayRef<onnx::TensorOrigin> tensorOrigins() const { return tensors; }
  const PipelineOptions &pipeline() const { return options.pipeline; }
  /// XXH3 of the model's bytes, and of what its inputs are fixed to.
  uint64_t hash() const { return modelHash ^ hashOfInputValues(options.values); }
  /// After emit(): the payload, whose weights are those of the module.
  const PayloadContents &payload() const { return contents; }
  /// After emit(): the artefact's bytes behind a stub (runtime/format.h); without one, a plan. They
  /// are aligned as cameo_model_load_memory wants them.
  std::unique_ptr<llvm::MemoryBuffer> artefact(llvm::StringRef stub = "") const;
  /// After emit(). It refers to this compiler.
  ReportContents report();
  PassStatistics &statistics() { return passStatistics; }
  /// Times a step of the caller's, for options.onStep.
  StepTimer timeStep(llvm::StringRef step) const { return StepTimer(options, step); }

  //===-- Messages ----------------------------------------------------------------------------===//

  llvm::ArrayRef<CompileMessage> messages() const { return said; }
  bool hasErrors() const { return errors != 0; }
  /// Adds a message. An error of a pass that has said so already adds none.
  mlir::LogicalResult fail(const llvm::Twine &text);
  mlir::LogicalResult fail(llvm::Error error);
  void warn(const llvm::Twine &text);
  void remark(const llvm::Twine &text);
  /// Adds what passes have decided so far, as remarks.
  void remarkDecisions();

private:
  mlir::LogicalResult startAt(Stage stage);
  mlir::LogicalResult runStage(const StageInfo &stage);
  mlir::LogicalResult parseTargets();
  enum class Purpose { Artefact, Ptx, Cubin };
  void dropAbsentTargets();
  mlir::LogicalResult prepareAssembler(Purpose purpose);
  mlir::FailureOr<std::vector<CodeVariant>> variantsWanted(Purpose purpose);
  /// Fills `contents.sections` from `variants`.
  mlir::LogicalResult emitVariants();
  ManifestInfo manifestInfo() const;
  mlir::FailureOr<CodeVariant> onlyVariant(Purpose purpose);
  void say(CompileMessage message);
  void tell(const CodeStore::Messages &messages);
  void keepGraph(Stage stage);

  CompileOptions options;
  llvm::DefaultThreadPool threads;
  PassStatistics passStatistics;
  mlir::MLIRContext mlirContext;
  std::mutex saying;
  std::vector<CompileMessage> said;
  unsigned errors = 0;

  mlir::OwningOpRef<mlir::ModuleOp> current;
  mlir::ModuleOp kept;
  std::optional<Stage> reached;
  std::string modelName;
  uint64_t modelHash = 0;
  std::vector<std::string> files;
  std::vector<onnx::TensorOrigin> tensors;
  llvm::SmallVector<TargetVariant> targets;
  std::vector<StageGraph> graphs;

  std::vector<CodeVariant> variants;
  std::vector<Assembled> assembled;
  PayloadContents contents;
};

} // namespace cameo
