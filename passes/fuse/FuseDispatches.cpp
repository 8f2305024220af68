// A dispatch and the one that reads its result ==> one dispatch, where that is cheaper.
//
//   %y = kernel.dispatch ins(%x, %w) { product }
//   %z = kernel.dispatch ins(%y, %b) { addition }
//     ==>
//   %z = kernel.dispatch ins(%x, %w, %b) { product, addition }
//
// Dispatches are taken in order, each with those whose results it reads. Whether two may become one
// is asked of what they compute (dialects/kernel/form): elementwise work joins what gives it its
// elements or takes them, and reductions of the same rows join one another; a product is never
// computed twice, and stays one that schedules know as a product. Whether they should is a matter
// of cost: bytes that need not move and a launch less, against elements computed more than once.
// What makes floats of stored integers waits for its readers, and joins what stores them only if
// one of these does not take it.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/fuse/CopyDispatch.h"
#include "passes/fuse/FusionCost.h"
#include "passes/fuse/Merge.h"
#include "passes/fuse/TapMemory.h"

#include "dialects/rt/Ledger.h"
#include "dialects/rt/Rt.h"
#include "passes/Statistics.h"
#include "runtime/mutant.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FUSEDISPATCHES
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t kMostReaders = 64;

/// The dispatch that gives an operand its values, perhaps under another shape; null for none.
kernel::DispatchOp producerOf(Value input) {
  if (auto reshape = input.getDefiningOp<rt::ReshapeOp>())
    input = reshape.getSource();
  return input.getDefiningOp<kernel::DispatchOp>();
}

/// What is written by one and read by the other; nothing where sizes are known only at run time.
std::optional<int64_t> bytesBetween(kernel::DispatchOp producer, kernel::DispatchOp consumer) {
  int64_t bytes = 0;
  for (Value input : consumer.getInputs()) {
    if (producerOf(input) != producer)
      continue;
    auto type = cast<RankedTensorType>(input.getType());
    if (!type.hasStaticShape())
      return std::nullopt;
    bytes += type.getNumElements() * std::max<int64_t>(type.getElementTypeBitWidth(), 8) / 8;
  }
  return bytes;
}

/// Whether it only gives elements another type, as the casts of --precision do.
bool isConversion(const Computation &computation) {
  return llvm::all_of(computation.operations, [](Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic && llvm::all_of(generic.getBody()->without_terminator(),
                                   [](Operation &inner) { return isa<CastOpInterface>(inner); });
  });
}

/// Of two dispatches the node of that with the higher rank comes first in the location of both as
/// one, and names its kernel and what is said of it.
unsigned rootRank(const Description &description) {
  switch (description.form) {
  case DispatchForm::Product:
  case DispatchForm::ProductOfRows:
    return 3;
  case DispatchForm::Pointwise:
    return description.isMovement() || isConversion(description.computation) ? 0 : 1;
  default:
    return 2;
  }
}

/// Fuses the dispatches of one block.
class Fuser {
public:
  Fuser(Block &block, const FusionLimits &limits, rt::Ledger &ledger)
      : block(block), tapMemory(block), limits(limits), ledger(ledger) {}

  void run() {
    SmallVector<kernel::DispatchOp> dispatches;
    for (auto [place, op] : llvm::enumerate(block)) {
      places[&op] = place;
      if (auto dispatch = dyn_cast<kernel::DispatchOp>(op); dispatch && !dispatch.getSchedule())
        dispatches.push_back(dispatch);
    }
    for (kernel::DispatchOp op : dispatches)
      if (isLeftToReaders(op))
        left.insert(op);
      else
        fuseProducers(op);
    for (kernel::DispatchOp op : dispatches)
      if (left.contains(op)) // some reader has not taken it
        fuseProducers(op);
    recordMissed();
  }

  int64_t fused = 0;

private:
  /// Whether the dispatch makes floats of integers of 8 bits for others: with its readers, each of
  /// which computes them anew, it moves the integers alone, with what computes these both.
  bool isLeftToReaders(kernel::DispatchOp op) {
    if (describe(op).form != DispatchForm::Pointwise || op.getNumResults() != 1 ||
        !llvm::all_of(op->getUsers(),
                      [](Operation *user) { return isa<kernel::DispatchOp, rt::ReshapeOp>(user); }))
      return false;
    auto result = cast<RankedTensorType>(op.getResult(0).getType());
    return isa<FloatType>(result.getElementType()) &&
           llvm::any_of(op.getInputs(), [&](Value input) {
             auto type = cast<RankedTensorType>(input.getType());
             return type.getElementType().isInteger(8) && type.getShape() == result.getShape() &&
                    producerOf(input);
           });
  }

