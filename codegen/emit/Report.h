// The report of a compilation: what became of the model, which kernels there are, what was decided
// and why. docs/report.md says what stands in it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Pipeline.h"
#include "codegen/emit/Code.h"

#include "llvm/Support/JSON.h"

namespace cameo {

/// The nodes of a model at a stage: operators of ONNX, or dispatches.
struct StageGraph {
  struct Node {
    std::string name, op;
    llvm::StringRef precision;                 // at stage precision: "fp16"; empty without floats
    llvm::SmallVector<std::string, 1> results; // types
    llvm::SmallVector<unsigned, 2> from;       // nodes whose results it reads, each once
    std::vector<std::string> around = {};      // nodes whose graph it is in, outer ones first
  };
  std::string stage;
  std::vector<Node> nodes;
  int64_t constants = 0;
  std::string precision; // at stage precision: that asked for
};

/// The entry function of the module, or of its first variant. For stages of nodes or dispatches:
/// imported to scheduled.
StageGraph readGraph(Stage stage, mlir::ModuleOp module);

struct ReportContents {
  std::string modelName, compilerVersion;
  mlir::ModuleOp module; // at stage host
  llvm::ArrayRef<CodeVariant> variants;
  llvm::ArrayRef<Assembled> assembled;
  llvm::ArrayRef<StageGraph> graphs; // in the order of stages
  /// By calibrationShown (codegen/calibrate/CalibrationCache.h).
  std::optional<llvm::json::Object> calibration = std::nullopt;
  llvm::json::Object accuracy = {}; // what --accuracy has found; empty without it
};

/// As JSON.
std::string makeReport(const ReportContents &contents);
/// As one page of HTML that needs nothing else.
std::string makeReportPage(const ReportContents &contents);

//===-- Parts ---------------------------------------------------------------------------------===//

/// Whether members that repeat what `variants` has of the first one are written too.
enum class Repeats : bool { No, Yes };
void writeReport(llvm::json::OStream &out, const ReportContents &contents, Repeats repeats);

/// One object per launch of a variant, in launch order, with whatever is known of it.
llvm::json::Array launchesOf(rt::VariantOp variant);
/// What its plan takes of the arena, in all and step by step.
llvm::json::Object memoryOf(rt::VariantOp variant);
/// One object per wait for values of the device, in the plan's order.
llvm::json::Array waitsOf(rt::VariantOp variant);
/// Only the sums.
llvm::json::Object memorySumsOf(rt::VariantOp variant);

} // namespace cameo
