// A kernel of the device stage ==> the same kernel with one fault in it: a barrier gone, a bound
// one off, a mask open. Tests of the simulator's checks plant each one and see whether it is found.
//
//   nvvm.barrier0                         ==>    (drop-barrier)
//   llvm.icmp "slt" %i, %n                ==>    llvm.icmp "slt" %i, %n + 1      (widen-bound)
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"
#include "passes/Statistics.h"
#include "test/lib/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

namespace cameo {
#define GEN_PASS_DEF_PLANTFAULT
#include "test/lib/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

/// Where a kind of fault can be planted. `operand` tells apart the places within an operation.
struct Place {
  Operation *op;
  unsigned operand = 0;
};

/// What the kinds need to know of a kernel.
struct Kernel {
  explicit Kernel(LLVM::LLVMFuncOp function)
      : function(function), dominance(function), postDominance(function),
        builder(function.getContext()) {}

  bool isLoopHeader(Block *block) {
    return llvm::any_of(block->getPredecessors(),
                        [&](Block *from) { return dominance.dominates(block, from); });
  }

  LLVM::LLVMFuncOp function;
  DominanceInfo dominance;
  PostDominanceInfo postDominance;
  OpBuilder builder;
};

bool isBarrier(Operation *op) { return isa<NVVM::Barrier0Op, NVVM::BarrierOp>(op); }

unsigned addressSpace(Value pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
}

bool isStoreTo(Operation *op, unsigned space) {
  auto store = dyn_cast<LLVM::StoreOp>(op);
  return store && addressSpace(store.getAddr()) == space;
}

bool isLoadFrom(Operation *op, unsigned space) {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  return load && addressSpace(load.getAddr()) == space;
}

Value constant(OpBuilder &builder, Location loc, Type type, int64_t value) {
  return builder.create<LLVM::ConstantOp>(loc, type, value);
}

void setCondition(Kernel &kernel, Operation *op, unsigned operand, bool value) {
  kernel.builder.setInsertionPoint(op);
  op->setOperand(operand,
                 constant(kernel.builder, op->getLoc(), kernel.builder.getI1Type(), value));
}

/// Lets only threads with a zero in this bit of their number execute `op`: the lower half of each
/// warp, or every other warp. The others go on with `otherwise`.
constexpr unsigned kHalfWarp = 16, kWarp = 32;
void diverge(Kernel &kernel, Operation *op, Value otherwise, unsigned bit = kHalfWarp) {
  OpBuilder &builder = kernel.builder;
  Location loc = op->getLoc();
  Block *before = op->getBlock(), *after = before->splitBlock(op->getNextNode());
  Block *then = builder.createBlock(after);
  op->moveBefore(then, then->end());
  builder.create<LLVM::BrOp>(loc, op->getResults(), after);
  if (op->getNumResults()) {
    BlockArgument merged = after->addArgument(op->getResult(0).getType(), loc);
    op->getResult(0).replaceAllUsesExcept(merged, then->getTerminator());
  }
  builder.setInsertionPointToEnd(before);
  Type i32 = builder.getI32Type();
  Value thread = builder.create<NVVM::ThreadIdXOp>(loc, i32);
  Value side = builder.create<LLVM::AndOp>(loc, thread, constant(builder, loc, i32, bit));
  Value lower = builder.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::eq, side,
                                             constant(builder, loc, i32, 0));
  builder.create<LLVM::CondBrOp>(loc, lower, then, ValueRange(), after,
                                 otherwise ? ValueRange(otherwise) : ValueRange());
}

/// What a lane has if it does not shuffle: its own value.
Value unshuffled(Kernel &kernel, NVVM::ShflOp op) {
  auto pair = dyn_cast<LLVM::LLVMStructType>(op.getType());
  if (!pair)
    return op.getVal();
  OpBuilder &builder = kernel.builder;
  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value valid = constant(builder, loc, builder.getI1Type(), 1);
  Value both = builder.create<LLVM::UndefOp>(loc, pair);
  both = builder.create<LLVM::InsertValueOp>(loc, both, op.getVal(), 0);
  return builder.create<LLVM::InsertValueOp>(loc, both, valid, 1);
}

