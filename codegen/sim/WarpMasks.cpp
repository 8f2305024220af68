// Loops that lanes leave at different times, or that some lanes do not enter at all, become loops of
// the whole warp under a mask:
//
//   if (enters) while (goes) body   ==>  on = enters
//                                        while (any(on)) if (on) { body; on = goes }
//
// where that pays: the body then is a branch without loops, a mask once lanes are SIMD's. `any` is a
// vote, or the loop's own condition where all lanes that enter stay equally long.
//
// A loop's lanes are told apart by `way`: 0 while a lane runs the loop, else the number of the
// block where it goes on. What lanes carry around the loop or out of it lies in variables, one for
// each phi, that become rows; one turn loads them at its begin and stores them at its end, for all
// lanes, so that a mask chooses between values and not what is written to memory.
//
//         D               D: branches lane by lane          D
//        / \                                               / \ (way = 1)
//       P   \             P: before the loop        way = 0   |
//       |    |                                             \ /
//       H <- |            H: its header              gate: any(way == 0)? ------.
//       |  | |                                             |                    |
//       L -' |            L: leaves or goes on       head: way == 0? <-.        |
//       |    |                                             |    \      |        |
//       E    |                                       H .. L |   next: any? --.  |
//        \   |                                   (way = 2 or 0)/             |  |
//          J              J: all ways meet           dispatch: way? ---------'--'
//                                                         / \.
//                                                        E   J
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;
using namespace cameo;

namespace {

/// What is computed for all lanes so that a loop's counter and condition are the warp's.
constexpr unsigned kMaxCounted = 8;

/// What can be done for a lane that does not come by.
bool isSpeculatable(const Instruction &instruction) {
  return !isa<PHINode>(instruction) &&
         (!isa<CallBase>(instruction) || isa<IntrinsicInst>(instruction)) &&
         !instruction.mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(&instruction);
}

/// Whether LLVM's loop vectoriser can make `instruction` one of SIMD lanes.
bool isForLanes(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (call && (!isa<IntrinsicInst>(call) ||
               !isTriviallyVectorizable(cast<IntrinsicInst>(call)->getIntrinsicID())))
    return false;
  auto isPlain = [](Type *type) { return !type->isVectorTy() && !type->isAggregateType(); };
  return !isa<AtomicRMWInst, AtomicCmpXchgInst, FenceInst>(instruction) &&
         isPlain(instruction.getType()) && all_of(instruction.operands(), [&](Value *operand) {
           return isPlain(operand->getType());
         });
}

/// Analyses of a function as it stands, and the loops to change.
struct View {
  View(Function &function, FunctionAnalysisManager &analyses)
      : dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        loops(analyses.getResult<LoopAnalysis>(function)),
        divergence(analyses.getResult<DivergenceAnalysis>(function)) {}
  DominatorTree &dominators;
  LoopInfo &loops;
  const Divergence &divergence;
};

/// Changes one loop.
class LoopPredication {
public:
  LoopPredication(Function &function, Instruction &lane, Loop &loop, View &view)
      : function(function), lane(lane), context(function.getContext()), loop(loop), view(view),
        header(loop.getHeader()), before(loop.getLoopPreheader()), latch(loop.getLoopLatch()),
        i32(Type::getInt32Ty(context)) {}

  /// Whether it can be done.
  bool check();
  /// Returns the loop's new header.
  BasicBlock *run();

private:
  using Edge = std::pair<BasicBlock *, BasicBlock *>;

  void hoist();
  void findCounters();
  bool isCounted(Value *value, const SmallPtrSetImpl<PHINode *> &counters, unsigned &budget);
  Value *countAhead(Value *value);
  BasicBlock *leave(Edge edge, BasicBlock *to);
  AllocaInst *slotOf(PHINode &phi);
  AllocaInst *variable(Type *type, const Twine &name);
  Value *isOn(IRBuilder<> &builder);
  Value *anyOn(IRBuilder<> &builder);
  void dispatch(BasicBlock *block);
  void repair();
  void makeRows();

