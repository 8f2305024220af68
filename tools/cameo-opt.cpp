// cameo-opt: reads MLIR, runs passes, writes MLIR. Knows every dialect of ours and of MLIR's.
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"
#include "tools/Registration.h"
#include "tools/StagePipelines.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

using namespace cameo;

/// Whether --mlir-pass-statistics is given, which MLIR itself has registered.
static bool wantsStatistics() {
  auto found = llvm::cl::getRegisteredOptions().find("mlir-pass-statistics");
  return found != llvm::cl::getRegisteredOptions().end() && found->second->getNumOccurrences();
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerEverything(registry);
  registerStagePipelines();
  PassStatistics statistics;
  statistics.attach(registry);
  llvm::LogicalResult result = mlir::MlirOptMain(argc, argv, "Cameo's pass driver\n", registry);
  if (wantsStatistics())
    statistics.print(llvm::errs());
  return mlir::asMainReturnCode(result);
}
