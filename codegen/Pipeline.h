// The compiler's stages, and the passes that lead from one to the next.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/RecordedRanges.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cameo {

enum class Stage : uint8_t {
  Imported,
  Normalized,
  Precision,
  Dispatched,
  Scheduled,
  Tiled,
  Device,
  Host,
  Binary
};

struct PipelineOptions;

/// One row per stage.
struct StageInfo {
  Stage stage;
  llvm::StringLiteral name;
  llvm::StringLiteral description; // one line
  /// Adds the passes that lead here from the stage before. Null: the importer or the emitters do.
  void (*populate)(mlir::OpPassManager &passes, const PipelineOptions &options);
  /// Fails with an error if a module does not have this stage's form; with `strict`, also if it
  /// could be better.
  llvm::LogicalResult (*verify)(mlir::ModuleOp module, bool strict);
};

/// All stages, in order.
llvm::ArrayRef<StageInfo> stages();
llvm::StringRef stageName(Stage stage);
/// The stage called `name`, or an error that lists them.
llvm::Expected<Stage> findStage(llvm::StringRef name);

/// Registered passes, such as those of plugins, that run after those that lead to a stage.
struct InsertedPass {
  Stage stage;
  std::string text;     // as given to parseInsertedPass
  std::string pipeline; // for a pass manager on modules: "func.func(cse)"
};

/// Reads STAGE:PASS, where PASS is a name with its options in braces, or a nest of them as in
/// "tiled:rt.variant(gpu.module(cse))". A pass alone runs on all operations of its kind that a model
/// has at the stage: on the functions of each variant, for one. An error where there is no such
/// stage or pass, or where the stage has no such operations.
llvm::Expected<InsertedPass> parseInsertedPass(llvm::StringRef text);

struct PrecisionOptions {
  std::string type = "fp32";     // fp32, tf32, fp16, bf16, int8
  std::string nodes;             // GLOB=TYPE;...: others by node
  std::string io = "fp32";       // of inputs and outputs
  std::string keptEnds = "none"; // of int8: none, first, last, both
  std::string ranges;            // a file; empty: none
  /// Ranges in memory, which go before the file; null: none.
  std::shared_ptr<const RecordedRanges> recorded;
  std::string model; // the hash of the model's file; empty: not known
  /// Channels of what products of integers read are scaled; without a value where calibration has found
  /// factors.
  std::optional<bool> scalesChannels;
  /// Biases of products of integers are corrected; without a value as the ranges say.
  std::optional<bool> correctsBiases;
  std::string weights;     // int8, int4: of matrix products that stay in floats; empty: none
  int64_t weightBlock = 0; // how much of the depth has a scale; 0: all
  /// Whether there is anything to change.
  bool isAsked() const { return type != "fp32" || io != "fp32" || !nodes.empty(); }
  bool hasRanges() const { return recorded || !ranges.empty(); }
  /// Whether products are to become products of integers.
  bool isQuantized() const {
    return type == "int8" || llvm::StringRef(nodes + ";").contains("=int8;");
  }
};

struct PipelineOptions {
  /// As parseTargetSpec takes it.
  std::string targets = "sm_80,sm_90a,ptx,sim:sm_80";
  /// 0: one dispatch per operator; 1: also what keeps every bit; 2: also what agrees to rounding.
  unsigned level = 2;
  /// A file of schedules that go before those chosen; empty: none.
  std::string schedules;
  /// "static": schedules of products are chosen among a few by their machine code, for which these
  /// programs and files are needed. Empty: by estimates.
  std::string tune;
  /// Of each dispatch so many schedules at most are compiled, each as a variant of its own, to be
  /// measured; 0: the one that is chosen, in the model's variants.
  unsigned tuningCandidates = 0;
  /// Empty: the PATH's programs; libdevice beside ptxas; no cache.
  std::string ptxas, nvdisasm, libdevice, cacheDir;
  /// How tensors between dispatches are stored, as cameo-assign-layouts takes it. Empty:
  /// "tensor-cores" at level 2, below as imported, because other classes may sum in another order.
  std::string layout;
  /// What FP32 becomes, by cameo-lower-precision: as in passes/precision.
  PrecisionOptions precision;
  /// GLOB;...: values that runs show on their way, by cameo-place-taps; empty: none.
  std::string taps;
  /// Ranges of INT8 are to be recorded: values are those that it quantises, whatever the level.
  bool isCalibration = false;
  /// Kernels count the magnitudes of tapped values of FP32, into taps behind the others, by
  /// cameo-insert-histograms.
  bool countsMagnitudes = false;
  /// Run wherever their stages are reached, in models that are compiled for calibration and accuracy,
  /// too. At stage imported they run on the importer's module.
  std::vector<InsertedPass> insertedPasses;
  /// Check the module's form wherever a stage is reached.
  bool verifyStages = true;
  /// Tests check a stage's promises of quality like those of correctness. A model that is compiled
  /// right and could be compiled better is no error to those who use it.
  bool strict = false;
  /// Say at stage Normalized what cannot be compiled; without it, models that are only written back
  /// may hold anything.
  bool reportUnsupported = false;
};

/// The texts of passes inserted up to a stage, with commas between them.
std::string insertedUpTo(Stage stage, const PipelineOptions &options);

/// Adds the pass that attaches ranges to functions, where there are any.
void populateRanges(mlir::OpPassManager &passes, const PrecisionOptions &precision);

/// Adds the passes that quantise a graph at stage normalized with its ranges, for a pass manager on
/// functions: those that stage precision begins with.
void populateQuantization(mlir::OpPassManager &passes, const PrecisionOptions &precision);

/// Adds the passes that lead from the stage before `stage` to it, those inserted there, and what
/// checks that the stage is reached, for a pass manager on modules.
void populateStage(mlir::OpPassManager &passes, Stage stage, const PipelineOptions &options);

} // namespace cameo
