// The schedule classes in the order they are asked, and which of them a dispatch is for.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Schedule.h"

#include "codegen/schedule/MatchSchedule.h"
#include "codegen/schedule/VerifySchedule.h"

#include <cmath>

using namespace mlir;

namespace cameo {

/// Where most of a GPU is idle, latencies decide, which estimates know to a factor of two or so
/// either way; and they leave out which accesses caches serve. Classes whose times are mostly the
/// same traffic differ by less; one that does not reuse what it reads, of a large product, by far
/// more.
static constexpr double kToldApart = 3;

ArrayRef<const Schedule *> schedules() {
  static const Schedule *const all[] = {
      skinnySchedule(), mmaSchedule(),    contractionSchedule(), windowSchedule(),
      rowSchedule(),    columnSchedule(), scanSchedule(),        recurrenceSchedule(),
      sortSchedule(),   chooseSchedule(), insertSchedule(),      transposeSchedule(),
      mapSchedule()};
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
      SmallVector<Candidate, 0> best = match->candidates(1);
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

const Target *scheduledTarget(rt::VariantOp variant) {
  auto target = findTarget(variant.getTarget());
  if (target)
    return *target;
  variant.emitError(llvm::toString(target.takeError()));
  return nullptr;
}

std::unique_ptr<ScheduleMatch> matchGiven(const Computation &computation,
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

std::unique_ptr<ScheduleMatch> matchAssigned(const Computation &computation, const Target &target) {
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
  return success(matchAssigned(Computation(op), target) != nullptr);
}

std::string betterSchedule(kernel::DispatchOp op, const Target &target) {
  StringRef family = op.getScheduleAttr().getFamily();
  if (findSchedule(family)->isOfProducts())
    return "";
  Computation computation(op);
  for (const Schedule *schedule : schedules())
    if (schedule->isOfProducts())
      if (auto match = schedule->match(computation, target); match && !match->candidates(1).empty())
        return ("schedule '" + family + "' is not one of products; '" + schedule->family() +
                "' can compute this one")
            .str();
  return "";
}

} // namespace cameo
