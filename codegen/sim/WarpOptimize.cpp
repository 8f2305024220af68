// The pass pipeline of vectorised forms.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/LlvmModule.h"
#include "codegen/sim/WarpForm.h"

#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

using namespace llvm;

void cameo::optimizeWarpForms(Module &module, TargetMachine &machine) {
  PassAnalyses analyses(&machine);
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
  for (Function &function : module)
    if (!function.isDeclaration() && function.getName().ends_with("$warp"))
      passes.run(function, analyses.functions);
}
