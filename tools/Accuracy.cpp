// Options of a contract ==> overrides of precision.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Accuracy.h"

using namespace cameo;
using llvm::StringRef;

llvm::Expected<AccuracyResult> cameo::findKeptLayers(const CameocOptions &options) {
  llvm::TimeRecord start = llvm::TimeRecord::getCurrentTime();
  CompileOptions compile;
  compile.pipeline = options.pipeline;
  compile.shapes = options.shapes;
  compile.values = options.values;
  compile.overridable = options.overridable;
  compile.jobs = options.jobs;
  compile.code = codeTools(options);
  compile.onMessage = options.messages;
  AccuracyOptions accuracy = options.accuracy;
  if (accuracy.data.empty())
    accuracy.data = options.calibration.data;
  accuracy.batch = options.calibration.batch;
  accuracy.device = options.device.value_or(RunDevice());
  accuracy.threads = options.jobs;
  llvm::Expected<AccuracyResult> found = [&] {
    MessageProgress progress(options.messages);
    accuracy.onProgress = [&](StringRef what, uint64_t done, uint64_t all) {
      progress.update(what, done, all);
    };
    return keepAccuracy(options.input, compile, accuracy);
  }();
  if (options.time) {
    llvm::TimeRecord time = llvm::TimeRecord::getCurrentTime(false);
    time -= start;
    printStep("accuracy", time);
  }
  return found;
}

void cameo::keepLayers(const AccuracyResult &found, CameocOptions &options) {
  if (!found.overrides.empty()) {
    std::string &nodes = options.pipeline.precision.nodes;
    nodes += (nodes.empty() ? "" : ";") + found.overrides;
  }
  if (!options.remarks)
    return;
  for (const CompileMessage &message : found.remarks())
    options.messages(message);
  if (options.accuracy.data.empty())
    options.messages(
        {CompileMessage::Severity::Remark,
         "",
         "--accuracy: judged by the samples that ranges were recorded of, which flatters the "
         "model; --accuracy-data names others",
         {}});
}
