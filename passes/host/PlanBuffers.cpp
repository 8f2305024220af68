// Tensors ==> buffers: the last step to a launch plan. The pass and the order of its parts; the
// work is BufferPlanner's.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/Statistics.h"
#include "passes/host/BufferPlanner.h"

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
    if (failed(BufferPlanner(function).run()))
      return signalPassFailure();
    function.walk([&](rt::ArenaViewOp) { count(&getContext(), getArgument(), "arena-buffers"); });
    function.walk([&](rt::LaunchOp launch) {
      if (auto pairs = launch->getAttrOfType<DenseI64ArrayAttr>(rt::kInPlaceAttr))
        count(&getContext(), getArgument(), "in-place", pairs.size() / 2);
    });
    function.walk([&](rt::CopyOp) { count(&getContext(), getArgument(), "copies"); });
    if (auto memory = function->getAttrOfType<DictionaryAttr>(kPlanMemoryAttr)) {
      auto bytes = [&](StringRef name) { return memory.getAs<IntegerAttr>(name).getInt(); };
      int64_t fewer = bytes("tensor_sum_bytes") - bytes("arena_bytes");
      count(&getContext(), getArgument(), "bytes-saved", std::max<int64_t>(fewer, 0));
    }
  }
};
} // namespace
