// cameo-sim-opt: reads LLVM IR of a simulated kernel, runs passes, writes LLVM IR; like LLVM's opt, with
// the steps of the simulator's compiler.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/LlvmModule.h"
#include "codegen/sim/SimPipeline.h"
#include "tools/CrashReports.h"
#include "tools/ShortHelp.h"

#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

static constexpr StringLiteral kHelp =
    R"(cameo-sim-opt FILE.ll --passes=NAMES [-o FILE]
Runs passes on the LLVM IR of simulated kernels, LLVM's and those of the simulator's compiler. A FILE of the
name -, or none, is standard input.

  cameo-translate --kernel-to-sim-ir kernels.mlir | cameo-sim-opt --passes=cameo-sim

  --passes=NAMES              what to run, as LLVM's opt takes it
  --list-passes               prints the names of the simulator's passes
  -o FILE                     where to write; -, or without it: standard output
  --verify-each               verifies the IR after each pass
  --debug-pass-manager        prints passes and analyses as they run
  --print-after-all           prints the IR after each pass

)";

static cl::opt<std::string> input(cl::Positional, cl::init("-"),
                                  cl::desc("LLVM IR; - is standard input"));
static cl::opt<std::string> output("o", cl::init("-"), cl::value_desc("file"),
                                   cl::desc("where the result goes; - is standard output"));
static cl::opt<std::string> passes("passes", cl::value_desc("names"),
                                   cl::desc("what to run, as LLVM's opt takes it"));
static cl::opt<bool> listPasses("list-passes", cl::desc("print the simulator's passes"));
static cl::opt<bool> verifyEach("verify-each", cl::desc("verify the IR after each pass"));
static cl::opt<bool> debugPasses("debug-pass-manager",
                                 cl::desc("print passes and analyses as run"));

static Error run() {
  if (listPasses) {
#define CAMEO_SIM_MODULE_PASS(NAME, CLASS) outs() << NAME << "\n";
#define CAMEO_SIM_FUNCTION_PASS(NAME, CLASS) outs() << NAME << "\n";
#define CAMEO_WARP_PASS(NAME, CLASS) outs() << NAME << "\n";
#include "codegen/sim/SimPasses.def"
    return Error::success();
  }
  LLVMContext context;
  SMDiagnostic problem;
  std::unique_ptr<Module> module = parseIRFile(input, problem, context);
  if (!module) {
    problem.print("cameo-sim-opt", errs());
    return createStringError(inconvertibleErrorCode(), "no module to work on");
  }
  auto machine = cameo::createSimMachine();
  if (!machine)
    return machine.takeError();
  module->setTargetTriple((*machine)->getTargetTriple().str());
  module->setDataLayout((*machine)->createDataLayout());

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graphs;
  ModuleAnalysisManager modules;
  PassInstrumentationCallbacks callbacks;
  StandardInstrumentations instrumentations(context, debugPasses, verifyEach);
  instrumentations.registerCallbacks(callbacks, &modules);
  PassBuilder builder(machine->get(), cameo::simTuning(), std::nullopt, &callbacks);
  cameo::registerSimPasses(builder);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);

  ModulePassManager manager;
  if (Error error = builder.parsePassPipeline(manager, passes))
    return error;
  manager.addPass(VerifierPass());
  std::error_code error;
  ToolOutputFile file(output, error, sys::fs::OF_Text);
  if (error)
    return createStringError(error, "cannot write " + output + ": " + error.message());
  manager.run(*module, modules);
  module->print(file.os(), nullptr);
  file.keep();
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cameo::reportCrashes(ArrayRef<const char *>(argv, argc));
  cameo::nameVersion();
  if (cameo::answerHelp(argc, argv, kHelp))
    return 0;
  cl::ParseCommandLineOptions(argc, argv, "Runs steps of the simulator's compiler on LLVM IR\n");
  if (Error error = run()) {
    WithColor::error(errs(), "cameo-sim-opt") << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
