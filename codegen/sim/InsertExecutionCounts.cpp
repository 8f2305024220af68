// ^block:    ==>    ++thread->executions[block]
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "passes/Statistics.h"

namespace cameo {
#define GEN_PASS_DEF_INSERTEXECUTIONCOUNTS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {
struct InsertExecutionCounts : cameo::impl::InsertExecutionCountsBase<InsertExecutionCounts> {
  using InsertExecutionCountsBase::InsertExecutionCountsBase;

  void runOnOperation() override {
    for (LLVM::LLVMFuncOp body : simBodies(getOperation()))
      insert(body);
  }

  void insert(LLVM::LLVMFuncOp body) {
    SimContext context(body);
    OpBuilder &builder = context.builder;
    Value counters = context.member(context.ptr, offsetof(CameoSimThread, executions));
    for (auto [index, block] : llvm::enumerate(body.getBody())) {
      Location loc = body.getLoc();
      if (&block == &body.getBody().front())
        builder.setInsertionPointAfterValue(counters);
      else
        builder.setInsertionPointToStart(&block);
      Value place = context.at(loc, counters, sizeof(uint64_t) * index);
      Value times = builder.create<LLVM::LoadOp>(loc, context.i64, place, /*alignment=*/8);
      times = builder.create<LLVM::AddOp>(loc, times, context.constant(loc, context.i64, 1));
      builder.create<LLVM::StoreOp>(loc, times, place, /*alignment=*/8);
      count(&getContext(), getArgument(), "blocks");
    }
  }
};
} // namespace