  Function &function;
  Instruction &lane;
  LLVMContext &context;
  Loop &loop;
  View &view;
  BasicBlock *header, *before, *latch;
  IntegerType *i32;
  BasicBlock *parting = nullptr; // where lanes part that enter the loop and that do not
  SetVector<BasicBlock *> ahead; // what comes between there and the loop
  SmallVector<Edge> past;        // ways around the loop
  SmallVector<Edge> exits;
  MapVector<BasicBlock *, unsigned> targets;
  AllocaInst *way = nullptr;
  SmallVector<AllocaInst *> variables;
  DenseMap<PHINode *, AllocaInst *> slots;
  SmallPtrSet<AllocaInst *, 8> shared;
  SmallPtrSet<PHINode *, 4> counters; // phis of the header that go on for all lanes
  DenseMap<Value *, Value *> counted; // what of the loop is computed in its new head
  BasicBlock *head = nullptr, *next = nullptr;
  SmallPtrSet<BasicBlock *, 16> turn; // from head to next
};

bool LoopPredication::check() {
  if (!before || !latch)
    return false;
  for (BasicBlock *block : loop.blocks()) {
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || (branch->isConditional() && branch->getSuccessor(0) == branch->getSuccessor(1)))
      return false;
    for (BasicBlock *after : successors(block))
      if (!loop.contains(after)) {
        exits.push_back({block, after});
        targets[after] = 0;
      }
  }
  if (exits.empty())
    return false;
  if (view.divergence.isInDivergentRegion(before)) {
    auto *node = view.dominators.getNode(before);
    while (node && view.divergence.isInDivergentRegion(node->getBlock()))
      node = node->getIDom();
    parting = node ? node->getBlock() : nullptr;
    auto *branch = parting ? dyn_cast<BranchInst>(parting->getTerminator()) : nullptr;
    if (!branch || !branch->isConditional() || view.divergence.isUniform(branch->getCondition()))
      return false;
    ahead.insert(before);
    for (unsigned i = 0; i < ahead.size(); ++i)
      for (BasicBlock *block : predecessors(ahead[i]))
        if (block != parting)
          ahead.insert(block);
    for (BasicBlock *block : ahead)
      if (!view.divergence.isInDivergentRegion(block) || !isa<BranchInst>(block->getTerminator()) ||
          view.loops.getLoopFor(block) != view.loops.getLoopFor(parting))
        return false;
    SmallVector<BasicBlock *> from(ahead.begin(), ahead.end());
    from.push_back(parting);
    for (BasicBlock *block : from) {
      auto *last = cast<BranchInst>(block->getTerminator());
      if (last->isConditional() && last->getSuccessor(0) == last->getSuccessor(1))
        return false;
      for (BasicBlock *after : successors(block))
        if (!ahead.contains(after) && after != header) {
          past.push_back({block, after});
          targets[after] = 0;
        }
    }
  }
  unsigned number = 0;
  for (auto &[block, index] : targets)
    index = ++number;
  return true;
}

/// What can be computed for all lanes before they part need not be carried past lanes that do not
/// come by.
void LoopPredication::hoist() {
  Instruction *end = parting->getTerminator();
  ReversePostOrderTraversal<BasicBlock *> order(parting);
  for (BasicBlock *block : order)
    if (ahead.contains(block))
      for (Instruction &instruction : make_early_inc_range(*block))
        if (isSpeculatable(instruction) && !instruction.isTerminator() &&
            all_of(instruction.operands(), [&](Value *operand) {
              auto *other = dyn_cast<Instruction>(operand);
              return !other || view.dominators.dominates(other, end);
            }))
          instruction.moveBefore(end);
}

/// Whether `value` follows from what is known before the loop and from `counters`.
bool LoopPredication::isCounted(Value *value, const SmallPtrSetImpl<PHINode *> &counters,
                                unsigned &budget) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction)
    return true;
  if (!loop.contains(instruction))
    return view.dominators.dominates(instruction, (parting ? parting : before)->getTerminator());
  if (auto *phi = dyn_cast<PHINode>(instruction))
    return counters.contains(phi);
  return isSpeculatable(*instruction) && budget-- > 0 &&
         all_of(instruction->operands(),
                [&](Value *operand) { return budget > 0 && isCounted(operand, counters, budget); });
}

void LoopPredication::findCounters() {
  for (PHINode &phi : header->phis()) {
    unsigned budget = kMaxCounted;
    if (view.divergence.isUniform(&phi) &&
        isCounted(phi.getIncomingValueForBlock(before), counters, budget))
      counters.insert(&phi);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (PHINode &phi : header->phis()) {
      unsigned budget = kMaxCounted;
      if (counters.contains(&phi) &&
          !isCounted(phi.getIncomingValueForBlock(latch), counters, budget))
        changed |= counters.erase(&phi);
    }
  }
}

/// `value`, which isCounted(), in the loop's new head.
Value *LoopPredication::countAhead(Value *value) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || !loop.contains(instruction))
    return value;
  if (Value *known = counted.lookup(value))
    return known;
  Instruction *copy = instruction->clone();
  for (Use &use : copy->operands())
    use.set(countAhead(use.get()));
  copy->insertBefore(head->getTerminator());
  return counted[value] = copy;
}

