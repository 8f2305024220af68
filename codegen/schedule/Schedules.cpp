// The schedule classes in the order they are asked, and the passes that choose and apply them.
//
//   kernel.dispatch ... { linalg }  ==>  kernel.dispatch ... schedule #kernel.schedule<"map",
//   {...}> kernel.dispatch ... schedule    ==>  rt.launch @k0::@k0 ..., gpu.module @k0 { gpu.func
//   @k0 }
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Schedule.h"

#include "codegen/Passes.h"
#include "codegen/schedule/ScheduleFile.h"
#include "dialects/rt/Ledger.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Statistics.h"

#include <set>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_ASSIGNSCHEDULES
#define GEN_PASS_DEF_LOWERDISPATCHES
#include "codegen/Passes.h.inc"

ArrayRef<const Schedule *> schedules() {
  static const Schedule *const all[] = {
      mmaSchedule(),    contractionSchedule(), windowSchedule(),    rowSchedule(),
      columnSchedule(), scanSchedule(),        transposeSchedule(), mapSchedule()};
  return all;
}

const Schedule *findSchedule(StringRef family) {
  for (const Schedule *schedule : schedules())
    if (schedule->family() == family)
      return schedule;
  return nullptr;
}

std::pair<const Schedule *, std::unique_ptr<ScheduleMatch>> matchSchedule(kernel::DispatchOp op,
                                                                          const Target &target) {
  Computation computation(op);
  for (const Schedule *schedule : schedules())
    if (std::unique_ptr<ScheduleMatch> match = schedule->match(computation, target))
      return {schedule, std::move(match)};
  return {};
}

llvm::BitVector ScheduleMatch::readApart() const {
  return llvm::BitVector(op.getInputs().size() + op.getNumResults());
}

double ScheduleMatch::layoutCost(const AccessPattern &pattern, OperandOrders orders) const {
  return pattern.bytesMoved(orders, readApart(), /*mayGoAlongReduced=*/true);
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

/// The match of the class that a given schedule names; null, and an error, where it cannot be.
static std::unique_ptr<ScheduleMatch> matchGiven(kernel::DispatchOp op, kernel::ScheduleAttr given,
                                                 const Target &target) {
  const Schedule *schedule = findSchedule(given.getFamily());
  if (!schedule) {
    auto diagnostic = op.emitError()
                      << "no schedule class is called '" << given.getFamily() << "'; known:";
    for (const Schedule *known : schedules())
      diagnostic << " " << known->family();
    return nullptr;
  }
  std::unique_ptr<ScheduleMatch> match = schedule->match(Computation(op), target);
  if (!match)
    op.emitError() << "schedule '" << given.getFamily() << "' cannot compute this dispatch";
  else if (failed(match->verify(given.getParams())))
    match.reset();
  return match;
}

namespace {

struct AssignSchedules : impl::AssignSchedulesBase<AssignSchedules> {
  using AssignSchedulesBase::AssignSchedulesBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (schedules.empty())
      return success();
    llvm::Expected<ScheduleFile> read = ScheduleFile::read(schedules, context);
    if (!read)
      return emitError(UnknownLoc::get(context), llvm::toString(read.takeError()));
    file = std::make_shared<const ScheduleFile>(std::move(*read));
    return success();
  }

  void runOnOperation() override {
    const Target *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    std::string spelling = getOperation().getTarget().spelling();
    rt::Ledger ledger(getOperation());
    DispatchHasher hasher;
    std::set<DispatchKey> replayed;
    WalkResult result = getOperation().walk([&](kernel::DispatchOp op) {
      if (op.getSchedule()) { // given: kept, checked where it is applied
        count(&getContext(), getArgument(), "kept");
        return WalkResult::advance();
      }
      DispatchKey key = file ? hasher.key(op) : DispatchKey();
      kernel::ScheduleAttr schedule = file ? file->find(spelling, key) : kernel::ScheduleAttr();
      bool isReplayed = bool(schedule);
      if (isReplayed) {
        if (!matchGiven(op, schedule, *target))
          return WalkResult::interrupt();
        replayed.insert(key);
      } else {
        auto [chosen, match] = matchSchedule(op, *target);
        if (!chosen) {
          op.emitError("no schedule class takes it: threads would compute a long reduction, or a "
                       "product, again and again");
          return WalkResult::interrupt();
        }
        schedule = kernel::ScheduleAttr::get(op.getContext(), chosen->family(), match->choose());
      }
      op.setScheduleAttr(schedule);
      count(&getContext(), getArgument(), isReplayed ? "replayed" : "chosen");
      std::string text;
      llvm::raw_string_ostream(text)
          << "schedule " << schedule << (isReplayed ? " of the file" : "");
      ledger.chosen("schedule", op.getLoc(), text);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (file && replayed.empty())
      getOperation().emitWarning() << "none of the " << file->count(spelling) << " schedules for "
                                   << spelling << " in '" << schedules << "' is of a dispatch here";
  }

private:
  std::shared_ptr<const ScheduleFile> file; // null: none is given
};

struct LowerDispatches : impl::LowerDispatchesBase<LowerDispatches> {
  using LowerDispatchesBase::LowerDispatchesBase;

  void runOnOperation() override {
    const Target *target = targetOf(getOperation());
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
    kernel::ScheduleAttr attribute = op.getScheduleAttr();
    if (!attribute)
      return op.emitError("has no schedule");
    std::unique_ptr<ScheduleMatch> match = matchGiven(op, attribute, target);
    if (!match)
      return failure();
    emitter.begin(op);
    auto results = match->emit(attribute.getParams(), emitter);
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
