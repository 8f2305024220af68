// cameoc's command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Pipeline.h"
#include "codegen/emit/Backend.h"

#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>

namespace cameo {

enum class Emit { Exe, Lib, Plan, Ptx, Cubin, Onnx, Mlir, Schedules };

struct CameocOptions {
  std::string input, output;
  std::string target = "sm_80,sm_90a,ptx,sim:sm_80";
  bool targetGiven = false; // by --target
  Emit emit = Emit::Exe;
  unsigned level = PipelineOptions().level; // -O
  std::string layout = PipelineOptions().layout;
  PrecisionOptions precision;
  std::optional<Stage> stopAfter, startFrom;
  /// --shapes: sizes by input name, -1 where they are left open.
  std::map<std::string, llvm::SmallVector<int64_t>> shapes;
  bool simChecks = false, simTrace = false;
  SimForms simForms = SimForms::Warp;
  bool time = false, statistics = false, printPipeline = false;
  /// An option of cameo-opt without its dashes, or "all"; empty: nothing is printed.
  std::string printIrAfter;
  /// --mlir-..., as MLIR takes them.
  std::vector<std::string> mlir;
  bool remarks = false;
  bool warningsAreErrors = false;
  /// Empty: the PATH's ptxas; libdevice beside it; no cache.
  std::string ptxas, libdevice, cacheDir, report, schedules;
  unsigned jobs = 0; // 0: one a core
  bool help = false, version = false, listOperators = false, listPrecisionPolicy = false;
};

/// An error says what is wrong with which argument.
llvm::Expected<CameocOptions> parseCameocOptions(llvm::ArrayRef<const char *> arguments);

void printCameocHelp(llvm::raw_ostream &output);

} // namespace cameo