AllocaInst *LoopPredication::variable(Type *type, const Twine &name) {
  auto *made = new AllocaInst(type, 0, name, lane.getIterator());
  variables.push_back(made);
  return made;
}

AllocaInst *LoopPredication::slotOf(PHINode &phi) {
  AllocaInst *&slot = slots[&phi];
  if (!slot)
    slot = variable(phi.getType(), "carried");
  return slot;
}

/// Gives `edge` a block that says where the lane goes on, and leads to `to`.
BasicBlock *LoopPredication::leave(Edge edge, BasicBlock *to) {
  auto [from, target] = edge;
  auto *block = BasicBlock::Create(context, "leaves", &function, to);
  IRBuilder<> builder(block);
  builder.CreateStore(builder.getInt32(targets[target]), way);
  for (PHINode &phi : target->phis()) {
    Value *value = phi.getIncomingValueForBlock(from);
    // A carried value that leaves the loop with the lane stays where it lies.
    AllocaInst *slot = slotOf(phi);
    auto *own = dyn_cast<PHINode>(value);
    if (!own || slots.lookup(own) != slot)
      builder.CreateStore(value, slot);
    phi.removeIncomingValue(from, /*DeletePHIIfEmpty=*/false);
  }
  builder.CreateBr(to);
  from->getTerminator()->replaceSuccessorWith(target, block);
  return block;
}

Value *LoopPredication::isOn(IRBuilder<> &builder) {
  return builder.CreateICmpEQ(builder.CreateLoad(i32, way), builder.getInt32(0));
}

/// Whether a lane runs the loop: a vote of the warp.
Value *LoopPredication::anyOn(IRBuilder<> &builder) {
  IRBuilder<> entry(lane.getNextNode());
  EngineFunction vote = CAMEO_SIM_ENGINE(vote);
  CallInst *call =
      callEngine(builder, engineEntry(entry, vote), vote,
                 {function.getArg(0), builder.getInt32(CAMEO_SIM_VOTE_ANY), builder.getInt32(~0u),
                  builder.CreateZExt(isOn(builder), i32), builder.getInt32(0)});
  call->addFnAttr(Attribute::Convergent);
  call->addFnAttr(Attribute::NoUnwind);
  return builder.CreateICmpNE(call, builder.getInt32(0));
}

/// Lanes go on, each its way.
void LoopPredication::dispatch(BasicBlock *block) {
  unsigned left = targets.size();
  for (auto &[target, number] : targets) {
    auto *to = BasicBlock::Create(context, "goes.on", &function, target);
    IRBuilder<> builder(to);
    for (PHINode &phi : target->phis())
      phi.addIncoming(builder.CreateLoad(phi.getType(), slotOf(phi)), to);
    builder.CreateBr(target);
    builder.SetInsertPoint(block);
    if (--left == 0) {
      builder.CreateBr(to);
      return;
    }
    auto *others = BasicBlock::Create(context, "others", &function, target);
    Value *isThis = builder.CreateICmpEQ(builder.CreateLoad(i32, way), builder.getInt32(number));
    builder.CreateCondBr(isThis, to, others);
    block = others;
  }
}

