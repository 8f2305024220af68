// Copies of kernels, and what is done where they cannot be vectorised.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimPasses.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace cameo;

void cameo::setWarpProblem(Function &function, StringRef problem) {
  function.addFnAttr(kWarpProblemAttr, problem);
}

/// Marks those variables of a kernel for waits of each lane's own whose copies have been found to need
/// it. Returns whether there are any that were not marked.
static bool markOwnWaits(const ValueToValueMapTy &copies) {
  bool changed = false;
  for (const auto &[original, copy] : copies) {
    auto *variable = dyn_cast<AllocaInst>(original);
    auto *copied = dyn_cast_or_null<AllocaInst>(copy);
    if (!variable || !copied || !copied->hasMetadata(kPartedWait) ||
        variable->hasMetadata(kOwnWaits))
      continue;
    const_cast<AllocaInst *>(variable)->setMetadata(kOwnWaits,
                                                    MDNode::get(variable->getContext(), {}));
    changed = true;
  }
  return changed;
}

/// Takes away what earlier copies were found to need.
static void forgetFindings(Function &kernel) {
  kernel.removeFnAttr(kWarpUnpredicatedAttr);
  for (Instruction &instruction : instructions(kernel))
    if (isa<AllocaInst>(instruction))
      instruction.setMetadata(kOwnWaits, nullptr);
}

bool FormWarpsPass::formWarp(Function &kernel, FunctionAnalysisManager &functions) {
  for (;;) {
    ValueToValueMapTy copies;
    Function *copy = CloneFunction(&kernel, copies);
    copy->setName(kernel.getName() + "$warp");
    copy->addFnAttr(kWarpAttr);
    functions.invalidate(*copy, steps.run(*copy, functions));
    if (!copy->hasFnAttribute(kWarpProblemAttr))
      return true;
    std::string problem = copy->getFnAttribute(kWarpProblemAttr).getValueAsString().str();
    bool predicated = copy->hasFnAttribute(kWarpPredicatedAttr);
    bool partsWaits = markOwnWaits(copies);
    functions.clear(*copy, copy->getName());
    copy->eraseFromParent();
    if (partsWaits)
      continue;
    if (!predicated) {
      setWarpProblem(kernel, problem);
      return false;
    }
    kernel.addFnAttr(kWarpUnpredicatedAttr);
  }
}

PreservedAnalyses FormWarpsPass::run(Module &module, ModuleAnalysisManager &analyses) {
  auto &functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  SmallVector<Function *> kernels;
  for (Function &function : module)
    if (function.hasFnAttribute(kWarpBlockAttr) && !function.hasFnAttribute(kWarpAttr))
      kernels.push_back(&function);
  for (Function *kernel : kernels) {
    bool formed = formWarp(*kernel, functions);
    forgetFindings(*kernel);
    if (!formed || keepsScalar)
      continue;
    functions.clear(*kernel, kernel->getName());
    kernel->eraseFromParent();
  }
  return PreservedAnalyses::none();
}