/// Adds `step` to the larger side of an ordered comparison: 1 lets one more pass.
void shiftBound(Kernel &kernel, LLVM::ICmpOp op, int64_t step) {
  using P = LLVM::ICmpPredicate;
  bool less = llvm::is_contained({P::slt, P::sle, P::ult, P::ule}, op.getPredicate());
  unsigned larger = less ? 1 : 0;
  kernel.builder.setInsertionPoint(op);
  Value bound = op->getOperand(larger);
  Value by = constant(kernel.builder, op.getLoc(), bound.getType(), step);
  op->setOperand(larger, kernel.builder.create<LLVM::AddOp>(op.getLoc(), bound, by));
}

/// The operation before which a barrier does not order the stores to shared memory that it should:
/// the first of them since the last barrier, in its block or in the last block above that all
/// threads pass which leads to it.
Operation *placeBeforeStores(Kernel &kernel, Operation *barrier) {
  Operation *found = nullptr;
  for (Operation *op = barrier->getPrevNode(); op && !isBarrier(op); op = op->getPrevNode())
    if (isStoreTo(op, kShared))
      found = op;
  if (found)
    return found;
  Block *block = barrier->getBlock();
  auto *node = kernel.dominance.getNode(block);
  Block *above = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  // A diamond between the two, not a loop.
  if (!above || kernel.isLoopHeader(block) || kernel.isLoopHeader(above) ||
      !kernel.postDominance.properlyPostDominates(block, above))
    return nullptr;
  bool stores = llvm::any_of(kernel.function.getBody(), [&](Block &between) {
    return kernel.dominance.properlyDominates(above, &between) &&
           kernel.postDominance.properlyPostDominates(block, &between) &&
           llvm::any_of(between, [](Operation &op) { return isStoreTo(&op, kShared); });
  });
  return stores ? above->getTerminator() : nullptr;
}

/// The last load from shared memory between a barrier and the next one, in its block.
Operation *lastLoadBehind(Operation *barrier) {
  Operation *found = nullptr;
  for (Operation *op = barrier->getNextNode(); op && !isBarrier(op); op = op->getNextNode())
    if (isLoadFrom(op, kShared))
      found = op;
  return found;
}

/// A kind of fault: what places there are for it in an operation, and how one is planted.
struct Kind {
  StringRef name;
  /// Calls `add` with the number of each place.
  void (*find)(Kernel &, Operation *, llvm::function_ref<void(unsigned)> add);
  void (*plant)(Kernel &, Place);
};

using Add = llvm::function_ref<void(unsigned)>;

void findBarrier(Kernel &, Operation *op, Add add) {
  if (isBarrier(op) || isa<NVVM::SyncWarpOp>(op))
    add(0);
}

void findShuffle(Kernel &, Operation *op, Add add) {
  if (isa<NVVM::ShflOp>(op))
    add(0);
}

void findSharedStore(Kernel &, Operation *op, Add add) {
  if (isStoreTo(op, kShared))
    add(0);
}

void findGlobalStore(Kernel &, Operation *op, Add add) {
  if (isStoreTo(op, kGlobal))
    add(0);
}

void findEarlierPlace(Kernel &kernel, Operation *op, Add add) {
  if (isBarrier(op) && placeBeforeStores(kernel, op))
    add(0);
}

void findLaterPlace(Kernel &, Operation *op, Add add) {
  if (isBarrier(op) && lastLoadBehind(op))
    add(0);
}

/// Offsets that a bit of another one is turned over in.
void findSwizzle(Kernel &, Operation *op, Add add) {
  if (isa<LLVM::XOrOp>(op) && !op->getResult(0).getType().isInteger(1))
    add(0);
}

/// What was one before this, where it is the next stage of a ring; null for others.
Value formerStage(Operation *op) {
  auto select = dyn_cast<LLVM::SelectOp>(op);
  auto more = select ? select.getFalseValue().getDefiningOp<LLVM::AddOp>() : LLVM::AddOp();
  bool isRing =
      more && matchPattern(select.getTrueValue(), m_Zero()) && matchPattern(more.getRhs(), m_One());
  return isRing ? more.getLhs() : Value();
}

void findStage(Kernel &, Operation *op, Add add) {
  if (formerStage(op))
    add(0);
}

void holdStage(Kernel &, Place place) {
  place.op->getResult(0).replaceAllUsesWith(formerStage(place.op));
}

