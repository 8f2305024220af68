// Tensors ==> buffers: the last step to a launch plan. The pass and the order of its parts; the
// work is BufferPlanner's.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/InPlace.h"
#include "dialects/rt/Ledger.h"
#include "passes/Passes.h"
#include "passes/Statistics.h"
#include "passes/host/BufferPlanner.h"
#include "passes/host/VerifyPlan.h"

namespace cameo {
#define GEN_PASS_DEF_PLANBUFFERS
#include "passes/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {
struct PlanBuffers : cameo::impl::PlanBuffersBase<PlanBuffers> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // A plan has no arguments: planned already.
    if (function->hasAttr(kPlanInputsAttr))
      return;
    SmallVector<bool> allowed = inPlace(function);
    // Here and not at the end of the stage, because only here is it known which tensor a launch
    // reads: a plan has buffers, which hold one after the other.
    std::optional<PlannedValues> values;
    if (function.getBody().hasOneBlock()) {
      numberTaps(function);
      values.emplace(function);
    }
    if (failed(BufferPlanner(function).run()) || failed(values->verify(function)))
      return signalPassFailure();
    record(function, allowed);
    function.walk([&](rt::ArenaViewOp) { count(&getContext(), getArgument(), "arena-buffers"); });
    function.walk([&](rt::LaunchOp launch) {
      if (auto pairs = launch->getAttrOfType<DenseI64ArrayAttr>(rt::kInPlaceAttr))
        count(&getContext(), getArgument(), "in-place", pairs.size() / 2);
    });
    function.walk([&](rt::TapOp) { count(&getContext(), getArgument(), "taps"); });
    function.walk([&](rt::CopyOp) { count(&getContext(), getArgument(), "copies"); });
    if (auto memory = function->getAttrOfType<DictionaryAttr>(kPlanMemoryAttr)) {
      auto bytes = [&](StringRef name) { return memory.getAs<IntegerAttr>(name).getInt(); };
      int64_t fewer = bytes("tensor_sum_bytes") - bytes("arena_bytes");
      count(&getContext(), getArgument(), "bytes-saved", std::max<int64_t>(fewer, 0));
    }
  }

private:
  /// Of each launch, whether it may write over an operand or does.
  static SmallVector<bool> inPlace(func::FuncOp function) {
    SmallVector<bool> found;
    function.walk([&](rt::LaunchOp launch) { found.push_back(launch->hasAttr(rt::kInPlaceAttr)); });
    return found;
  }

  /// What became of those that were allowed to. Launches are planned one by one, in order.
  static void record(func::FuncOp function, ArrayRef<bool> allowed) {
    rt::Ledger ledger(function);
    function.walk([&](rt::LaunchOp launch) {
      bool mayBe = allowed.front();
      allowed = allowed.drop_front();
      if (launch->hasAttr(rt::kInPlaceAttr))
        ledger.applied("in-place", launch.getLoc(), "written over what it reads",
                       "nothing reads that afterwards");
      else if (mayBe)
        ledger.missed(
            "in-place", launch.getLoc(), "not written over what it reads",
            "that is not an intermediate value of its size, or is read afterwards, or the "
            "result is an output");
    });
  }
};
} // namespace
