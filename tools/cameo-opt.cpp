// cameo-opt: reads MLIR, runs passes, writes MLIR. Knows every dialect of ours and of MLIR's.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Payload.h"
#include "passes/Statistics.h"
#include "tools/BytecodeChecksum.h"
#include "tools/Locations.h"
#include "tools/Registration.h"
#include "tools/StagePipelines.h"
#ifdef CAMEO_TEST_PASSES
#include "test/lib/Passes.h"
#endif

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace cameo;

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
