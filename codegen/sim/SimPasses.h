// The passes of the simulator's compiler on LLVM IR, and what they tell each other in it.
//
// A kernel that is to be vectorised says so with kWarpBlockAttr. FormWarpsPass makes a copy of it, and
// the steps turn the copy from code for one lane into code for the warp. A step that finds that this
// cannot be done says why on the copy, and the steps after it leave the copy alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/sim/Divergence.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/PassManager.h"

namespace cameo {

/// Attributes of kernels:
///
/// the threads of a block in x, y and z, which is what says that a kernel is to be vectorised,
constexpr llvm::StringLiteral kWarpBlockAttr = "cameo-warp-block";
/// a copy that is being vectorised, or has been,
constexpr llvm::StringLiteral kWarpAttr = "cameo-warp";
/// why it cannot be; in the end, why a kernel has no vectorised form,
constexpr llvm::StringLiteral kWarpProblemAttr = "cameo-warp-problem";
/// some loop has been predicated; and: none is to be.
constexpr llvm::StringLiteral kWarpPredicatedAttr = "cameo-warp-predicated";
constexpr llvm::StringLiteral kWarpUnpredicatedAttr = "cameo-warp-no-predication";

/// Metadata of the variable that a wait for an mbarrier has its operands in: lanes are found to wait
/// for different ones; and: each lane is to wait for itself.
constexpr llvm::StringLiteral kPartedWait = "cameo.wait.parted";
constexpr llvm::StringLiteral kOwnWaits = "cameo.wait.own";

/// The property of loops over lanes, and the operand bundle with the rows of a matrix instruction,
/// by word; null: of no interest.
constexpr llvm::StringLiteral kLaneLoop = "cameo.lane.loop";
constexpr llvm::StringLiteral kMatrixRows = "cameo.rows";

/// The call that stands for the lane's number, of a function that does not exist: from
/// SpreadLanesPass to LoopOverLanesPass. Null: there is none.
llvm::Instruction *laneOf(llvm::Function &function);

/// Says that `function` cannot be vectorised.
void setWarpProblem(llvm::Function &function, llvm::StringRef problem);

/// Uniformity analysis of functions with a lane's number.
class DivergenceAnalysis : public llvm::AnalysisInfoMixin<DivergenceAnalysis> {
  friend llvm::AnalysisInfoMixin<DivergenceAnalysis>;
  static llvm::AnalysisKey Key;

public:
  using Result = Divergence;
  Result run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

/// `print<cameo-warp-divergence>`: what is known of each instruction and block, for tests.
struct DivergencePrinterPass : llvm::PassInfoMixin<DivergencePrinterPass> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

/// A step: `rewrite` returns whether it has changed a function.
template <typename Pass> struct SimPass : llvm::PassInfoMixin<Pass> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    return static_cast<Pass *>(this)->rewrite(function, analyses) ? llvm::PreservedAnalyses::none()
                                                                  : llvm::PreservedAnalyses::all();
  }
};

/// A step on functions that are being vectorised.
template <typename Pass> struct WarpPass : llvm::PassInfoMixin<Pass> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    if (!function.hasFnAttribute(kWarpAttr) || function.hasFnAttribute(kWarpProblemAttr) ||
        !static_cast<Pass *>(this)->rewrite(function, analyses))
      return llvm::PreservedAnalyses::all();
    return llvm::PreservedAnalyses::none();
  }
};

#define CAMEO_SIM_MODULE_PASS(NAME, CLASS)                                                         \
  struct CLASS : llvm::PassInfoMixin<CLASS> {                                                      \
    static bool isRequired() { return true; }                                                      \
    llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &analyses);      \
  };
#define CAMEO_SIM_FUNCTION_PASS(NAME, CLASS)                                                       \
  struct CLASS : SimPass<CLASS> {                                                                  \
    bool rewrite(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);               \
  };
#define CAMEO_WARP_PASS(NAME, CLASS)                                                               \
  struct CLASS : WarpPass<CLASS> {                                                                 \
    bool rewrite(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);               \
  };
#include "codegen/sim/SimPasses.def"

/// Runs `steps` on a copy of each kernel with kWarpBlockAttr: `<kernel>$warp`. Where they find a
/// problem that another copy may not have, they run once more: lanes wait each for itself where they
/// were found to wait for different mbarriers, or no loop is predicated. A kernel that has been
/// vectorised goes, unless `keepsScalar`; one that cannot be has kWarpProblemAttr.
class FormWarpsPass : public llvm::PassInfoMixin<FormWarpsPass> {
public:
  FormWarpsPass(llvm::FunctionPassManager steps, bool keepsScalar)
      : steps(std::move(steps)), keepsScalar(keepsScalar) {}
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &analyses);

private:
  bool formWarp(llvm::Function &kernel, llvm::FunctionAnalysisManager &functions);
  llvm::FunctionPassManager steps;
  bool keepsScalar;
};

/// Runs `passes` on vectorised kernels.
class OptimizeWarpsPass : public llvm::PassInfoMixin<OptimizeWarpsPass> {
public:
  explicit OptimizeWarpsPass(llvm::FunctionPassManager passes) : passes(std::move(passes)) {}
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    return function.hasFnAttribute(kWarpAttr) ? passes.run(function, analyses)
                                              : llvm::PreservedAnalyses::all();
  }

private:
  llvm::FunctionPassManager passes;
};

} // namespace cameo
