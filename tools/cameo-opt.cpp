// cameo-opt: reads MLIR, runs passes, writes MLIR. Knows every dialect of ours and of MLIR's.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/PassWatch.h"
#include "codegen/emit/Payload.h"
#include "passes/Statistics.h"
#include "tools/BytecodeChecksum.h"
#include "tools/CrashReports.h"
#include "tools/Locations.h"
#include "tools/Registration.h"
#include "tools/ShortHelp.h"
#include "tools/StagePipelines.h"
#ifdef CAMEO_TEST_PASSES
#include "test/lib/Passes.h"
#endif

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace cameo;

static constexpr llvm::StringLiteral kHelp =
    R"(cameo-opt FILE.mlir [passes] [-o FILE]
Runs passes on MLIR, text or bytecode, with every dialect of Cameo and of MLIR. A FILE of the name -,
or none, is standard input.

  cameo-opt model.mlir --cameo-fold-constants
  cameo-opt model.mlir --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers)))'
  cameo-opt model.mlir --cameo-to-dispatched=targets=sim:sm_80 -o dispatched.mlir
  cameo-opt model.mlir --load-pass-plugin=Mine.so --pass-pipeline='builtin.module(func.func(mine))'

Passes:
  --cameo-PASS[='option=value ...']  this pass, on the operations of its kind directly in the module;
                                     docs/generated has all
  --cameo-to-STAGE                   the passes from the stage before to this one
  --cameo-compile                    all of them, from stage imported to host
  --pass-pipeline=TEXT               passes and what each runs on, as cameoc prints them
  --load-pass-plugin=FILE.so         the passes of a shared library, for --pass-pipeline
  --run-reproducer                   the passes that stand in the file, which a crash has written

Output:
  -o FILE                            where to write; -, or without it: standard output
  --emit-bytecode                    bytecode, with the checksum that cameoc asks for
  --mlir-print-debuginfo=false       text without locations, which are the names of the model's nodes
  --mlir-elide-resource-strings-if-larger=N  text without the bytes of larger constants, to look at

Finding faults:
  --split-input-file                 works on each part between lines of // -----
  --verify-diagnostics               compares what is said with // expected-error and the like
  --mlir-print-ir-after-all          prints the IR after each pass; --mlir-print-ir-after=PASS after one
  --mlir-print-ir-after-change       of these, only where it has changed
  --mlir-disable-threading           one pass at a time
  --mlir-timing                      how long each pass takes
  --mlir-pass-statistics             what passes have counted
  --mlir-pass-pipeline-crash-reproducer=FILE  writes the module and the passes that fail on it

)";

/// Whether --mlir-pass-statistics is given, which MLIR itself has registered.
static bool wantsStatistics() {
  auto found = llvm::cl::getRegisteredOptions().find("mlir-pass-statistics");
  return found != llvm::cl::getRegisteredOptions().end() && found->second->getNumOccurrences();
}

/// Runs what the command line says. It has said why it fails.
static llvm::Error run(llvm::raw_ostream &output, std::unique_ptr<llvm::MemoryBuffer> input,
                       mlir::DialectRegistry &registry, const mlir::MlirOptMainConfig &config) {
  if (failed(mlir::MlirOptMain(output, std::move(input), registry, config)))
    return llvm::createStringError("");
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  reportCrashes(llvm::ArrayRef<const char *>(argv, argc));
  nameVersion();
  if (answerHelp(argc, argv, kHelp))
    return 0;
  printLocations();
  mlir::DialectRegistry registry;
  registerEverything(registry);
  registerStagePipelines();
#ifdef CAMEO_TEST_PASSES
  registerCameoTestPasses();
#endif
  PassStatistics statistics;
  statistics.attach(registry);
  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "Cameo's pass driver\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  // A crash names the pass at work.
  mlir::MlirOptMainConfig given = config;
  config.setPassPipelineSetupFn([&given](mlir::PassManager &manager) {
    manager.addInstrumentation(namePassesInCrashes());
    return given.setupPassPipeline(manager);
  });
  bool isUnchecked; // as other tools write it
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file = openMlirFile(input, isUnchecked);
  if (!file) {
    llvm::errs() << "error: " << llvm::toString(file.takeError()) << "\n";
    return 1;
  }
  // A file takes its name only when it is complete: it may be the input, mapped and still read.
  llvm::Error error = writeFile(output, 0644, [&](llvm::raw_fd_ostream &target) -> llvm::Error {
    if (!config.shouldEmitBytecode())
      return run(target, std::move(*file), registry, config);
    // The checksum is known at the end and stands at the beginning, where a pipe cannot go back to.
    llvm::SmallVector<char, 0> memory;
    llvm::raw_svector_ostream buffer(memory);
    const bool isPipe = !target.supportsSeeking();
    ChecksumStream stream(isPipe ? static_cast<llvm::raw_pwrite_stream &>(buffer) : target);
    if (llvm::Error error = run(stream, std::move(*file), registry, config))
      return error;
    stream.finish();
    target.write(memory.data(), memory.size());
    return llvm::Error::success();
  });
  if (wantsStatistics())
    statistics.print(llvm::errs());
  if (!error)
    return 0;
  std::string message = llvm::toString(std::move(error));
  if (!message.empty())
    llvm::errs() << "error: " << message << "\n";
  return 1;
}
