// Equal dispatches on different tensors ==> one dispatch with a dimension more.
//
//   %a = kernel.dispatch ins(%x, %w0) {slice 0, product}
//   %b = kernel.dispatch ins(%x, %w1) {slice 8, product}
//   %y = rt.concat %a, %b
//     ==>
//   %ab = kernel.dispatch ins(%x, %w) {...} : tensor<2x...>
//   %y = rt.reshape %ab
//
// Heads of attention, groups of a convolution, experts, tables of embeddings: each alone leaves
// most of a GPU idle, and each is a launch. Nothing is copied for it: operands are the same tensor,
// places of one tensor at equal distances, constants that are stacked here, parts of an earlier
// batch, or results that can be written beside one another; results are parts of the batch's.
//
// Candidates are dispatches of equal depth (PlanOrder.h): they do not depend on one another, and
// since every edge leads from a lower depth to a higher one however many are made one, no cycle can
// come of it. Depths are taken in order, so that what reads a batch is found when its turn comes.
//
// A table of pointers for each launch would need neither: it takes any operands. But its kernels
// would load their pointers, schedules would still be chosen for one member, and results would have
// no common memory for the next one. Where tensors are unrelated, launches stay apart.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/Statistics.h"
#include "passes/fuse/Batch.h"
#include "passes/fuse/BatchTensors.h"
#include "passes/fuse/FusionLimits.h"
#include "passes/fuse/PlanOrder.h"
#include "passes/fuse/Skeleton.h"

#include "dialects/kernel/form/Form.h"
#include "dialects/rt/Ledger.h"
#include "runtime/mutant.h"

#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_BATCHDISPATCHES
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t kMostUsers = 64;

/// Equal dispatches, in the order of the plan.
struct Group {
  SmallVector<kernel::DispatchOp> members;
  Skeleton first;             // of member 0, and of where its operands come from
  SmallVector<int64_t> steps; // from each member's numbers to the next one's
  int64_t bytes = 0;          // of results
};

class Batcher {
public:
  Batcher(Block &block, StackedConstants &constants, const FusionLimits &limits, rt::Ledger &ledger)
      : block(block), tensors(constants), limits(limits), ledger(ledger) {}

  void run() {
    llvm::DenseMap<Operation *, int64_t> depths = depthsOf(block);
    std::map<int64_t, SmallVector<kernel::DispatchOp>> levels;
    for (auto op : block.getOps<kernel::DispatchOp>())
      levels[depths[op]].push_back(op);
    for (auto &[depth, level] : levels) {
      // Those left alone may be written beside one another for the next ones that read them.
      SmallVector<kernel::DispatchOp> alone = batchIn(level, /*unrelated=*/false);
      batchIn(alone, /*unrelated=*/true);
    }
    if (batched == 0)
      return;
    restoreOrder(block);
    // Views of batches that other batches read as a whole, and what only members needed.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<rt::ViewOp, rt::ReshapeOp, rt::GetConstantOp, tensor::EmptyOp>(op) && op.use_empty())
        op.erase();
  }

  int64_t batched = 0;

private:
  /// Batches what can be of these, and gives back those that are like no other.
  SmallVector<kernel::DispatchOp> batchIn(ArrayRef<kernel::DispatchOp> level, bool unrelated) {
    llvm::MapVector<size_t, std::vector<Group>> groups;
    llvm::MapVector<size_t, std::pair<SmallVector<kernel::DispatchOp>, std::string>> unfit;
    for (kernel::DispatchOp op : level) {
      Skeleton skeleton = skeletonOf(op);
      tensors.describe(op, unrelated, skeleton);
      size_t hash = llvm::hash_combine_range(skeleton.tokens.begin(), skeleton.tokens.end());
      StringRef why = unfitness(op);
      if (!why.empty()) {
        unfit[hash].first.push_back(op);
        unfit[hash].second = why;
        continue;
      }
      std::vector<Group> &alike = groups[hash];
      int64_t bytes = BatchTensors::resultBytes(op);
      if (alike.empty() || !joins(alike.back(), skeleton, bytes))
        alike.push_back({{}, std::move(skeleton), {}, 0});
      alike.back().members.push_back(op);
      alike.back().bytes += bytes;
    }
    SmallVector<kernel::DispatchOp> alone;
    for (auto &[hash, alike] : groups)
      for (Group &group : alike) {
        if (group.members.size() == 1)
          alone.push_back(group.members.front());
        else
          batch(group);
      }
    for (auto &[hash, entry] : unfit)
      if (entry.first.size() > 1 && !areProductsOfOne(entry.first))
        keep(entry.first, entry.second);
    return alone;
  }

  /// Why the dispatch is not to be batched with others, however equal; nothing where it may be.
  StringRef unfitness(kernel::DispatchOp op) {
    if (op.getSchedule() || !canBatch(op))
      return "what they compute has no form with a dimension more";
    if (BatchTensors::resultBytes(op) + BatchTensors::constantBytes(op) > limits.launchBytes)
      return "each takes longer than a launch";
    return tensors.unfitResults(op);
  }

