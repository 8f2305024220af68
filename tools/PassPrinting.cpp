// MLIR's options are LLVM's command line's: it is given these and nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "tools/PassPrinting.h"

#include "codegen/Passes.h"
#include "passes/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace cameo;

/// Whether some stage's pipeline has the pass that is to be printed after.
static llvm::Error checkPrintedPass(StringRef name, const PipelineOptions &pipeline) {
  if (name.empty() || name == "all")
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream stream(text);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  for (const StageInfo &info : stages()) {
    PassManager passes(&context, ModuleOp::getOperationName());
    populateStage(passes, info.stage, pipeline);
    passes.printAsTextualPipeline(stream);
  }
  if (llvm::Regex("[(,]" + llvm::Regex::escape(name) + "[,{)]").match(text))
    return llvm::Error::success();
  return llvm::createStringError("--print-ir-after: no pass of the pipeline is called '" +
                                 name.str() + "'; --print-pipeline lists them");
}

static llvm::Error readMlirOptions(ArrayRef<std::string> given) {
  // Options know passes by the names they are registered by.
  registerCameoPasses();
  registerCameoCodegenPasses();
  registerTransformsPasses();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  if (given.empty())
    return llvm::Error::success();
  std::vector<const char *> arguments = {"cameoc"};
  for (const std::string &argument : given)
    arguments.push_back(argument.c_str());
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::cl::ParseCommandLineOptions(arguments.size(), arguments.data(), "", &stream))
    return llvm::Error::success();
  // Of values LLVM has said by itself what is wrong.
  StringRef text = StringRef(problem).trim();
  return llvm::createStringError(text.empty() ? "MLIR does not take these options" : text);
}

llvm::Expected<std::unique_ptr<PassPrinting>> PassPrinting::create(const CameocOptions &options) {
  if (llvm::Error error = checkPrintedPass(options.printIrAfter, options.pipeline))
    return std::move(error);
  if (llvm::Error error = readMlirOptions(options.mlir))
    return std::move(error);
  return std::unique_ptr<PassPrinting>(new PassPrinting(options));
}

PassPrinting::PassPrinting(const CameocOptions &options) : options(options) {
  applyDefaultTimingManagerCLOptions(timing);
  total = timing.getRootScope();
}

/// Prints what passes have changed, on stderr; of large constants the names only.
static void printIrAfter(PassManager &passes, StringRef wanted) {
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16).elideLargeResourceString(64);
  passes.enableIRPrinting([](Pass *, Operation *) { return false; },
                          [wanted](Pass *pass, Operation *) {
                            return wanted == "all" || wanted == pass->getArgument();
                          },
                          /*printModuleScope=*/false, /*printAfterOnlyOnChange=*/true,
                          /*printAfterOnlyOnFailure=*/false, llvm::errs(), flags);
}

void PassPrinting::attach(PassManager &passes) {
  if (options.printPipeline) {
    passes.printAsTextualPipeline(llvm::errs());
    llvm::errs() << "\n";
  }
  if (!options.printIrAfter.empty())
    printIrAfter(passes, options.printIrAfter);
  // What it refuses is to print modules while passes run at the same time, which -j 1 rules out.
  (void)applyPassManagerCLOptions(passes);
  passes.enableTiming(total);
}