  /// Merges dispatches that `op` reads into it, and those that these read, until nothing is gained.
  void fuseProducers(kernel::DispatchOp op) {
    for (bool changed = true; changed;) {
      changed = false;
      if (static_cast<int64_t>(op.getInputs().size()) > limits.tensors)
        return;
      // The last one first: what it reads itself may be what `op` reads, too.
      SmallVector<kernel::DispatchOp> producers = producersOf(op);
      llvm::sort(producers,
                 [&](kernel::DispatchOp a, kernel::DispatchOp b) { return places[a] > places[b]; });
      for (kernel::DispatchOp producer : producers)
        if (kernel::DispatchOp merged = fuse(producer, op)) {
          op = merged;
          changed = true;
          break;
        }
      if (kernel::DispatchOp merged = changed ? kernel::DispatchOp() : fuseConcatenation(op)) {
        op = merged;
        changed = true;
      }
    }
  }

  /// Whether a kernel would have to move the part of a concatenation to its place, and do nothing
  /// else.
  bool isCopied(Value part) {
    if (kernel::DispatchOp producer = producerOf(part))
      return !producer.getSchedule() && producer->hasOneUse() && describe(producer).isMovement();
    if (auto reshape = part.getDefiningOp<rt::ReshapeOp>())
      part = reshape.getSource();
    return isa<BlockArgument>(part) || part.getDefiningOp<rt::GetConstantOp>();
  }

  /// Has the one reader of a concatenation find elements in its parts, where some of these would be
  /// copied otherwise. Null where it reads none such, or cannot.
  kernel::DispatchOp fuseConcatenation(kernel::DispatchOp op) {
    for (Value input : op.getInputs()) {
      auto concat = input.getDefiningOp<rt::ConcatOp>();
      if (!concat || !concat->hasOneUse() || !canSelectParts(concat) ||
          llvm::none_of(concat.getParts(), [&](Value part) { return isCopied(part); }))
        continue;
      OpBuilder builder(concat);
      kernel::DispatchOp whole = selectParts(builder, concat);
      Operation *memory = whole.getInits()[0].getDefiningOp();
      places[whole] = places.lookup(concat);
      concat.getResult().replaceAllUsesWith(whole.getResult(0));
      if (kernel::DispatchOp merged = fuse(whole, op)) {
        places.erase(concat);
        concat.erase();
        return merged;
      }
      whole.getResult(0).replaceAllUsesWith(concat.getResult());
      forget(whole);
      memory->erase();
    }
    return {};
  }

  /// Those of the block that may become one with `op`, each once.
  SmallVector<kernel::DispatchOp> producersOf(kernel::DispatchOp op) {
    SmallVector<kernel::DispatchOp> producers;
    for (Value input : op.getInputs())
      if (kernel::DispatchOp producer = producerOf(input); producer && !producer.getSchedule() &&
                                                           places.contains(producer) &&
                                                           !llvm::is_contained(producers, producer))
        producers.push_back(producer);
    return producers;
  }

  /// The two stay two, for now. Places are kept when dispatches are replaced.
  kernel::DispatchOp keep(kernel::DispatchOp producer, kernel::DispatchOp consumer,
                          std::string why) {
    reasons[{places.lookup(producer), places.lookup(consumer)}] = std::move(why);
    return {};
  }