void findIndex(Kernel &, Operation *op, Add add) {
  auto gep = dyn_cast<LLVM::GEPOp>(op);
  if (gep && llvm::is_contained({kGlobal, kShared}, addressSpace(gep.getBase())))
    add(0);
}

void findBound(Kernel &, Operation *op, Add add) {
  using P = LLVM::ICmpPredicate;
  auto compare = dyn_cast<LLVM::ICmpOp>(op);
  if (compare && !llvm::is_contained({P::eq, P::ne}, compare.getPredicate()) &&
      isa<IntegerType>(compare.getLhs().getType()))
    add(0);
}

void findCondition(Kernel &, Operation *op, Add add) {
  if (isa<LLVM::CondBrOp>(op))
    add(0);
}

/// Without the conditions of loops, which would never end.
void findMask(Kernel &kernel, Operation *op, Add add) {
  if (isa<LLVM::CondBrOp>(op) && !kernel.isLoopHeader(op->getBlock()))
    add(0);
}

void findConjunct(Kernel &, Operation *op, Add add) {
  if (isa<LLVM::AndOp>(op) && op->getResult(0).getType().isInteger(1))
    for (unsigned i : {0, 1})
      add(i);
}

/// Values that a loop starts from.
void findStart(Kernel &kernel, Operation *op, Add add, bool isInteger) {
  auto branch = dyn_cast<LLVM::BrOp>(op);
  if (!branch || !kernel.isLoopHeader(branch.getDest()) ||
      kernel.dominance.dominates(branch.getDest(), op->getBlock()))
    return;
  for (auto [i, value] : llvm::enumerate(branch.getDestOperands()))
    if (isInteger ? isa<IntegerType>(value.getType())
                  : isa<FloatType>(getElementTypeOrSelf(value.getType())) &&
                        value.getDefiningOp<LLVM::ConstantOp>())
      add(i);
}

void shiftIndex(Kernel &kernel, Place place) {
  auto gep = cast<LLVM::GEPOp>(place.op);
  kernel.builder.setInsertionPointAfter(gep);
  auto shifted = kernel.builder.create<LLVM::GEPOp>(gep.getLoc(), gep.getType(), gep.getElemType(),
                                                    gep.getResult(), ArrayRef<LLVM::GEPArg>{1},
                                                    gep.getInbounds());
  gep.getResult().replaceAllUsesExcept(shifted, shifted);
}

void shiftStart(Kernel &kernel, Place place) {
  kernel.builder.setInsertionPoint(place.op);
  Value start = place.op->getOperand(place.operand);
  Value one = constant(kernel.builder, place.op->getLoc(), start.getType(), 1);
  place.op->setOperand(place.operand,
                       kernel.builder.create<LLVM::AddOp>(place.op->getLoc(), start, one));
}

// ---- Instructions of kernel.ptx ----

/// "" for other operations.
StringRef instructionOf(Operation *op) {
  auto instruction = dyn_cast<kernel::PtxOp>(op);
  return instruction ? instruction.getInstruction() : StringRef();
}

CameoSimOpcode opcodeOf(Operation *op) {
  auto instruction = dyn_cast<kernel::PtxOp>(op);
  return instruction ? instruction.decode().opcode : CAMEO_SIM_OP_NONE;
}

template <CameoSimOpcode... Opcodes> void findInstruction(Kernel &, Operation *op, Add add) {
  if (llvm::is_contained({Opcodes...}, opcodeOf(op)))
    add(0);
}

void findWait(Kernel &kernel, Operation *op, Add add) {
  findInstruction<CAMEO_SIM_OP_CP_WAIT, CAMEO_SIM_OP_BULK_WAIT, CAMEO_SIM_OP_WGMMA_WAIT>(kernel, op,
                                                                                         add);
}

/// Loads of memory into registers.
void findLoad(Kernel &kernel, Operation *op, Add add) {
  if (isLoadFrom(op, kGlobal) || isLoadFrom(op, kShared))
    add(0);
  findInstruction<CAMEO_SIM_OP_LDMATRIX>(kernel, op, add);
}

/// Waits that leave a number of groups in flight.
void findGroupWait(Kernel &kernel, Operation *op, Add add) {
  if (instructionOf(op).contains("wait_group"))
    findWait(kernel, op, add);
}

