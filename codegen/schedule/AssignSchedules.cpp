// Chooses a schedule for each dispatch, or takes it from a file.
//
//   kernel.dispatch ... { linalg }
//     ==>  kernel.dispatch ... schedule #kernel.schedule<"map", {...}>
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/schedule/MatchSchedule.h"
#include "codegen/schedule/ScheduleFile.h"
#include "codegen/schedule/SplitDispatch.h"
#include "codegen/tune/Candidates.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_ASSIGNSCHEDULES
#include "codegen/Passes.h.inc"

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
    const Target *target = scheduledTarget(getOperation());
    if (!target)
      return signalPassFailure();
    std::string spelling = getOperation().getTarget().spelling();
    rt::Ledger ledger(getOperation());
    if (file && failed(checkBoard(spelling)))
      return signalPassFailure();
    DispatchHasher hasher;
    llvm::StringSet<> replayed;           // keys
    SmallVector<kernel::DispatchOp> open; // the next one last
    getOperation().walk([&](kernel::DispatchOp op) { open.push_back(op); });
    std::reverse(open.begin(), open.end());
    while (!open.empty()) {
      kernel::DispatchOp op = open.pop_back_val();
      if (op.getSchedule()) { // given: kept, checked where it is applied
        count(&getContext(), getArgument(), "kept");
        continue;
      }
      DispatchKey key = file ? scheduleKey(op, hasher) : DispatchKey();
      if (const ScheduleFile::Entry *entry = file ? file->find(spelling, key) : nullptr) {
        if (failed(replay(op, *entry, *target, ledger)))
          return signalPassFailure();
        replayed.insert(textOf(key));
      } else if (failed(choose(op, *target, ledger, open))) {
        return signalPassFailure();
      }
    }
    if (file)
      warnOfUnused(spelling, replayed);
  }

private:
  /// A schedule that was chosen for a board is refused for another one.
  LogicalResult checkBoard(StringRef spelling) {
    SmallVector<std::string> others = file->boardsBeside(spelling);
    if (others.empty())
      return success();
    return getOperation().emitError()
           << "schedules '" << schedules << "' are for " << llvm::join(others, ", ") << ", not for "
           << spelling << "; --target names a board: --target=" << others.front();
  }

  void warnOfUnused(StringRef spelling, const llvm::StringSet<> &replayed) {
    size_t all = file->count(spelling);
    if (replayed.empty()) {
      getOperation().emitWarning() << "none of the " << all << " schedules for " << spelling
                                   << " in '" << schedules << "' is of a dispatch here";
      return;
    }
    constexpr size_t kNamed = 3;
    SmallVector<std::string> unused = file->unused(spelling, replayed);
    if (unused.empty())
      return;
    size_t count = unused.size();
    unused.truncate(std::min(count, kNamed));
    // Files of several models have dispatches of all of them.
    bool areSeveral = schedules.find(';') != std::string::npos;
    InFlightDiagnostic diagnostic =
        areSeveral ? getOperation().emitRemark() : getOperation().emitWarning();
    diagnostic << count << " of the " << all << " schedules for " << spelling << " in '"
               << schedules << "' are of no dispatch here: " << llvm::join(unused, "; ")
               << (count > kNamed ? "; ..." : "");
  }

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
    double apart = ranked.empty() ? 0 : ranked.front().match->microsecondsApart();
    bool isDearer = !ranked.empty() && apart < ranked.front().best.microseconds;
    if (ranked.empty() || isDearer) {
      std::string why = isDearer ? llvm::formatv("{0:f1} us by the estimates, {1:f1} us as one",
                                                 apart, ranked.front().best.microseconds)
                                       .str()
                                 : "";
      auto parts = splitDispatch(computation, ledger,
                                 isDearer ? "split, as it takes less time in two"
                                          : "split, as no schedule class takes it whole",
                                 why);
      if (!parts)
        return op.emitError("no schedule class takes it: threads would compute a long reduction, "
                            "or a product, again and again");
      count(&getContext(), getArgument(), "split");
      open.append({parts->second, parts->first});
      return success();
    }
    const RankedSchedule &best = ranked.front();
    assign(op, best.attribute(), *best.match);
    if (candidates > 1 || everything)
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
    if (!everything && !ranked.front().best.work)
      return;
    SmallVector<NotedCandidate, 0> best = candidatesOf(ranked, candidates, everything);
    if (!everything && best.size() < 2)
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

} // namespace

} // namespace cameo
