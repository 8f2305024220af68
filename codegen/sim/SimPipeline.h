// The order of the simulator's compiler's steps on LLVM IR.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Backend.h"

#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace cameo {

/// The machine that images are compiled for. Machine code with checks is not optimised: it is run seldom, and most of its
/// time is the engine's, which is told of each access. Measured of SqueezeNet: half the time to compile, the same to run
/// in FP32 and a quarter more in FP16. Neither is quick code, which the pipeline leaves longer, too.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createSimMachine(bool unoptimised = false);

/// How images are compiled.
llvm::PipelineTuningOptions simTuning();

/// All steps, for modules as LLVM's translation leaves them.
llvm::ModulePassManager buildSimPipeline(llvm::PassBuilder &builder, SimForms forms, bool quick);

/// From a copy of a kernel to the vectorised kernel, before optimisation.
llvm::FunctionPassManager warpSteps();

/// Optimises vectorised kernels: what lanes have in common leaves their loops, whose lanes become
/// SIMD's.
llvm::FunctionPassManager warpOptimizations();

/// Makes `functions` know the steps' analyses.
void registerSimAnalyses(llvm::FunctionAnalysisManager &functions);

/// Makes `builder` know the steps by their names, and their analyses.
void registerSimPasses(llvm::PassBuilder &builder);

} // namespace cameo
