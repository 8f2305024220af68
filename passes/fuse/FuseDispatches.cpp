// A dispatch and the one that reads its result ==> one dispatch, where that is cheaper.
//
//   %y = kernel.dispatch ins(%x, %w) { product }
//   %z = kernel.dispatch ins(%y, %b) { addition }   ==>   %z = kernel.dispatch ins(%x, %w, %b)
//   {...}
//
// Dispatches are taken in order, each with those whose results it reads. Whether two may become one
// is asked of what they compute (dialects/kernel/form): elementwise work joins what gives it its
// elements or takes them, and reductions of the same rows join one another; a product is never
// computed twice, and stays one that schedules know as a product. Whether they should is a matter
// of cost: bytes that need not move and a launch less, against elements computed more than once.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/fuse/FusionCost.h"
#include "passes/fuse/Merge.h"

#include "dialects/rt/Rt.h"
#include "passes/Statistics.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FUSEDISPATCHES
#include "passes/Passes.h.inc"

namespace {

/// Fuses the dispatches of one block.
class Fuser {
public:
  explicit Fuser(const FusionLimits &limits) : limits(limits) {}

  void run(Block &block) {
    SmallVector<kernel::DispatchOp> dispatches;
    for (auto [place, op] : llvm::enumerate(block)) {
      places[&op] = place;
      if (auto dispatch = dyn_cast<kernel::DispatchOp>(op); dispatch && !dispatch.getSchedule())
        dispatches.push_back(dispatch);
    }
    for (kernel::DispatchOp op : dispatches)
      fuseProducers(op);
  }

  int64_t fused = 0;

private:
  /// Merges dispatches that `op` reads into it, and those that these read, until nothing is gained.
  void fuseProducers(kernel::DispatchOp op) {
    for (bool changed = true; changed;) {
      changed = false;
      if (static_cast<int64_t>(op.getInputs().size()) > limits.tensors)
        return;
      // The last one first: what it reads itself may be what `op` reads, too.
      SmallVector<kernel::DispatchOp> producers;
      for (Value input : op.getInputs()) {
        if (auto reshape = input.getDefiningOp<rt::ReshapeOp>())
          input = reshape.getSource();
        if (auto producer = input.getDefiningOp<kernel::DispatchOp>();
            producer && !producer.getSchedule() && places.contains(producer) &&
            !llvm::is_contained(producers, producer))
          producers.push_back(producer);
      }
      llvm::sort(producers,
                 [&](kernel::DispatchOp a, kernel::DispatchOp b) { return places[a] > places[b]; });
      for (kernel::DispatchOp producer : producers)
        if (kernel::DispatchOp merged = fuse(producer, op)) {
          op = merged;
          changed = true;
          break;
        }
    }
  }

  const Description &describe(kernel::DispatchOp op) {
    std::unique_ptr<Description> &description = known[op];
    if (!description)
      description = std::make_unique<Description>(op);
    return *description;
  }

  static bool isReshapeFor(Operation *op, kernel::DispatchOp reader) {
    return isa<rt::ReshapeOp>(op) &&
           llvm::all_of(op->getUsers(), [&](Operation *user) { return user == reader; });
  }

  /// The two as one, or null where that is not possible or costs more.
  kernel::DispatchOp fuse(kernel::DispatchOp producer, kernel::DispatchOp consumer) {
    const Description &first = describe(producer), &second = describe(consumer);
    if (!mayFuse(first, second, limits))
      return {};
    // Results that others read stay results; these must come after the merged dispatch.
    llvm::BitVector kept(producer.getNumResults());
    bool isEarly = false;
    for (auto [i, result] : llvm::enumerate(producer.getResults()))
      for (Operation *user : result.getUsers()) {
        if (user == consumer || isReshapeFor(user, consumer))
          continue;
        kept.set(i);
        isEarly |= places.lookup(user) < places.lookup(consumer);
      }
    bool repeats = kept.any() && (isEarly || !keepsResults(first, second));
    if (repeats && !first.isMovement())
      return {};
    if (repeats)
      kept.reset();
    if (!pays(first, second, limits, repeats))
      return {};
    OpBuilder builder(consumer);
    kernel::DispatchOp merged = mergeDispatches(builder, producer, consumer, kept);
    if (!merged)
      return {};
    places[merged] = places.lookup(consumer);
    if (!isWellFormed(first, second, describe(merged), limits)) {
      forget(merged);
      return {};
    }
    replace(producer, consumer, merged, kept);
    ++fused;
    return merged;
  }

  void replace(kernel::DispatchOp producer, kernel::DispatchOp consumer, kernel::DispatchOp merged,
               const llvm::BitVector &kept) {
    unsigned next = 0;
    consumer.replaceAllUsesWith(merged.getResults().drop_front(kept.count()));
    forget(consumer);
    for (Operation *user : llvm::to_vector(producer->getUsers()))
      if (isa<rt::ReshapeOp>(user) && user->use_empty()) {
        places.erase(user);
        user->erase();
      }
    for (unsigned i : kept.set_bits())
      producer.getResult(i).replaceAllUsesWith(merged.getResult(next++));
    if (producer.use_empty())
      forget(producer);
  }

  void forget(kernel::DispatchOp op) {
    known.erase(op);
    places.erase(op);
    op.erase();
  }

  const FusionLimits &limits;
  llvm::DenseMap<Operation *, int64_t> places; // in the block; of a merged dispatch: its consumer's
  llvm::DenseMap<Operation *, std::unique_ptr<Description>> known;
};

struct FuseDispatches : impl::FuseDispatchesBase<FuseDispatches> {
  using FuseDispatchesBase::FuseDispatchesBase;

  void runOnOperation() override {
    FusionLimits limits;
    limits.tensors = maxTensors;
    limits.operations = maxOperations;
    for (Block &block : getOperation().getBody()) {
      Fuser fuser(limits);
      fuser.run(block);
      count(&getContext(), getArgument(), "fused", fuser.fused);
    }
  }
};

} // namespace

} // namespace cameo