  /// Whether one of this skeleton can be the group's next member.
  bool joins(Group &group, const Skeleton &skeleton, int64_t bytes) const {
    if (group.first.tokens != skeleton.tokens || group.bytes + bytes > limits.batchBytes)
      return false;
    SmallVector<int64_t> steps;
    int64_t count = group.members.size();
    for (auto [number, first] : llvm::zip_equal(skeleton.numbers, group.first.numbers)) {
      if ((number - first) % count != 0)
        return false;
      steps.push_back((number - first) / count);
    }
    if (count > 1)
      return CAMEO_MUTANT(6, steps == group.steps, true);
    group.steps = std::move(steps);
    return true;
  }

  void batch(Group &group) {
    kernel::DispatchOp first = group.members.front();
    DispatchForm form = formOf(Computation(first));
    if (isWideProduct(group))
      return;
    Batch batch{int64_t(group.members.size()), group.steps, {}, {}};
    StringRef why = tensors.findResults(group.members, batch);
    if (!why.empty())
      return keep(group.members, why);
    OpBuilder builder(first);
    Operation *before = first->getPrevNode();
    why = tensors.findOperands(builder, group.members, group.first, batch);
    if (!why.empty())
      return undo(before, group.members, why);
    SmallVector<Location> locations;
    for (kernel::DispatchOp op : group.members)
      locations.push_back(op.getLoc());
    kernel::DispatchOp merged = buildBatch(builder, builder.getFusedLoc(locations), first, batch);
    if (formOf(Computation(merged)) != form) {
      merged.erase();
      return undo(before, group.members, "together they would be another form of kernel");
    }
    ledger.applied("batch", first.getLoc(),
                   "one of " + Twine(batch.count) + " equal dispatches in one launch");
    tensors.replaceResults(builder, group.members, merged, batch);
    batched += batch.count;
  }

  /// Whether all are products of one tensor with a weight each: whether they become one is for
  /// cameo-merge-products to decide, and to say.
  static bool areProductsOfOne(ArrayRef<kernel::DispatchOp> members) {
    kernel::DispatchOp first = members.front();
    return formOf(Computation(first)) == DispatchForm::Product &&
           llvm::all_of(members.drop_front(), [&](kernel::DispatchOp other) {
             bool hasWeights = false;
             for (auto [mine, its] : llvm::zip(first.getInputs(), other.getInputs())) {
               if (mine == its)
                 continue;
               if (!mine.getDefiningOp<rt::GetConstantOp>())
                 return false;
               hasWeights = true;
             }
             return hasWeights;
           });
  }

  /// Whether they are such products, few enough for cameo-merge-products to make one of them and of
  /// all others that read that tensor: as columns of one product, whatever becomes of each of them.
  bool isWideProduct(const Group &group) {
    if (llvm::any_of(group.steps, [](int64_t step) { return step != 0; }) ||
        !areProductsOfOne(group.members))
      return false;
    int64_t readers = 0, users = 0;
    for (Value input : kernel::DispatchOp(group.members.front()).getInputs()) {
      if (input.getDefiningOp<rt::GetConstantOp>())
        continue;
      // Of what very many read, very many are taken to be products.
      for (Operation *user : input.getUsers()) {
        auto op = dyn_cast<kernel::DispatchOp>(user);
        readers += op && formOf(Computation(op)) == DispatchForm::Product;
        if (readers > limits.results || ++users > kMostUsers)
          return false;
      }
    }
    return true;
  }

  /// Erases what has been built for them behind `before`.
  void undo(Operation *before, ArrayRef<kernel::DispatchOp> members, StringRef why) {
    kernel::DispatchOp first = members.front();
    for (Operation *op = first->getPrevNode(); op != before;) {
      Operation *previous = op->getPrevNode();
      op->erase();
      op = previous;
    }
    keep(members, why);
  }

  void keep(ArrayRef<kernel::DispatchOp> members, StringRef why) {
    ledger.missed("batch", kernel::DispatchOp(members.front()).getLoc(),
                  "one of " + Twine(members.size()) + " equal dispatches, each in its own launch",
                  why);
  }

  Block &block;
  BatchTensors tensors;
  const FusionLimits &limits;
  rt::Ledger &ledger;
};

struct BatchDispatches : impl::BatchDispatchesBase<BatchDispatches> {
  using BatchDispatchesBase::BatchDispatchesBase;

  void runOnOperation() override {
    StackedConstants constants(getOperation());
    FusionLimits limits;
    limits.launchBytes = launchBytes;
    limits.results = maxResults;
    rt::Ledger ledger(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody()) {
        Batcher batcher(block, constants, limits, ledger);
        batcher.run();
        count(&getContext(), getArgument(), "batched", batcher.batched);
      }
  }
};

} // namespace

} // namespace cameo
