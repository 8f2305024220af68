// cameo-reduce: makes IR that shows a bug smaller, while a script says that it still shows it.
// SPDX-License-Identifier: Apache-2.0
#include "tools/CrashReports.h"
#include "tools/Locations.h"
#include "tools/Reduction.h"
#include "tools/Registration.h"
#include "tools/ShortHelp.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace cameo;

static constexpr StringLiteral kHelp =
    R"(cameo-reduce FILE.mlir --reduction-tree='test=SCRIPT' [-o FILE]
Makes IR that shows a bug smaller. SCRIPT is called with the name of a smaller file, and exits with 1
where that shows the bug, with 0 where it does not. A FILE of the name -, or none, is standard input.

  cameoc model.onnx --stop-after=imported -o model.mlir
  cameo-reduce model.mlir --reduction-tree='test=crashes.sh' -o small.mlir

with crashes.sh, which can be executed:

  #!/bin/sh
  ! cameoc "$1" --start-from=imported -o /dev/null --emit=plan 2>&1 | grep -q 'has a bug'

  --reduction-tree='test=SCRIPT test-arg=WORD'  reduces; SCRIPT gets the words in front of the file's name
  -o FILE                                       where to write; -, or without it: standard output
  --PASS                                        runs a pass of cameo-opt instead, or in front of it

)";

static LogicalResult runPasses(ModuleOp module, const PassPipelineCLParser &pipeline) {
  PassManager passes(module.getContext());
  return success(
      succeeded(pipeline.addToPipeline(
          passes, [&](const Twine &what) { return emitError(module.getLoc()) << what; })) &&
      succeeded(passes.run(module)));
}

/// Whether what is in the module has locations that say anything.
static bool hasLocations(ModuleOp module) {
  return module.getBody()
      ->walk([](Operation *op) {
        return isa<UnknownLoc>(op->getLoc()) ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  reportCrashes(ArrayRef<const char *>(argv, argc));
  nameVersion();
  if (answerHelp(argc, argv, kHelp))
    return 0;
  printLocations();
  llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("FILE.mlir"),
                                   llvm::cl::init("-"));
  llvm::cl::opt<std::string> output("o", llvm::cl::desc("where to write; default standard output"),
                                    llvm::cl::init("-"));
  DialectRegistry registry;
  registerEverything(registry);
  registerReduction();
  registerOptReductionPass();
  PassPipelineCLParser pipeline("", "passes to run, such as --reduction-tree='test=SCRIPT'");
  llvm::cl::ParseCommandLineOptions(argc, argv, "Cameo's reducer of MLIR\n");
  if (!pipeline.hasAnyOccurrences()) {
    llvm::errs()
        << "error: no pass to run; --reduction-tree='test=SCRIPT' is the one that reduces\n";
    return 1;
  }

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &message);
  std::unique_ptr<llvm::ToolOutputFile> target = file ? openOutputFile(output, &message) : nullptr;
  if (!target) {
    llvm::errs() << message << "\n";
    return 1;
  }
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(file), SMLoc());
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module || failed(runPasses(*module, pipeline)))
    return 1;
  OpPrintingFlags flags;
  if (!hasLocations(*module))
    flags.enableDebugInfo(false);
  module->print(target->os(), flags);
  target->os() << "\n";
  target->keep();
  return 0;
}
