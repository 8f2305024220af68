// Dispatches become launches of kernels, which their schedules' classes write.
//
//   kernel.dispatch ... schedule #kernel.schedule<"map", {...}>
//     ==>  rt.launch @k0::@k0 ..., gpu.module @k0 { gpu.func @k0 }
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/schedule/MatchSchedule.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_LOWERDISPATCHES
#include "codegen/Passes.h.inc"

namespace {

struct LowerDispatches : impl::LowerDispatchesBase<LowerDispatches> {
  using LowerDispatchesBase::LowerDispatchesBase;

  void runOnOperation() override {
    const Target *target = scheduledTarget(getOperation());
    if (!target)
      return signalPassFailure();
    KernelEmitter emitter(getOperation(), *target, indexBound);
    SmallVector<kernel::DispatchOp> dispatches;
    getOperation().walk([&](kernel::DispatchOp op) { dispatches.push_back(op); });
    int64_t launchesBefore = number<rt::LaunchOp>(), kernelsBefore = number<gpu::GPUFuncOp>();
    for (kernel::DispatchOp op : dispatches)
      if (failed(lower(op, *target, emitter)))
        return signalPassFailure();
    emitter.nameNodes();
    count(&getContext(), getArgument(), "dispatches", dispatches.size());
    count(&getContext(), getArgument(), "launches", number<rt::LaunchOp>() - launchesBefore);
    count(&getContext(), getArgument(), "kernels", number<gpu::GPUFuncOp>() - kernelsBefore);
  }

private:
  static LogicalResult lower(kernel::DispatchOp op, const Target &target, KernelEmitter &emitter) {
    Computation computation(op);
    std::unique_ptr<ScheduleMatch> match = matchAssigned(computation, target);
    if (!match)
      return failure();
    emitter.begin(op);
    emitter.setEstimate(match->estimate(op.getScheduleAttr().getParams()));
    auto results = match->emit(op.getScheduleAttr().getParams(), emitter);
    if (failed(results))
      return failure();
    op.replaceAllUsesWith(*results);
    op.erase();
    return success();
  }

  template <typename Op> int64_t number() {
    int64_t found = 0;
    getOperation().walk([&](Op) { ++found; });
    return found;
  }
};

} // namespace

} // namespace cameo