BasicBlock *LoopPredication::run() {
  if (parting)
    hoist();
  findCounters();
  // The loop's own condition, if it is the same for all.
  Value *goesOn = nullptr;
  bool whileTrue = false;
  if (auto *last = cast<BranchInst>(latch->getTerminator());
      exits.size() == 1 && exits.front().first == latch) {
    unsigned budget = kMaxCounted;
    if (view.divergence.isUniform(last->getCondition()) &&
        isCounted(last->getCondition(), counters, budget)) {
      goesOn = last->getCondition();
      whileTrue = last->getSuccessor(0) == header;
    }
  }
  way = variable(i32, "way");
  head = BasicBlock::Create(context, "head", &function, header);
  next = BasicBlock::Create(context, "next", &function, latch->getNextNode());
  auto *done = BasicBlock::Create(context, "dispatch", &function, next->getNextNode());
  auto *gate = parting ? BasicBlock::Create(context, "gate", &function, head) : nullptr;
  auto *entry = gate ? BasicBlock::Create(context, "enters", &function, head) : before;

  IRBuilder<> builder(head);
  builder.CreateCondBr(isOn(builder), header, next);

  // Values that lanes carry around the loop, and that leave it.
  SmallVector<PHINode *> carried;
  for (PHINode &phi : header->phis()) {
    if (counters.contains(&phi)) {
      builder.SetInsertPoint(head, head->begin());
      auto *counter = builder.CreatePHI(phi.getType(), 2, phi.getName());
      counter->addIncoming(phi.getIncomingValueForBlock(before), entry);
      counted[&phi] = counter;
    } else {
      slotOf(phi);
      carried.push_back(&phi);
    }
  }
  for (auto [from, target] : exits)
    for (PHINode &phi : target->phis())
      for (PHINode *own : carried)
        if (!slots.count(&phi) && !shared.contains(slots[own]) &&
            all_of(predecessors(target), [&](BasicBlock *other) {
              Value *value = phi.getIncomingValueForBlock(other);
              return loop.contains(other) &&
                     (value == own || value == own->getIncomingValueForBlock(latch));
            })) {
          slots[&phi] = slots[own];
          shared.insert(slots[own]);
        }

  // Ways into the loop and around it.
  for (auto edge : past)
    leave(edge, gate);
  builder.SetInsertPoint(before->getTerminator());
  builder.CreateStore(builder.getInt32(0), way);
  for (PHINode *phi : carried)
    builder.CreateStore(phi->getIncomingValueForBlock(before), slots[phi]);
  before->getTerminator()->replaceSuccessorWith(header, gate ? gate : head);
  if (gate) {
    builder.SetInsertPoint(gate);
    builder.CreateCondBr(anyOn(builder), entry, done);
    builder.SetInsertPoint(entry);
    builder.CreateBr(head);
  }
  // Ways out of it, and around once more.
  for (auto edge : exits)
    turn.insert(leave(edge, next));
  auto *again = BasicBlock::Create(context, "again", &function, next);
  builder.SetInsertPoint(again);
  for (PHINode *phi : carried)
    builder.CreateStore(phi->getIncomingValueForBlock(latch), slots[phi]);
  builder.CreateBr(next);
  latch->getTerminator()->replaceSuccessorWith(header, again);
  turn.insert(loop.block_begin(), loop.block_end());
  turn.insert({head, again, next});

  builder.SetInsertPoint(next);
  if (goesOn) {
    Value *condition = countAhead(goesOn);
    builder.CreateCondBr(condition, whileTrue ? head : done, whileTrue ? done : head);
  } else {
    builder.CreateCondBr(anyOn(builder), head, done);
  }
  for (PHINode *phi : counters)
    cast<PHINode>(counted[phi])
        ->addIncoming(countAhead(phi->getIncomingValueForBlock(latch)), next);
  dispatch(done);

  // The header's phis are the head's, or variables.
  builder.SetInsertPoint(header, header->getFirstInsertionPt());
  for (PHINode &phi : make_early_inc_range(header->phis())) {
    Value *value = counters.contains(&phi)
                       ? counted[&phi]
                       : builder.CreateLoad(phi.getType(), slots[&phi], phi.getName());
    phi.replaceAllUsesWith(value);
    phi.eraseFromParent();
  }
  repair();
  return head;
}

/// Values that no longer come by all their uses' ways become variables.
void LoopPredication::repair() {
  makeRows();
  DominatorTree dominators(function);
  SmallVector<Instruction *> broken;
  for (BasicBlock &block : function)
    for (Instruction &instruction : block)
      if (any_of(instruction.uses(),
                 [&](const Use &use) { return !dominators.dominates(&instruction, use); }))
        broken.push_back(&instruction);
  variables.clear();
  for (Instruction *instruction : broken)
    if (AllocaInst *made = DemoteRegToStack(*instruction, false, lane.getIterator()))
      variables.push_back(made);
  dominators.recalculate(function);
  PromoteMemToReg(variables, dominators);
}

void LoopPredication::makeRows() {
  IRBuilder<> entry(lane.getNextNode());
  Value *number = entry.CreateZExt(&lane, entry.getInt64Ty(), "", /*IsNonNeg=*/true);
  SmallVector<AllocaInst *> registers;
  for (AllocaInst *one : variables) {
    Type *type = one->getAllocatedType();
    auto *rows =
        new AllocaInst(ArrayType::get(type, kWarpLanes), 0, one->getName(), lane.getIterator());
    rows->setAlignment(Align(32));
    Value *row = entry.CreateInBoundsGEP(type, rows, number);
    registers.push_back(new AllocaInst(type, 0, one->getName(), lane.getIterator()));
    for (Use &use : make_early_inc_range(one->uses()))
      use.set(turn.contains(cast<Instruction>(use.getUser())->getParent()) ? registers.back()
                                                                           : row);
    IRBuilder<> builder(head, head->getFirstInsertionPt());
    builder.CreateStore(builder.CreateLoad(type, row), registers.back());
    builder.SetInsertPoint(next, next->begin());
    builder.CreateStore(builder.CreateLoad(type, registers.back()), row);
    one->eraseFromParent();
  }
  DominatorTree dominators(function);
  PromoteMemToReg(registers, dominators);
}

