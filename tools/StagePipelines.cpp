// A named pipeline for each stage that passes lead to, for all of them, and for each back end.
// SPDX-License-Identifier: Apache-2.0
#include "tools/StagePipelines.h"

#include "codegen/Pipeline.h"
#include "codegen/emit/Backend.h"
#include "tools/Environment.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace cameo;

namespace {

struct StageOptions : PassPipelineOptions<StageOptions> {
  Option<std::string> targets{
      *this, "targets",
      llvm::cl::desc("architectures, as cameoc's --target, e.g. sm_80;ptx;sim:sm_90a"),
      llvm::cl::init(PipelineOptions().targets)};
  Option<unsigned> level{*this, "level",
                         llvm::cl::desc("0: one dispatch per operator; 1: fusion; 2: also what "
                                        "agrees to rounding"),
                         llvm::cl::init(PipelineOptions().level)};
  Option<std::string> schedules{*this, "schedules",
                                llvm::cl::desc("at scheduled: a file of schedules, as cameoc "
                                               "--emit=schedules writes it"),
                                llvm::cl::init("")};
  Option<std::string> layout{*this, "layout",
                             llvm::cl::desc("of values between dispatches: tensor-cores, auto, "
                                            "channels-last or as-imported"),
                             llvm::cl::init(PipelineOptions().layout)};
  Option<std::string> precision{*this, "precision",
                                llvm::cl::desc("at precision: fp32, tf32, fp16, bf16, int8"),
                                llvm::cl::init(PipelineOptions().precision.type)};
  Option<std::string> ranges{*this, "ranges",
                             llvm::cl::desc("at precision: a file of recorded ranges"),
                             llvm::cl::init("")};
  Option<std::string> taps{*this, "taps",
                           llvm::cl::desc("at precision: GLOB;...: values that runs show"),
                           llvm::cl::init("")};
  Option<bool> reportUnsupported{*this, "report-unsupported",
                                 llvm::cl::desc("at normalized: refuse what cannot be compiled"),
                                 llvm::cl::init(true)};

  Option<bool> strict{
      *this, "strict",
      llvm::cl::desc("what a stage promises of quality is checked as an error, too"),
      llvm::cl::init(isStrictByEnvironment())};

  PipelineOptions get() const {
    PipelineOptions options;
    options.targets = targets;
    options.level = level;
    options.schedules = schedules;
    options.layout = layout;
    options.precision.type = precision;
    options.precision.ranges = ranges;
    options.taps = taps;
    options.reportUnsupported = reportUnsupported;
    options.strict = strict;
    return options;
  }
};

struct BackendOptions : PassPipelineOptions<BackendOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("architecture that the kernels are for; none: any"),
                             llvm::cl::init("")};
  Option<bool> checked{*this, "checked", llvm::cl::desc("with the simulator's checks"),
                       llvm::cl::init(false)};
  Option<bool> traced{*this, "traced", llvm::cl::desc("with the simulator's traces"),
                      llvm::cl::init(false)};
};

/// For gpu.module: cameo-device-to-nvptx and so on.
void registerBackendPipelines() {
  for (const Backend &backend : backends())
    PassPipelineRegistration<BackendOptions>(
        "cameo-device-to-" + backend.name.str(),
        "from stage device to " + backend.description.str(),
        [&backend](OpPassManager &passes, const BackendOptions &given) {
          BackendPipelineOptions options;
          if (!given.target.empty()) {
            llvm::Expected<const Target *> target = findTarget(given.target);
            if (!target)
              llvm::report_fatal_error(target.takeError(), /*gen_crash_diag=*/false);
            options.target = *target;
          }
          options.checked = given.checked;
          options.traced = given.traced;
          backend.populate(passes, options);
        });
}

} // namespace

void cameo::registerStagePipelines() {
  registerBackendPipelines();
  for (const StageInfo &info : stages()) {
    if (!info.populate)
      continue;
    Stage stage = info.stage;
    // Kept by the registry.
    PassPipelineRegistration<StageOptions>(
        "cameo-to-" + info.name.str(),
        "from the stage before to " + info.name.str() + ": " + info.description.str(),
        [stage](OpPassManager &passes, const StageOptions &given) {
          populateStage(passes, stage, given.get());
        });
  }
  PassPipelineRegistration<StageOptions>(
      "cameo-compile", "from stage imported to host: all that cameoc does before code is written",
      [](OpPassManager &passes, const StageOptions &given) {
        for (const StageInfo &info : stages())
          if (info.populate)
            populateStage(passes, info.stage, given.get());
      });
}
