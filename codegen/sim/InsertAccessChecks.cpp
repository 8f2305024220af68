// llvm.load %p : !llvm.ptr<1>    ==>    llvm.load from where api->access(%p) says
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/lower/DevicePatterns.h"
#include "codegen/sim/SimContext.h"
#include "passes/Statistics.h"

namespace cameo {
#define GEN_PASS_DEF_INSERTACCESSCHECKS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {
struct InsertAccessChecks : cameo::impl::InsertAccessChecksBase<InsertAccessChecks> {
  using InsertAccessChecksBase::InsertAccessChecksBase;

  void runOnOperation() override {
    for (LLVM::LLVMFuncOp body : simBodies(getOperation())) {
      SimContext context(body);
      SmallVector<Operation *> accesses;
      body.walk([&](Operation *op) {
        if (op->hasAttr(kSimAccessAttr))
          accesses.push_back(op);
      });
      for (Operation *op : accesses)
        check(op, context);
    }
  }

  void check(Operation *op, SimContext &context) {
    auto access = op->getAttrOfType<DictionaryAttr>(kSimAccessAttr);
    auto number = [&](StringRef name) { return access.getAs<IntegerAttr>(name).getInt(); };
    op->removeAttr(kSimAccessAttr);
    unsigned space = number("space") & 0xff;
    if (space != kGlobal && space != kShared)
      return;
    Location loc = op->getLoc();
    context.builder.setInsertionPoint(op);
    auto word = [&](StringRef name) { return context.constant(loc, context.i32, number(name)); };
    OpOperand &pointer = op->getOpOperand(number("kind") == CAMEO_SIM_WRITE ? 1 : 0);
    Value where = context.site(loc, access.getAs<StringAttr>("what").getValue());
    Value allowed = context
                        .call(loc, CAMEO_SIM_ENGINE(access),
                              {pointer.get(), word("bytes"), word("alignment"), word("space"),
                               word("kind"), where})
                        .getResult();
    pointer.set(allowed);
    count(&getContext(), getArgument(), "accesses");
  }
};
} // namespace
