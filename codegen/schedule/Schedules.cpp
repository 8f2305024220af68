// The schedule classes in the order they are asked, and the passes that choose and apply them.
//
//   kernel.dispatch ... { linalg }
//     ==>  kernel.dispatch ... schedule #kernel.schedule<"map", {...}>
//     ==>  rt.launch @k0::@k0 ..., gpu.module @k0 { gpu.func @k0 }
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Schedule.h"

#include "codegen/Passes.h"
#include "codegen/schedule/ScheduleFile.h"
#include "codegen/schedule/SplitDispatch.h"
#include "codegen/schedule/VerifySchedule.h"
#include "codegen/tune/Candidates.h"
#include "dialects/rt/Ledger.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Statistics.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_ASSIGNSCHEDULES
#define GEN_PASS_DEF_LOWERDISPATCHES
#include "codegen/Passes.h.inc"

/// Where most of a GPU is idle, latencies decide, which estimates know to a factor of two or so
/// either way; and they leave out which accesses caches serve. Classes whose times are mostly the
/// same traffic differ by less; one that does not reuse what it reads, of a large product, by far
/// more.
static constexpr double kToldApart = 3;

ArrayRef<const Schedule *> schedules() {
  static const Schedule *const all[] = {
      skinnySchedule(), mmaSchedule(),  contractionSchedule(), windowSchedule(), rowSchedule(),
      columnSchedule(), scanSchedule(), transposeSchedule(),   mapSchedule()};
  return all;
}

const Schedule *findSchedule(StringRef family) {
  for (const Schedule *schedule : schedules())
    if (schedule->family() == family)
      return schedule;
  return nullptr;
}

/// The orders in which a class wants constants that can have any.
static Packing wantedPacking(kernel::DispatchOp op, const ScheduleMatch &match) {
  Packing packing(op.getInputs().size());
  for (auto [input, order] : llvm::enumerate(packing))
    if (isPackable(op, input))
      if (DimOrder wanted = match.packing(input); !llvm::is_sorted(wanted))
        order = wanted;
  return packing;
}

kernel::ScheduleAttr RankedSchedule::attribute() const {
  return kernel::ScheduleAttr::get(best.params.getContext(), schedule->family(), best.params);
}

std::vector<RankedSchedule> rankSchedules(const Computation &computation, const Target &target) {
  std::vector<RankedSchedule> ranked;
  for (const Schedule *schedule : schedules()) {
    if (!ranked.empty() && ranked.front().schedule->isOfProducts() && !schedule->isOfProducts())
      break;
    if (std::unique_ptr<ScheduleMatch> match = schedule->match(computation, target)) {
      match->setPacking(wantedPacking(computation.op, *match));
      SmallVector<Candidate> best = match->candidates(1);
      if (!best.empty())
        ranked.push_back({schedule, std::move(match), best.front()});
    }
  }
  // Classes are asked from the most specific one on, so that one has to be faster by more than
  // estimates are good for to come before those asked earlier.
  for (size_t i = 1; i < ranked.size(); ++i)
    for (size_t j = i;
         j > 0 && ranked[j].best.microseconds * kToldApart < ranked[j - 1].best.microseconds; --j)
      std::swap(ranked[j], ranked[j - 1]);
  return ranked;
}

llvm::BitVector ScheduleMatch::readApart() const {
  return llvm::BitVector(op.getInputs().size() + op.getNumResults());
}

double ScheduleMatch::layoutBytes(const AccessPattern &pattern, OperandOrders orders) const {
  return pattern.bytesMoved(orders, readApart(), /*mayGoAlongReduced=*/true);
}

/// Whether sizes of what it reads or writes are known only at run time.
static bool hasOpenSizes(kernel::DispatchOp op) {
  return llvm::any_of(op.getBodyBlock()->getArgumentTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  });
}