void findArrival(Kernel &kernel, Operation *op, Add add) {
  if (llvm::all_of(op->getResults(), [](Value state) { return state.use_empty(); }))
    findInstruction<CAMEO_SIM_OP_MBAR_ARRIVE>(kernel, op, add);
}

void findExpectation(Kernel &kernel, Operation *op, Add add) {
  if (instructionOf(op).contains("arrive.expect_tx"))
    add(0);
}

void findParity(Kernel &, Operation *op, Add add) {
  if (opcodeOf(op) == CAMEO_SIM_OP_MBAR_WAIT && instructionOf(op).contains(".parity"))
    add(0);
}

void findMulticast(Kernel &, Operation *op, Add add) {
  if (instructionOf(op).contains(".multicast"))
    add(0);
}

/// The arrival at the cluster's barrier that a wait in the same block belongs to.
Operation *arrivalOf(Operation *wait) {
  Operation *op = wait->getPrevNode();
  while (op && !isa<NVVM::ClusterArriveOp, NVVM::ClusterArriveRelaxedOp>(op) &&
         opcodeOf(op) != CAMEO_SIM_OP_CLUSTER_ARRIVE)
    op = op->getPrevNode();
  return op;
}

void findClusterBarrier(Kernel &, Operation *op, Add add) {
  if ((isa<NVVM::ClusterWaitOp>(op) || opcodeOf(op) == CAMEO_SIM_OP_CLUSTER_WAIT) && arrivalOf(op))
    add(0);
}

/// Replaces `op` by the same instruction with `from` exchanged for `to` in its name.
void rename(Kernel &kernel, Operation *op, StringRef from, StringRef to, ValueRange inputs) {
  std::string name = instructionOf(op).str();
  name.replace(name.find(from.str()), from.size(), to.str());
  kernel.builder.setInsertionPoint(op);
  auto renamed =
      kernel.builder.create<kernel::PtxOp>(op->getLoc(), op->getResultTypes(), name, inputs);
  op->replaceAllUsesWith(renamed);
  op->erase();
}

/// wait_group N leaves one group more in flight.
void loosenWait(Kernel &kernel, Place place) {
  auto [name, groups] = instructionOf(place.op).rsplit(' ');
  unsigned count = 0;
  bool failed = groups.getAsInteger(10, count);
  assert(!failed && "the operation is valid");
  (void)failed;
  std::string before = " " + groups.str(), after = " " + std::to_string(count + 1);
  rename(kernel, place.op, before, after, ValueRange());
}

/// Bulk copies that are waited for until all is done.
void findFullWait(Kernel &kernel, Operation *op, Add add) {
  if (!instructionOf(op).contains(".read"))
    findInstruction<CAMEO_SIM_OP_BULK_WAIT>(kernel, op, add);
}

void weakenWait(Kernel &kernel, Place place) {
  rename(kernel, place.op, "wait_group", "wait_group.read", ValueRange());
}

constexpr StringRef kGlobalFence = "fence.proxy.async.global",
                    kSharedFence = "fence.proxy.async.shared::cta";

void findNarrowFence(Kernel &, Operation *op, Add add) {
  if (llvm::is_contained({kGlobalFence, kSharedFence}, instructionOf(op)))
    add(0);
}

void misplaceFence(Kernel &kernel, Place place) {
  bool isGlobal = instructionOf(place.op) == kGlobalFence;
  rename(kernel, place.op, isGlobal ? kGlobalFence : kSharedFence,
         isGlobal ? kSharedFence : kGlobalFence, ValueRange());
}

void dropExpectation(Kernel &kernel, Place place) {
  rename(kernel, place.op, "arrive.expect_tx", "arrive", place.op->getOperand(0));
}

/// A wait that is over at once.
void dropPhaseWait(Kernel &kernel, Place place) {
  kernel.builder.setInsertionPoint(place.op);
  place.op->getResult(0).replaceAllUsesWith(
      constant(kernel.builder, place.op->getLoc(), kernel.builder.getI1Type(), 1));
  place.op->erase();
}

void flipParity(Kernel &kernel, Place place) {
  kernel.builder.setInsertionPoint(place.op);
  Value parity = place.op->getOperand(1);
  Value one = constant(kernel.builder, place.op->getLoc(), parity.getType(), 1);
  place.op->setOperand(1, kernel.builder.create<LLVM::XOrOp>(place.op->getLoc(), parity, one));
}

