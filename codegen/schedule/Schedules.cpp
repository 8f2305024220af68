// The schedule classes in the order they are asked, and the passes that choose and apply them.
//
//   kernel.dispatch ... { linalg }  ==>  kernel.dispatch ... schedule #kernel.schedule<"map",
//   {...}> kernel.dispatch ... schedule    ==>  rt.launch @k0::@k0 ..., gpu.module @k0 { gpu.func
//   @k0 }
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Schedule.h"

#include "codegen/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Statistics.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_ASSIGNSCHEDULES
#define GEN_PASS_DEF_LOWERDISPATCHES
#include "codegen/Passes.h.inc"

ArrayRef<const Schedule *> schedules() {
  static const Schedule *const all[] = {contractionSchedule(), windowSchedule(), rowSchedule(),
                                        columnSchedule(),      scanSchedule(),   mapSchedule()};
  return all;
}

const Schedule *findSchedule(StringRef family) {
  for (const Schedule *schedule : schedules())
    if (schedule->family() == family)
      return schedule;
  return nullptr;
}

std::optional<int64_t> intParam(DictionaryAttr params, StringRef name) {
  if (auto attribute = params.getAs<IntegerAttr>(name))
    return attribute.getInt();
  return std::nullopt;
}

static const Target *targetOf(rt::VariantOp variant) {
  auto target = findTarget(variant.getTarget());
  if (target)
    return *target;
  variant.emitError(llvm::toString(target.takeError()));
  return nullptr;
}

namespace {

struct AssignSchedules : impl::AssignSchedulesBase<AssignSchedules> {
  using AssignSchedulesBase::AssignSchedulesBase;

  void runOnOperation() override {
    const Target *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    getOperation().walk([&](kernel::DispatchOp op) {
      if (op.getSchedule()) { // given: kept, checked where it is applied
        count(&getContext(), getArgument(), "kept");
        return;
      }
      for (const Schedule *schedule : schedules()) {
        if (!schedule->isSupported(op, *target))
          continue;
        op.setScheduleAttr(kernel::ScheduleAttr::get(op.getContext(), schedule->family(),
                                                     schedule->choose(op, *target)));
        count(&getContext(), getArgument(), "chosen");
        if (remarks)
          op.emitRemark() << target->name << ": schedule " << op.getScheduleAttr();
        return;
      }
    });
  }
};

struct LowerDispatches : impl::LowerDispatchesBase<LowerDispatches> {
  void runOnOperation() override {
    const Target *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    KernelEmitter emitter(getOperation());
    SmallVector<kernel::DispatchOp> dispatches;
    getOperation().walk([&](kernel::DispatchOp op) { dispatches.push_back(op); });
    int64_t launchesBefore = number<rt::LaunchOp>(), kernelsBefore = number<gpu::GPUFuncOp>();
    for (kernel::DispatchOp op : dispatches) {
      kernel::ScheduleAttr attribute = op.getScheduleAttr();
      if (!attribute) {
        op.emitError("has no schedule");
        return signalPassFailure();
      }
      const Schedule *schedule = findSchedule(attribute.getFamily());
      if (!schedule) {
        auto diagnostic = op.emitError() << "no schedule class is called '" << attribute.getFamily()
                                         << "'; known:";
        for (const Schedule *known : schedules())
          diagnostic << " " << known->family();
        return signalPassFailure();
      }
      if (!schedule->isSupported(op, *target)) {
        op.emitError() << "schedule '" << attribute.getFamily() << "' cannot compute this dispatch";
        return signalPassFailure();
      }
      if (failed(schedule->verify(op, attribute.getParams(), *target)) ||
          failed(schedule->emit(op, attribute.getParams(), emitter)))
        return signalPassFailure();
    }
    emitter.nameNodes();
    count(&getContext(), getArgument(), "dispatches", dispatches.size());
    count(&getContext(), getArgument(), "launches", number<rt::LaunchOp>() - launchesBefore);
    count(&getContext(), getArgument(), "kernels", number<gpu::GPUFuncOp>() - kernelsBefore);
  }

private:
  template <typename Op> int64_t number() {
    int64_t found = 0;
    getOperation().walk([&](Op) { ++found; });
    return found;
  }
};

} // namespace

} // namespace cameo
