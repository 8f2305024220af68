// llvm.call @cameo.sim.barrier(%thread, ...)    ==>    llvm.call thread->api->barrier(%thread, ...)
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "passes/Statistics.h"

namespace cameo {
#define GEN_PASS_DEF_LOWERENGINECALLS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {
struct LowerEngineCalls : cameo::impl::LowerEngineCallsBase<LowerEngineCalls> {
  using LowerEngineCallsBase::LowerEngineCallsBase;

  void runOnOperation() override {
    for (LLVM::LLVMFuncOp body : simBodies(getOperation()))
      lower(body);
    auto functions = getOperation()->getRegion(0).getOps<LLVM::LLVMFuncOp>();
    for (LLVM::LLVMFuncOp function : llvm::to_vector(functions))
      if (function->hasAttr(kSimEngineAttr))
        function.erase();
  }

  void lower(LLVM::LLVMFuncOp body) {
    SimContext context(body);
    std::map<size_t, Value> entries; // loaded once
    SmallVector<std::pair<LLVM::CallOp, size_t>> calls;
    body.walk([&](LLVM::CallOp call) {
      if (!call.getCallee())
        return;
      auto callee =
          cast<LLVM::LLVMFuncOp>(SymbolTable::lookupSymbolIn(moduleOf(body), call.getCalleeAttr()));
      if (auto offset = callee->getAttrOfType<IntegerAttr>(kSimEngineAttr))
        calls.push_back({call, offset.getInt()});
    });
    for (auto [call, offset] : calls) {
      Value &entry = entries[offset];
      if (!entry) {
        Value api = context.member(context.ptr, offsetof(CameoSimThread, api));
        context.builder.setInsertionPointAfterValue(api);
        entry = context.loadInvariant(context.ptr, context.at(body.getLoc(), api, offset));
      }
      SmallVector<Value> operands{entry};
      llvm::append_range(operands, call.getArgOperands());
      context.builder.setInsertionPoint(call);
      auto lowered = context.builder.create<LLVM::CallOp>(call.getLoc(),
                                                          call.getCalleeFunctionType(), operands);
      context.replace(call, lowered.getResults());
      count(&getContext(), getArgument(), "calls");
    }
  }
};
} // namespace
