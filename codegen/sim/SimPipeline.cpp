// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimPipeline.h"

#include "codegen/emit/LlvmModule.h"
#include "codegen/sim/SimPasses.h"

#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Utils/UnifyFunctionExitNodes.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

using namespace llvm;

namespace cameo {

Expected<std::unique_ptr<TargetMachine>> createSimMachine(bool unoptimised) {
  TargetOptions options;
  options.EmitStackSizeSection = true;
  return createTargetMachine("x86_64-unknown-linux-gnu", "x86-64-v3", "",
                             unoptimised ? CodeGenOptLevel::None : CodeGenOptLevel::Default,
                             options);
}

PipelineTuningOptions simTuning() {
  PipelineTuningOptions tuning;
  // The vectoriser of straight-line code costs matrix kernels a third of their speed.
  tuning.SLPVectorization = false;
  return tuning;
}

/// Passes that leave less code to emit.
static FunctionPassManager quickWarpOptimizations() {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass());
  return passes;
}

ModulePassManager buildSimPipeline(PassBuilder &builder, SimForms forms, bool quick) {
  ModulePassManager passes;
  // First of all: calls that only compute may be moved, and those in which lanes meet may not.
  passes.addPass(BindMathCallsPass());
  passes.addPass(createModuleToFunctionPassAdaptor(MarkCollectivesPass()));
  passes.addPass(builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2));
  passes.addPass(createModuleToFunctionPassAdaptor(ExpandFillsPass()));
  if (forms == SimForms::Thread)
    return passes;
  // Of optimised code: variables are values, bodies are inlined, and loops have their final form.
  passes.addPass(FormWarpsPass(warpSteps(), /*keepsScalar=*/forms == SimForms::Both));
  passes.addPass(createModuleToFunctionPassAdaptor(
      OptimizeWarpsPass(quick ? quickWarpOptimizations() : warpOptimizations())));
  return passes;
}

FunctionPassManager warpSteps() {
  FunctionPassManager passes;
  passes.addPass(ComputeBehindJoinsPass());
  // So that what leaves loops is split, too.
  passes.addPass(LCSSAPass());
  // Before operands are rows: it looks for the buffers of matrix instructions.
  passes.addPass(SplitMatrixPhisPass());
  passes.addPass(SpreadLanesPass());
  // What the steps from here on expect: branches instead of switches, one return, loops in simplified
  // form, and phis for what leaves them.
  passes.addPass(DCEPass());
  passes.addPass(LowerSwitchPass());
  passes.addPass(UnifyFunctionExitNodesPass());
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  // Before loops: those behind such a branch are all lanes' then.
  passes.addPass(UniformiseBranchesPass());
  passes.addPass(SplitCountersPass());
  passes.addPass(PredicateLoopsPass());
  // Behind the loops that become the warp's, in which accesses can be checked for 32 lanes.
  passes.addPass(GroupChecksPass());
  // Behind all that makes the warp come by where lanes did, and before lanes are looped over.
  passes.addPass(VerifyCollectivesPass());
  passes.addPass(GatherCopiesPass());
  passes.addPass(LoopOverLanesPass());
  // Of rows and lane loops.
  passes.addPass(JoinMatricesPass());
  passes.addPass(VersionLoopsPass());
  // What versions have left.
  passes.addPass(ResolveAddressesPass());
  return passes;
}

FunctionPassManager warpOptimizations() {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  // Blocks of a lane loop come together, and small branches become selections.
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
  LoopPassManager hoist;
  hoist.addPass(LICMPass(LICMOptions()));
  hoist.addPass(IndVarSimplifyPass());
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(hoist), /*UseMemorySSA=*/true));
  passes.addPass(LoopVectorizePass(LoopVectorizeOptions()));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(ADCEPass());
  return passes;
}

void registerSimAnalyses(FunctionAnalysisManager &functions) {
  functions.registerPass([] { return DivergenceAnalysis(); });
}

/// Passes on functions by name, one or a whole part of the pipeline.
static bool parseFunctionPass(StringRef name, FunctionPassManager &passes) {
#define CAMEO_SIM_FUNCTION_PASS(NAME, CLASS)                                                       \
  if (name == NAME) {                                                                              \
    passes.addPass(CLASS());                                                                       \
    return true;                                                                                   \
  }
#define CAMEO_WARP_PASS(NAME, CLASS) CAMEO_SIM_FUNCTION_PASS(NAME, CLASS)
#include "codegen/sim/SimPasses.def"
  if (name == "print<cameo-warp-divergence>")
    passes.addPass(DivergencePrinterPass());
  else if (name == "cameo-warp-steps")
    passes.addPass(warpSteps());
  else if (name == "cameo-warp-optimize")
    passes.addPass(OptimizeWarpsPass(warpOptimizations()));
  else
    return false;
  return true;
}

static bool parseModulePass(PassBuilder &builder, StringRef name, ModulePassManager &passes) {
#define CAMEO_SIM_MODULE_PASS(NAME, CLASS)                                                         \
  if (name == NAME) {                                                                              \
    passes.addPass(CLASS());                                                                       \
    return true;                                                                                   \
  }
#include "codegen/sim/SimPasses.def"
  if (name == "cameo-form-warps")
    passes.addPass(FormWarpsPass(warpSteps(), /*keepsScalar=*/false));
  else if (name == "cameo-form-warps<keep-scalar>")
    passes.addPass(FormWarpsPass(warpSteps(), /*keepsScalar=*/true));
  else if (name == "cameo-sim")
    passes.addPass(buildSimPipeline(builder, SimForms::Warp, /*quick=*/false));
  else
    return false;
  return true;
}

void registerSimPasses(PassBuilder &builder) {
  builder.registerAnalysisRegistrationCallback(registerSimAnalyses);
  builder.registerPipelineParsingCallback(
      [](StringRef name, FunctionPassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
        return parseFunctionPass(name, passes);
      });
  builder.registerPipelineParsingCallback([&builder](StringRef name, ModulePassManager &passes,
                                                     ArrayRef<PassBuilder::PipelineElement>) {
    return parseModulePass(builder, name, passes);
  });
  // Options that print name passes by these.
  if (PassInstrumentationCallbacks *callbacks = builder.getPassInstrumentationCallbacks()) {
#define CAMEO_SIM_MODULE_PASS(NAME, CLASS) callbacks->addClassToPassName(CLASS::name(), NAME);
#define CAMEO_SIM_FUNCTION_PASS(NAME, CLASS) callbacks->addClassToPassName(CLASS::name(), NAME);
#define CAMEO_WARP_PASS(NAME, CLASS) callbacks->addClassToPassName(CLASS::name(), NAME);
#include "codegen/sim/SimPasses.def"
    callbacks->addClassToPassName(FormWarpsPass::name(), "cameo-form-warps");
    callbacks->addClassToPassName(OptimizeWarpsPass::name(), "cameo-warp-optimize");
    callbacks->addClassToPassName(DivergencePrinterPass::name(), "print<cameo-warp-divergence>");
  }
}

} // namespace cameo