/// The block's own shared memory instead of another one's.
void stayLocal(Kernel &, Place place) {
  place.op->getResult(0).replaceAllUsesWith(place.op->getOperand(0));
  place.op->erase();
}

void narrowMulticast(Kernel &kernel, Place place) {
  kernel.builder.setInsertionPoint(place.op);
  OpOperand &mask = place.op->getOpOperand(place.op->getNumOperands() - 1);
  mask.set(constant(kernel.builder, place.op->getLoc(), mask.get().getType(), 1));
}

void dropClusterBarrier(Kernel &, Place place) {
  arrivalOf(place.op)->erase();
  place.op->erase();
}

/// An accumulator that nobody has set.
void dropStart(Kernel &kernel, Place place) {
  kernel.builder.setInsertionPoint(place.op);
  Value start = place.op->getOperand(place.operand);
  place.op->setOperand(place.operand,
                       kernel.builder.create<LLVM::UndefOp>(place.op->getLoc(), start.getType()));
}

/// Registers that nobody has loaded.
void dropLoad(Kernel &kernel, Place place) {
  kernel.builder.setInsertionPoint(place.op);
  for (Value loaded : place.op->getResults())
    loaded.replaceAllUsesWith(
        kernel.builder.create<LLVM::UndefOp>(place.op->getLoc(), loaded.getType()));
  place.op->erase();
}

void erase(Kernel &, Place place) { place.op->erase(); }

const Kind kKinds[] = {
    {"drop-barrier", findBarrier, erase},
    {"early-barrier", findEarlierPlace,
     [](Kernel &kernel, Place place) {
       place.op->moveBefore(placeBeforeStores(kernel, place.op));
     }},
    {"late-barrier", findLaterPlace,
     [](Kernel &, Place place) { place.op->moveAfter(lastLoadBehind(place.op)); }},
    {"diverge-barrier", findBarrier,
     [](Kernel &kernel, Place place) { diverge(kernel, place.op, Value()); }},
    {"drop-shuffle", findShuffle,
     [](Kernel &kernel, Place place) {
       place.op->getResult(0).replaceAllUsesWith(unshuffled(kernel, cast<NVVM::ShflOp>(place.op)));
       place.op->erase();
     }},
    {"diverge-shuffle", findShuffle,
     [](Kernel &kernel, Place place) {
       diverge(kernel, place.op, unshuffled(kernel, cast<NVVM::ShflOp>(place.op)));
     }},
    {"narrow-shuffle", findShuffle,
     [](Kernel &kernel, Place place) {
       auto shuffle = cast<NVVM::ShflOp>(place.op);
       kernel.builder.setInsertionPoint(shuffle);
       shuffle.getThreadMaskMutable().assign(
           constant(kernel.builder, shuffle.getLoc(), kernel.builder.getI32Type(), 0x7fffffff));
     }},
    {"drop-shared-store", findSharedStore, erase},
    {"drop-global-store", findGlobalStore, erase},
    {"shift-index", findIndex, shiftIndex},
    {"drop-swizzle", findSwizzle,
     [](Kernel &, Place place) {
       place.op->getResult(0).replaceAllUsesWith(place.op->getOperand(0));
     }},
    {"hold-stage", findStage, holdStage},
    {"widen-bound", findBound,
     [](Kernel &kernel, Place place) { shiftBound(kernel, cast<LLVM::ICmpOp>(place.op), 1); }},
    {"narrow-bound", findBound,
     [](Kernel &kernel, Place place) { shiftBound(kernel, cast<LLVM::ICmpOp>(place.op), -1); }},
    {"open-mask", findMask,
     [](Kernel &kernel, Place place) { setCondition(kernel, place.op, 0, true); }},
    {"close-mask", findCondition,
     [](Kernel &kernel, Place place) { setCondition(kernel, place.op, 0, false); }},
    {"drop-conjunct", findConjunct,
     [](Kernel &kernel, Place place) { setCondition(kernel, place.op, place.operand, true); }},
    {"shift-start",
     [](Kernel &kernel, Operation *op, Add add) { findStart(kernel, op, add, true); }, shiftStart},
    {"drop-async-wait", findWait, erase},
    {"loosen-async-wait", findGroupWait, loosenWait},
    {"drop-commit",
     findInstruction<CAMEO_SIM_OP_CP_COMMIT, CAMEO_SIM_OP_BULK_COMMIT, CAMEO_SIM_OP_WGMMA_COMMIT>,
     erase},
    {"drop-fence",
     findInstruction<CAMEO_SIM_OP_PROXY_FENCE, CAMEO_SIM_OP_MBAR_INIT_FENCE, CAMEO_SIM_OP_MAP_FENCE,
                     CAMEO_SIM_OP_WGMMA_FENCE>,
     erase},
    {"weaken-async-wait", findFullWait, weakenWait},
    {"misplace-fence", findNarrowFence, misplaceFence},
    {"diverge-warpgroup",
     findInstruction<CAMEO_SIM_OP_WGMMA_FENCE, CAMEO_SIM_OP_WGMMA_COMMIT, CAMEO_SIM_OP_WGMMA_WAIT>,
     [](Kernel &kernel, Place place) { diverge(kernel, place.op, Value(), kWarp); }},
    {"drop-copy",
     findInstruction<CAMEO_SIM_OP_CP_ASYNC, CAMEO_SIM_OP_TENSOR_LOAD, CAMEO_SIM_OP_TENSOR_STORE,
                     CAMEO_SIM_OP_BULK_LOAD, CAMEO_SIM_OP_BULK_STORE, CAMEO_SIM_OP_BULK_SHARED,
                     CAMEO_SIM_OP_ASYNC_STORE>,
     erase},
    {"drop-mbarrier-wait", findInstruction<CAMEO_SIM_OP_MBAR_WAIT>, dropPhaseWait},
    {"flip-parity", findParity, flipParity},
    {"drop-mbarrier-arrival", findArrival, erase},
    {"drop-expectation", findExpectation, dropExpectation},
    {"drop-cluster-barrier", findClusterBarrier, dropClusterBarrier},
    {"stay-local", findInstruction<CAMEO_SIM_OP_MAPA>, stayLocal},
    {"narrow-multicast", findMulticast, narrowMulticast},
    {"drop-load", findLoad, dropLoad},
    {"drop-start",
     [](Kernel &kernel, Operation *op, Add add) { findStart(kernel, op, add, false); }, dropStart},
};