/// Whether loops are to be changed at all.
bool isForPredication(Function &function, FunctionAnalysisManager &analyses) {
  return laneOf(function) && !function.hasFnAttribute(kWarpUnpredicatedAttr) &&
         !analyses.getResult<LoopAnalysis>(function).empty() &&
         analyses.getResult<DivergenceAnalysis>(function).problem().empty();
}

/// A counter that starts at a number of the lane's own: that number plus a counter of the warp.
bool splitCounters(Function &function, const View &view) {
  bool changed = false;
  const DataLayout &layout = function.getParent()->getDataLayout();
  for (Loop *loop : view.loops.getLoopsInPreorder()) {
    BasicBlock *before = loop->getLoopPreheader(), *latch = loop->getLoopLatch();
    if (!before || !latch)
      continue;
    for (PHINode &phi : make_early_inc_range(loop->getHeader()->phis())) {
      auto *next = dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(latch));
      if (!next || next->getOpcode() != Instruction::Add || view.divergence.isUniform(&phi))
        continue;
      Value *start = phi.getIncomingValueForBlock(before);
      Value *step = next->getOperand(next->getOperand(0) == &phi ? 1 : 0);
      if (!is_contained(next->operands(), &phi) || step == &phi || !loop->isLoopInvariant(step) ||
          !view.divergence.isUniform(step))
        continue;
      auto *number = dyn_cast<ConstantInt>(step);
      bool grows = number && number->getValue().isStrictlyPositive() &&
                   isKnownNonNegative(start, SimplifyQuery(layout));
      bool unsignedWraps = !grows || !next->hasNoUnsignedWrap();
      bool signedWraps = !grows || !next->hasNoSignedWrap();
      IRBuilder<> builder(&phi);
      auto *counter = builder.CreatePHI(phi.getType(), 2);
      counter->addIncoming(ConstantInt::get(phi.getType(), 0), before);
      builder.SetInsertPoint(latch->getTerminator());
      counter->addIncoming(builder.CreateAdd(counter, step, "", !unsignedWraps, !signedWraps),
                           latch);
      builder.SetInsertPoint(phi.getParent(), phi.getParent()->getFirstInsertionPt());
      phi.replaceAllUsesWith(builder.CreateAdd(start, counter, "", !unsignedWraps, !signedWraps));
      phi.eraseFromParent();
      changed = true;
    }
  }
  return changed;
}

/// Whether lanes gain from running `loop` together: not where they would do so one by one. Calls of
/// the engine are among what rules that out.
bool isWorthwhile(const Loop &loop) {
  return all_of(loop.blocks(), [](BasicBlock *block) { return all_of(*block, isForLanes); });
}

} // namespace

bool SplitCountersPass::rewrite(Function &function, FunctionAnalysisManager &analyses) {
  return isForPredication(function, analyses) && splitCounters(function, View(function, analyses));
}

bool PredicateLoopsPass::rewrite(Function &function, FunctionAnalysisManager &analyses) {
  if (!isForPredication(function, analyses))
    return false;
  bool changed = false;
  SmallPtrSet<const BasicBlock *, 8> done;
  for (;;) {
    View view(function, analyses);
    if (!view.divergence.problem().empty())
      return changed;
    // From outside in, and in the order in which lanes come by.
    Loop *found = nullptr;
    for (Loop *loop : view.loops.getLoopsInPreorder())
      if (!found && view.divergence.isInDivergentRegion(loop->getHeader()) &&
          !done.contains(loop->getHeader()))
        found = loop;
    if (!found)
      return changed;
    done.insert(found->getHeader());
    if (!isWorthwhile(*found))
      continue;
    bool closed = formLCSSARecursively(*found, view.dominators, &view.loops, nullptr);
    changed |= closed;
    LoopPredication masking(function, *laneOf(function), *found, view);
    if (masking.check()) {
      done.insert(masking.run());
      function.addFnAttr(kWarpPredicatedAttr);
      changed = true;
    } else if (!closed) {
      continue;
    }
    analyses.invalidate(function, PreservedAnalyses::none());
  }
}
