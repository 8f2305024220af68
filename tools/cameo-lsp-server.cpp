// cameo-lsp-server: shows editors the errors, types and definitions of .mlir files with our
// dialects.
// SPDX-License-Identifier: Apache-2.0
#include "tools/CrashReports.h"
#include "tools/Registration.h"
#include "tools/ShortHelp.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/InitLLVM.h"

static constexpr llvm::StringLiteral kHelp =
    R"(cameo-lsp-server
A language server for .mlir files with Cameo's dialects and MLIR's: editors start it, and talk with it by
its standard input and output.

  --log=error|info|verbose    what it says on stderr; default info
  --input-style=standard|delimited
                              messages with headers (default), or between lines of // -----
  --lit-test                  for tests: delimited messages, answers over several lines, verbose

)";

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cameo::reportCrashes(llvm::ArrayRef<const char *>(argv, argc));
  cameo::nameVersion();
  if (cameo::answerHelp(argc, argv, kHelp))
    return 0;
  mlir::DialectRegistry registry;
  cameo::registerEverything(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