SmallVector<Place> placesOf(Kernel &kernel, const Kind &kind) {
  SmallVector<Place> places;
  kernel.function.walk([&](Operation *op) {
    kind.find(kernel, op, [&](unsigned operand) { places.push_back({op, operand}); });
  });
  return places;
}

struct PlantFault : cameo::impl::PlantFaultBase<PlantFault> {
  using PlantFaultBase::PlantFaultBase;

  void runOnOperation() override {
    if (kind.empty())
      return list();
    const Kind *chosen =
        llvm::find_if(kKinds, [&](const Kind &known) { return known.name == kind; });
    if (chosen == std::end(kKinds)) {
      InFlightDiagnostic error = emitError(getOperation().getLoc());
      error << "unknown kind of fault '" << kind << "'; known: ";
      llvm::interleaveComma(kKinds, error, [&](const Kind &known) { error << known.name; });
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (isChosen(function) && failed(plant(function, *chosen)))
        return signalPassFailure();
  }

private:
  bool isChosen(LLVM::LLVMFuncOp function) {
    return !function.isExternal() && (kernel.empty() || function.getName() == kernel);
  }

  void list() {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (!isChosen(function))
        continue;
      Kernel known(function);
      for (const Kind &kind : kKinds)
        if (size_t count = placesOf(known, kind).size())
          function.emitRemark() << "faults of kind " << kind.name << " in " << function.getName()
                                << ": " << count;
    }
    markAllAnalysesPreserved();
  }

  LogicalResult plant(LLVM::LLVMFuncOp function, const Kind &kind) {
    Kernel known(function);
    SmallVector<Place> places = placesOf(known, kind);
    if (index >= places.size())
      return function.emitError() << "has " << places.size() << " places for a fault of kind "
                                  << kind.name << "; there is no number " << index.getValue();
    function.emitRemark() << "fault " << kind.name << " " << index.getValue() << " in "
                          << function.getName() << ": " << places[index].op->getName();
    kind.plant(known, places[index]);
    count(&getContext(), getArgument(), "planted");
    return success();
  }
};

} // namespace
