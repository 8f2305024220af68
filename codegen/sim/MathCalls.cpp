// Calls of libdevice functions become calls through the thread's function table, which is the first
// parameter of each function.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace cameo;

PreservedAnalyses BindMathCallsPass::run(Module &module, ModuleAnalysisManager &) {
  StringMap<EngineFunction> functions;
#define CAMEO_MATH(NAME)                                                                           \
  functions.insert({"__nv_" #NAME "f", CAMEO_SIM_ENGINE(NAME##f)});                                \
  functions.insert({"__nv_" #NAME, CAMEO_SIM_ENGINE(NAME)});
  CAMEO_SIM_MATH1(CAMEO_MATH)
  CAMEO_SIM_MATH2(CAMEO_MATH)
#undef CAMEO_MATH

  for (Function &function : make_early_inc_range(module)) {
    if (!function.isDeclaration() || function.isIntrinsic())
      continue;
    auto found = functions.find(function.getName());
    if (found == functions.end()) {
      module.getContext().emitError("the simulator has no function " + function.getName());
      continue;
    }
    for (User *user : make_early_inc_range(function.users())) {
      auto *call = cast<CallInst>(user);
      Function *caller = call->getFunction();
      // The table does not change, so that the loads can go where LLVM likes.
      IRBuilder<> entry(&*caller->getEntryBlock().getFirstInsertionPt());
      call->setCalledOperand(engineEntry(entry, found->second));
      call->setDoesNotAccessMemory();
      call->setDoesNotThrow();
      call->addFnAttr(Attribute::WillReturn);
    }
    function.eraseFromParent();
  }
  return PreservedAnalyses::none();
}
