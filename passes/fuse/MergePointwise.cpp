// Elementwise dispatches that do not depend on one another ==> one dispatch with all their results.
//
//   %a = kernel.dispatch ins(%x) outs(%v) { slice 0, Relu }        %ab:2 = kernel.dispatch
//   %b = kernel.dispatch ins(%x) outs(%w) { slice 8, Sigmoid } ==>   ins(%x) outs(%v, %w) { both }
//
// Parts of a tensor with different work each, copies into concatenations, keys and values on their
// way to a cache: each is less work than a launch. They need be neither of one shape nor readers of
// one tensor; blocks of the one launch are for one shape or the other.
//
// Dispatches are taken in order, each with one of the last few before it. The two are done where
// one of them stands: the second, if nothing up to there reads the first; or else the first, if
// what the second one reads is there. All others stay where they are.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/Statistics.h"
#include "passes/fuse/FusionCost.h"
#include "passes/fuse/Merge.h"
#include "passes/fuse/PlanMemory.h"
#include "passes/fuse/PlanOrder.h"

#include "dialects/rt/Ledger.h"
#include "dialects/rt/Rt.h"
#include "runtime/mutant.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_MERGEPOINTWISE
#include "passes/Passes.h.inc"

namespace {

/// Of dispatches before one, how many it may become one with, and of steps between the two.
constexpr size_t kOpen = 8;
constexpr int64_t kMostBetween = 256;
/// Operations that are looked at for the first step that reads a result.
constexpr int64_t kMostLookedAt = 64;
/// How many times as many sectors are touched by threads that read across rows.
constexpr double kAcross = 8;

/// Whether the dispatch writes new memory or a part of one, and not over values that are there.
bool writesNewMemory(kernel::DispatchOp op) {
  return llvm::all_of(op.getInits(), [](Value init) {
    while (isa_and_present<rt::ViewOp, rt::ReshapeOp>(init.getDefiningOp()))
      init = init.getDefiningOp()->getOperand(0);
    return isa_and_present<tensor::EmptyOp, rt::StorageOp>(init.getDefiningOp());
  });
}

class PointwiseMerger {
public:
  PointwiseMerger(Block &block, const FusionLimits &limits, rt::Ledger &ledger)
      : block(block), limits(limits), ledger(ledger), memory(block, number(block)) {}

  /// Whether anything has been merged.
  bool run() {
    for (auto op : llvm::to_vector(block.getOps<kernel::DispatchOp>()))
      if (suits(op))
        mergeOrKeep(op);
    if (merged != 0)
      restoreOrder(block);
    return merged != 0;
  }

  /// Once nothing more is going to be merged.
  void recordMissed() {
    for (auto op : block.getOps<kernel::DispatchOp>())
      if (tooMuch.contains(op))
        ledger.missed("merge", op.getLoc(), "not merged with elementwise work beside it",
                      "more memory would be in use at a time than anywhere else");
  }

  int64_t merged = 0;

private:
  /// A dispatch that others may join.
  struct Open {
    kernel::DispatchOp op;
    int64_t operations;
  };

  const llvm::DenseMap<Operation *, int64_t> &number(Block &block) {
    for (auto [place, op] : llvm::enumerate(block)) {
      places[&op] = place;
      readyAt[&op] = isStep(&op) ? place : ready(&op);
    }
    return places;
  }

  /// The place of the last step that gives an operation what it uses.
  int64_t ready(Operation *op) {
    int64_t last = -1;
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && definition->getBlock() == &block)
        last = std::max(last, readyAt.lookup(definition));
    return last;
  }

  bool suits(kernel::DispatchOp op) {
    if (op.getSchedule() || !writesNewMemory(op))
      return false;
    Description description(op);
    if (description.form != DispatchForm::Pointwise)
      return false;
    double bytes = estimatedBytes(description) * (readsAlongRows(description) ? 1 : kAcross);
    operations[op] = description.computation.operations.size();
    return bytes <= double(limits.launchBytes);
  }

  /// Visits all that uses the dispatch's results, perhaps as a part or in another shape. False
  /// where that is too much.
  bool forEachUser(kernel::DispatchOp op, llvm::function_ref<void(Operation *)> visit) {
    SmallVector<Operation *> open{op};
    int64_t count = 0;
    while (!open.empty())
      for (Operation *user : open.pop_back_val()->getUsers()) {
        if (++count > kMostLookedAt)
          return false;
        visit(user);
        if (!isStep(user))
          open.push_back(user);
      }
    return true;
  }