rt::EstimateAttr ScheduleMatch::estimate(DictionaryAttr params) const {
  TimeEstimate found = TimeModel(target).estimate(workOf(params));
  if (std::isinf(found.microseconds))
    return {};
  return rt::EstimateAttr::get(op.getContext(), std::llround(found.microseconds * 1000),
                               found.limit, hasOpenSizes(op));
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

/// The match of the class that a given schedule names, with constants packed so; null, and an
/// error, where it cannot be.
static std::unique_ptr<ScheduleMatch> matchGiven(const Computation &computation,
                                                 kernel::ScheduleAttr given, const Packing &packing,
                                                 const Target &target) {
  kernel::DispatchOp op = computation.op;
  const Schedule *schedule = findSchedule(given.getFamily());
  if (!schedule) {
    auto diagnostic = op.emitError()
                      << "no schedule class is called '" << given.getFamily() << "'; known:";
    for (const Schedule *known : schedules())
      diagnostic << " " << known->family();
    return nullptr;
  }
  std::unique_ptr<ScheduleMatch> match = schedule->match(computation, target);
  if (match)
    match->setPacking(packing);
  if (!match)
    op.emitError() << "schedule '" << given.getFamily() << "' cannot compute this dispatch";
  else if (failed(match->verify(given.getParams())))
    match.reset();
  return match;
}

/// The match of the schedule that a dispatch has, as it is by now; null, and an error, where it has
/// none that kernels can be written by.
static std::unique_ptr<ScheduleMatch> matchAssigned(const Computation &computation,
                                                    const Target &target) {
  kernel::DispatchOp op = computation.op;
  std::unique_ptr<ScheduleMatch> match;
  if (!op.getScheduleAttr())
    op.emitError("has no schedule");
  else if (op->hasAttr(kPackingAttr) || op->hasAttr(kRoundingAttr))
    op.emitError("its constants are to be packed first, by cameo-pack-weights");
  else
    match = matchGiven(computation, op.getScheduleAttr(), {}, target);
  if (match &&
      roundedAttr(op.getContext(), match->roundedInputs(op.getScheduleAttr().getParams())) !=
          op->getAttr(kRoundedAttr)) {
    op.emitError() << "its schedule and " << kRoundedAttr
                   << " differ in which constants are rounded to TF32";
    match.reset();
  }
  return match;
}

LogicalResult verifySchedule(kernel::DispatchOp op, const Target &target) {
  Computation computation(op);
  if (!matchAssigned(computation, target))
    return failure();
  StringRef family = op.getScheduleAttr().getFamily();
  if (findSchedule(family)->isOfProducts())
    return success();
  for (const Schedule *schedule : schedules())
    if (schedule->isOfProducts())
      if (auto match = schedule->match(computation, target); match && !match->candidates(1).empty())
        return op.emitError() << "schedule '" << family << "' is not one of products; '"
                              << schedule->family() << "' can compute this one";
  return success();
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
    size_t replayed = 0;
    SmallVector<kernel::DispatchOp> open; // the next one last
    getOperation().walk([&](kernel::DispatchOp op) { open.push_back(op); });
    std::reverse(open.begin(), open.end());
    while (!open.empty()) {
      kernel::DispatchOp op = open.pop_back_val();
      if (op.getSchedule()) { // given: kept, checked where it is applied
        count(&getContext(), getArgument(), "kept");
        continue;
      }
      const ScheduleFile::Entry *entry =
          file ? file->find(spelling, scheduleKey(op, hasher)) : nullptr;
      if (entry) {
        if (failed(replay(op, *entry, *target, ledger)))
          return signalPassFailure();
        ++replayed;
      } else if (failed(choose(op, *target, ledger, open))) {
        return signalPassFailure();
      }
    }
    if (file && replayed == 0)
      getOperation().emitWarning() << "none of the " << file->count(spelling) << " schedules for "
                                   << spelling << " in '" << schedules << "' is of a dispatch here";
  }

private:
  LogicalResult replay(kernel::DispatchOp op, const ScheduleFile::Entry &entry,
                       const Target &target, rt::Ledger &ledger) {
    Packing packing;
    if (entry.packing) {
      std::optional<Packing> given = packingOf(op, entry.packing);
      if (!given)
        return op.emitError() << "its constants cannot be packed as the file of schedules says: "
                              << entry.packing;
      packing = *given;
    }
    Computation computation(op);
    auto match = matchGiven(computation, entry.schedule, packing, target);
    if (!match)
      return failure();
    double time = TimeModel(target).microseconds(match->workOf(entry.schedule.getParams()));
    assign(op, entry.schedule, *match);
    count(&getContext(), getArgument(), "replayed");
    std::string text;
    llvm::raw_string_ostream(text) << "schedule " << entry.schedule << " of the file, estimated at "
                                   << llvm::format("%.1f", time) << " us";
    ledger.chosen("schedule", op.getLoc(), text);
    return success();
  }

  /// What no class takes is split, and its parts are added to those that are `open`.
  LogicalResult choose(kernel::DispatchOp op, const Target &target, rt::Ledger &ledger,
                       SmallVector<kernel::DispatchOp> &open) {
    Computation computation(op);
    std::vector<RankedSchedule> ranked = rankSchedules(computation, target);
    bool isDearer = !ranked.empty() &&
                    ranked.front().match->microsecondsApart() < ranked.front().best.microseconds;
    if (ranked.empty() || isDearer) {
      auto parts = splitDispatch(computation, ledger,
                                 isDearer ? "split, as it takes less time in two"
                                          : "split, as no schedule class takes it whole");
      if (!parts)
        return op.emitError("no schedule class takes it: threads would compute a long reduction, "
                            "or a product, again and again");
      count(&getContext(), getArgument(), "split");
      open.append({parts->second, parts->first});
      return success();
    }
    const RankedSchedule &best = ranked.front();
    assign(op, best.attribute(), *best.match);
    if (candidates > 1)
      noteCandidates(op, ranked);
    count(&getContext(), getArgument(), "chosen");
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << "schedule " << best.attribute() << ", estimated at "
           << llvm::format("%.1f", best.best.microseconds) << " us";
    if (best.best.workspaceBytes)
      stream << " with " << best.best.workspaceBytes << " B for sums of parts";
    ledger.chosen("schedule", op.getLoc(), text);
    return success();
  }

  /// What the estimate has chosen is tried with the others, unless nothing is known of its code.
  void noteCandidates(kernel::DispatchOp op, ArrayRef<RankedSchedule> ranked) {
    if (!ranked.front().best.work)
      return;
    SmallVector<NotedCandidate> best = candidatesOf(ranked, candidates);
    if (best.size() < 2)
      return;
    auto chosen = llvm::find_if(best, [&](const NotedCandidate &candidate) {
      return candidate.schedule == op.getScheduleAttr();
    });
    if (chosen != best.end())
      std::rotate(best.begin(), chosen, chosen + 1);
    SmallVector<Attribute> list;
    for (const NotedCandidate &candidate : best)
      list.push_back(noted(candidate));
    op->setAttr(kCandidatesAttr, ArrayAttr::get(&getContext(), list));
  }

  void assign(kernel::DispatchOp op, kernel::ScheduleAttr schedule, const ScheduleMatch &match) {
    op.setScheduleAttr(schedule);
    if (ArrayAttr orders = packingAttr(&getContext(), match.packingSet()))
      op->setAttr(kPackingAttr, orders);
    if (auto inputs = roundedAttr(&getContext(), match.roundedInputs(schedule.getParams())))
      op->setAttr(kRoundingAttr, inputs);
  }

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