  /// At the end, because what could not be fused at first may have been fused later.
  void recordMissed() {
    for (auto op : block.getOps<kernel::DispatchOp>()) {
      if (op.getSchedule())
        continue;
      for (kernel::DispatchOp producer : producersOf(op)) {
        const std::string &why = reasons[{places.lookup(producer), places.lookup(op)}];
        std::optional<int64_t> bytes = bytesBetween(producer, op);
        ledger.notFused(producer.getLoc(), op.getLoc(),
                        why.empty() ? "the reader has too many operands" : StringRef(why),
                        bytes ? std::optional(2 * *bytes) : std::nullopt);
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

  /// Sets the results that others than the consumer read, and says whether any of them comes before
  /// it. Of a result that very many read, one is taken to: all of them are not looked through for
  /// each of them.
  bool hasEarlyReaders(kernel::DispatchOp producer, kernel::DispatchOp consumer,
                       llvm::BitVector &kept) {
    bool isEarly = false;
    int64_t readers = 0;
    for (auto [i, result] : llvm::enumerate(producer.getResults()))
      for (Operation *user : result.getUsers()) {
        if (user == consumer || isReshapeFor(user, consumer))
          continue;
        kept.set(i);
        isEarly |= places.lookup(user) < places.lookup(consumer) || ++readers > kMostReaders;
        if (isEarly)
          break;
      }
    return isEarly;
  }

  /// Whether all else that the consumer reads is there before the producer is: then the two can
  /// stand where the producer does. The memory of its results is moved there.
  bool canStandAt(kernel::DispatchOp producer, kernel::DispatchOp consumer) {
    auto isBefore = [&](Value value) {
      Operation *op = value.getDefiningOp();
      return !op || op->getBlock() != producer->getBlock() ||
             places.lookup(op) < places.lookup(producer);
    };
    SmallVector<tensor::EmptyOp> late;
    for (Value operand : consumer.getOperands()) {
      if (isBefore(operand))
        continue;
      Operation *op = operand.getDefiningOp();
      if (auto empty = dyn_cast<tensor::EmptyOp>(op))
        late.push_back(empty);
      else if (CAMEO_MUTANT(1,
                            op != producer &&
                                !(producerOf(operand) == producer && isReshapeFor(op, consumer)),
                            false))
        return false;
      if (op != producer && !llvm::all_of(op->getOperands(), [&](Value value) {
            return value.getDefiningOp() == producer || isBefore(value);
          }))
        return false;
    }
    for (tensor::EmptyOp empty : late) {
      empty->moveBefore(producer);
      places[empty] = places.lookup(producer) - 1;
    }
    return true;
  }

  /// The two as one, or null where that is not possible or costs more.
  kernel::DispatchOp fuse(kernel::DispatchOp producer, kernel::DispatchOp consumer) {
    const Description &first = describe(producer), &second = describe(consumer);
    if (std::string why = whyApart(first, second, limits); !why.empty())
      return keep(producer, consumer, std::move(why));
    if (StringRef why = whyUnmergeable(producer, consumer); !why.empty())
      return keep(producer, consumer, why.str());
    // Results that others read stay results; these must come after the merged dispatch.
    llvm::BitVector kept(producer.getNumResults());
    bool isEarly = hasEarlyReaders(producer, consumer, kept);
    bool keeps = kept.any() && !left.contains(producer) && keepsResults(first, second);
    kernel::DispatchOp place = consumer;
    if (keeps && isEarly && canStandAt(producer, consumer)) {
      place = producer;
      isEarly = false;
    }
    bool repeats = kept.any() && (isEarly || !keeps);
    if (repeats && !first.isMovement() && !left.contains(producer))
      return keep(producer, consumer, "its result has other readers; it would be computed again");
    if (repeats)
      kept.reset();
    if (std::string why = tapMemory.whyTooMuch(producer, consumer, kept); !why.empty())
      return keep(producer, consumer, std::move(why));
    if (std::string why = whyDearer(first, second, limits, repeats); !why.empty())
      return keep(producer, consumer, std::move(why));
    OpBuilder builder(place);
    bool isConsumersRoot = rootRank(second) > rootRank(first);
    bool isSure = CAMEO_MUTANT(2, !repeats, true) && isSurelyWellFormed(first, second, limits);
    kernel::DispatchOp merged = mergeDispatches(builder, producer, consumer, kept, isSure);
    places[merged] = places.lookup(place);
    if (isConsumersRoot)
      merged->setLoc(builder.getFusedLoc({consumer.getLoc(), producer.getLoc()}));
    std::string why =
        isSure ? std::string() : whyMalformed(first, second, describe(merged), limits);
    if (!why.empty()) {
      forget(merged);
      return keep(producer, consumer, std::move(why));
    }
    recordFused(producer, consumer, kept, repeats);
    replace(producer, consumer, merged, kept);
    ++fused;
    return merged;
  }

  void recordFused(kernel::DispatchOp producer, kernel::DispatchOp consumer,
                   const llvm::BitVector &kept, bool repeats) {
    std::optional<int64_t> bytes = bytesBetween(producer, consumer);
    // Written once and read once, unless somebody else reads it.
    if (bytes)
      bytes = repeats ? 0 : kept.any() ? *bytes : 2 * *bytes;
    ledger.fused(producer.getLoc(), consumer.getLoc(), bytes);
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
    left.erase(op);
    op.erase();
  }

  Block &block;
  TapMemory tapMemory;
  const FusionLimits &limits;
  rt::Ledger &ledger;
  llvm::DenseMap<std::pair<int64_t, int64_t>, std::string> reasons; // by places
  llvm::DenseMap<Operation *, int64_t>
      places; // in the block; of a merged dispatch: that of one of the two
  llvm::DenseMap<Operation *, std::unique_ptr<Description>> known;
  llvm::DenseSet<Operation *> left; // to their readers
};

struct FuseDispatches : impl::FuseDispatchesBase<FuseDispatches> {
  using FuseDispatchesBase::FuseDispatchesBase;

  void runOnOperation() override {
    FusionLimits limits;
    limits.tensors = maxTensors;
    limits.operations = maxOperations;
    limits.scalars = maxScalars;
    limits.results = maxResults;
    limits.launchBytes = launchBytes;
    limits.operationsPerByte = operationsPerByte;
    limits.rows = rows;
    limits.productRow = productRow;
    rt::Ledger ledger(getOperation());
    for (Block &block : getOperation().getBody()) {
      Fuser fuser(block, limits, ledger);
      fuser.run();
      count(&getContext(), getArgument(), "fused", fuser.fused);
    }
  }
};

} // namespace

} // namespace cameo