  bool isReadUpTo(kernel::DispatchOp op, int64_t place) {
    bool isRead = false;
    bool sees = forEachUser(op, [&](Operation *user) {
      isRead |= isStep(user) &&
                CAMEO_MUTANT(10, places.lookup(user) <= place, places.lookup(user) < place);
    });
    return isRead || !sees;
  }

  /// Whether one kernel can have both.
  bool fits(const Open &open, kernel::DispatchOp op) {
    kernel::DispatchOp other = open.op;
    auto within = [](size_t a, size_t b, int64_t most) { return int64_t(a + b) <= most; };
    size_t results = op.getNumResults() + other.getNumResults();
    return within(results, 0, limits.results) &&
           within(op.getInputs().size() + other.getInputs().size(), results, limits.tensors) &&
           within(op.getScalars().size(), other.getScalars().size(), limits.scalars) &&
           within(open.operations, operations.lookup(op), limits.operations);
  }

  void mergeOrKeep(kernel::DispatchOp op) {
    for (size_t i = open.size(); i-- > 0;)
      if (fits(open[i], op)) {
        if (kernel::DispatchOp both = merge(open[i].op, op)) {
          Open joined{both, open[i].operations + operations.lookup(op)};
          operations[both] = joined.operations;
          open.erase(open.begin() + i);
          open.push_back(joined);
          return;
        }
      }
    if (open.size() == kOpen)
      open.erase(open.begin());
    open.push_back({op, operations.lookup(op)});
  }

  /// Both where one of them stands; null where they stay two.
  kernel::DispatchOp merge(kernel::DispatchOp first, kernel::DispatchOp second) {
    int64_t before = places.lookup(first), behind = places.lookup(second);
    if (behind - before > kMostBetween)
      return {};
    bool refused = false;
    if (!isReadUpTo(first, behind)) {
      if (memory.move(first, before, behind))
        return build(first, second, second);
      refused = true;
    }
    if (ready(second) < before) {
      if (memory.move(second, behind, before)) {
        bringForward(second, before, first);
        return build(first, second, first);
      }
      refused = true;
    }
    if (refused)
      tooMuch.insert(second);
    return {};
  }

  /// Moves what names sizes and memory for `op` in front of `target`, which is at `place`.
  void bringForward(Operation *op, int64_t place, Operation *target) {
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || definition->getBlock() != &block || places.lookup(definition) <= place)
        continue;
      bringForward(definition, place, target);
      definition->moveBefore(target);
      places[definition] = place;
    }
  }

  kernel::DispatchOp build(kernel::DispatchOp first, kernel::DispatchOp second,
                           kernel::DispatchOp place) {
    OpBuilder builder(place);
    kernel::DispatchOp both = mergeIndependent(builder, first, second);
    int64_t at = places.lookup(place);
    places[both] = readyAt[both] = at;
    ledger.merged(first.getLoc(), second.getLoc(), "elementwise work beside it");
    auto results = both.getResults();
    size_t count = first.getNumResults();
    for (auto [op, its] : {std::pair(first, ValueRange(results.take_front(count))),
                           std::pair(second, ValueRange(results.drop_front(count)))}) {
      memory.replace(op.getResults(), its);
      op.replaceAllUsesWith(its);
      tooMuch.erase(op);
      places.erase(op);
      readyAt.erase(op);
      op.erase();
    }
    forEachUser(both, [&](Operation *user) {
      if (!isStep(user))
        readyAt[user] = std::max(readyAt[user], at);
    });
    ++merged;
    return both;
  }

  Block &block;
  const FusionLimits &limits;
  rt::Ledger &ledger;
  llvm::DenseMap<Operation *, int64_t> places;  // in the block
  llvm::DenseMap<Operation *, int64_t> readyAt; // of all operations: their last step's place
  PlanMemory memory;
  llvm::DenseMap<Operation *, int64_t> operations; // of descriptions
  SmallVector<Open> open;                          // the last one first to be asked
  llvm::DenseSet<Operation *> tooMuch;             // memory
};

struct MergePointwise : impl::MergePointwiseBase<MergePointwise> {
  using MergePointwiseBase::MergePointwiseBase;

  void runOnOperation() override {
    FusionLimits limits;
    limits.tensors = maxTensors;
    limits.operations = maxOperations;
    limits.scalars = maxScalars;
    limits.results = maxResults;
    limits.launchBytes = launchBytes;
    rt::Ledger ledger(getOperation());
    for (Block &block : getOperation().getBody())
      for (bool changed = true; changed;) {
        PointwiseMerger merger(block, limits, ledger);
        changed = merger.run();
        count(&getContext(), getArgument(), "merged", merger.merged);
        if (!changed)
          merger.recordMissed();
      }
  }
};

} // namespace

} // namespace cameo
