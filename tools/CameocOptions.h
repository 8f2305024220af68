// cameoc's command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/Calibrate.h"
#include "codegen/calibrate/KeepAccuracy.h"
#include "codegen/emit/Backend.h"
#include "tools/Messages.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Timer.h"

#include <map>
#include <optional>

namespace cameo {

enum class Emit { Exe, Lib, Plan, Ptx, Cubin, Onnx, Mlir, Schedules, Ranges, Tuning };

struct CameocOptions {
  llvm::TimeRecord start = llvm::TimeRecord::getCurrentTime(); // of the program
  std::string input, output;
  PipelineOptions pipeline;
  bool targetGiven = false; // by --target
  Emit emit = Emit::Exe;
  bool emitGiven = false; // by --emit
  std::optional<Stage> stopAfter, startFrom;
  Stage firstStage() const { return startFrom.value_or(Stage::Imported); }
  /// The stage whose IR is written, or from which the output is made.
  Stage lastStage() const;
  /// --shapes
  InputShapes shapes;
  /// --shape-values
  InputValues values;
  /// --state
  std::vector<std::string> states;
  /// --overridable
  std::vector<std::string> overridable;
  /// --device: where models run that are run to compile others.
  std::optional<RunDevice> device;
  /// --calibration-histograms; nothing: on a GPU.
  std::optional<bool> countsByKernels;
  /// --calibration-...
  CalibrationOptions calibration;
  bool isCalibrated() const { return !calibration.data.empty() || !calibration.cache.empty(); }
  /// --accuracy, --accuracy-data, --labels, --budget
  AccuracyOptions accuracy;
  bool simChecks = false, simChecksOnly = false, simTrace = false, simQuick = false;
  SimForms simForms = SimForms::Warp;
  bool time = false, statistics = false, printPipeline = false;
  /// --load-pass-plugin, and --insert-pass as it was given: tools/PassPlugins.h reads it.
  std::vector<std::string> passPlugins, insertedPasses;
  /// An option of cameo-opt without its dashes, or "all"; empty: nothing is printed.
  std::string printIrAfter;
  /// --mlir-..., as MLIR takes them.
  std::vector<std::string> mlir;
  Messages messages;
  bool remarks = false;
  bool quiet = false;
  bool inspect = false; // instead of compiling
  bool inspectAsJson = false;
  bool warningsAreErrors = false;
  std::vector<std::string> reports;
  std::string header, depfile; // empty: none
  unsigned jobs = 0;           // 0: one a core
  bool help = false, helpAll = false, version = false;
  bool listOperators = false, listPrecisionPolicy = false, listDifferences = false;
  /// Something to print, and nothing to compile.
  bool isQuestion() const {
    return help || helpAll || version || listOperators || listPrecisionPolicy || listDifferences;
  }
};

/// An error says what is wrong with which argument.
llvm::Expected<CameocOptions> parseCameocOptions(llvm::ArrayRef<const char *> arguments);

/// Where NVIDIA's tools are, for compilations on the way as for the last one.
CodeOptions codeTools(const CameocOptions &options);

/// Whether options go together; parseCameocOptions asks.
llvm::Error checkCameocOptions(const CameocOptions &options);

/// --time: how long a step took, on stderr.
void printStep(llvm::StringRef step, const llvm::TimeRecord &time);

/// The options that are used most, with examples.
void printCameocHelp(llvm::raw_ostream &output);
/// All options, and the stages.
void printAllCameocHelp(llvm::raw_ostream &output);

} // namespace cameo
