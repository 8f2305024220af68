// Which code lanes run in which loop, and the loops.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpRewriter.h"

#include "llvm/IR/CFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace cameo;
using namespace cameo::warp;

/// Units of blocks that lanes go through each in its own way.
std::string Rewriter::findSerialUnits() {
  SmallPtrSet<BasicBlock *, 16> seen;
  for (BasicBlock &start : function) {
    if (!divergence.isSerial(&start) || seen.count(&start))
      continue;
    auto unit = std::make_unique<Unit>();
    SetVector<BasicBlock *> body;
    for (BasicBlock &block : function)
      if (divergence.isSerial(&block) && divergence.isSameRegion(&start, &block))
        body.insert(&block);
    seen.insert(body.begin(), body.end());

    SetVector<BasicBlock *> from, entries, exits;
    for (BasicBlock *block : body) {
      for (BasicBlock *before : predecessors(block))
        if (!body.contains(before)) {
          from.insert(before);
          entries.insert(block);
        }
      for (BasicBlock *after : successors(block))
        if (!body.contains(after))
          exits.insert(after);
    }
    if (from.size() != 1)
      return "lanes that take different ways come from more than one place";
    BasicBlock *before = from.front();
    auto *branch = dyn_cast<BranchInst>(before->getTerminator());
    if (!branch)
      return "control flow that the warp form does not know";
    if (branch->isConditional() && !divergence.isUniform(branch->getCondition())) {
      // The branch is the lanes' own, and so is what comes before it in its block.
      for (BasicBlock *after : successors(before))
        if (!body.contains(after))
          exits.insert(after);
      unit->entry = before->splitBasicBlock(branch, before->getName() + ".lanes");
      body.insert(unit->entry);
      unit->preheader = before;
    } else {
      if (entries.size() != 1)
        return "lanes that take different ways come from more than one place";
      unit->entry = entries.front();
      unit->preheader = SplitEdge(before, unit->entry);
    }
    if (exits.size() != 1)
      return "lanes that take different ways do not meet again at one place";
    unit->exit = exits.front();
    // What lanes do first where they meet joins them: phis are selections then.
    BasicBlock *meeting = unit->exit;
    auto isOwn = [&](Instruction &instruction) {
      return isa<PHINode>(instruction) || (runsPerLane(instruction) && !collective(instruction));
    };
    if (isOwn(meeting->front()) &&
        all_of(predecessors(meeting), [&](BasicBlock *block) { return body.contains(block); })) {
      auto end = find_if_not(*meeting, isOwn);
      unit->exit = meeting->splitBasicBlock(end, meeting->getName() + ".met");
      for (auto &other : units)
        if (other->preheader == meeting)
          other->preheader = unit->exit;
      body.insert(meeting);
    }
    unit->body.assign(body.begin(), body.end());
    for (BasicBlock *block : unit->body)
      unitOfBlock[block] = unit.get();
    units.push_back(std::move(unit));
  }
  return {};
}

/// In a block that the whole warp reaches: what each lane does for itself.
bool Rewriter::runsPerLane(const Instruction &instruction) const {
  if (instruction.isTerminator() || isa<PHINode, AllocaInst>(instruction))
    return false;
  return instruction.mayHaveSideEffects() || !divergence.isUniform(&instruction);
}

/// Units of what lanes do between collectives.
void Rewriter::findStraightUnits() {
  SmallVector<BasicBlock *> blocks(warpBlocks.begin(), warpBlocks.end());
  for (BasicBlock *block : blocks) {
    if (collective(block->front()))
      continue;
    SmallVector<Instruction *> own;
    for (Instruction &instruction : *block)
      if (runsPerLane(instruction))
        own.push_back(&instruction);
    if (own.empty())
      continue;
    // What comes before the lanes' ways part joins them, but for what all must have done before one
    // of them waits.
    Unit *next = nullptr;
    for (auto &unit : units)
      if (unit->preheader == block)
        next = unit.get();
    bool waits =
        next && any_of(next->body, [](BasicBlock *part) { return any_of(*part, isOwnWait); });
    if (next && !waits && next->entry->front().isTerminator()) {
      for (Instruction *instruction : own)
        instruction->moveBefore(next->entry->getTerminator());
      continue;
    }
    auto unit = std::make_unique<Unit>();
    BasicBlock *rest = block->splitBasicBlock(block->getTerminator());
    warpBlocks.insert(rest);
    for (auto &other : units)
      if (other->preheader == block)
        other->preheader = rest;
    unit->entry = block->splitBasicBlock(block->getTerminator(), block->getName() + ".lanes");
    for (Instruction *instruction : own)
      instruction->moveBefore(unit->entry->getTerminator());
    unit->preheader = block;
    unit->exit = rest;
    unit->body = {unit->entry};
    unitOfBlock[unit->entry] = unit.get();
    units.push_back(std::move(unit));
  }
}

/// Whether `phi`, of block `to`, is still needed after the edge from `from` to another block than
/// `to`: then its slot must not have changed by then.
bool Rewriter::leavesLive(PHINode &phi, BasicBlock *from, BasicBlock *to) {
  SmallPtrSet<const BasicBlock *, 16> users;
  for (User *user : phi.users()) {
    auto *other = dyn_cast<PHINode>(user);
    if (!other) {
      users.insert(cast<Instruction>(user)->getParent());
      continue;
    }
    for (unsigned i = 0; i < other->getNumIncomingValues(); ++i)
      if (other->getIncomingValue(i) == &phi)
        users.insert(other->getIncomingBlock(i));
  }
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<const BasicBlock *> work;
  for (BasicBlock *after : successors(from))
    if (after != to)
      work.push_back(after);
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (block == to || !seen.insert(block).second)
      continue;
    if (users.count(block))
      return true;
    work.append(succ_begin(block), succ_end(block));
  }
  return false;
}

/// Stores `value` for each lane at the end of what lanes do in `block`, which has one successor
/// that matters.
void Rewriter::storeAtEnd(Value *value, AllocaInst *slot, BasicBlock *block) {
  Unit *unit = unitOfBlock.lookup(block);
  if (!unit) {
    // The lane loop right before the end of the warp's block, or a new one.
    for (auto &other : units)
      if (other->exit == block && other->body.size() == 1 &&
          block->getFirstNonPHI()->isTerminator())
        unit = other.get();
  }
  if (!unit) {
    auto made = std::make_unique<Unit>();
    unit = made.get();
    unit->exit = block->splitBasicBlock(block->getTerminator());
    warpBlocks.insert(unit->exit);
    for (auto &other : units)
      if (other->preheader == block)
        other->preheader = unit->exit;
    unit->entry = block->splitBasicBlock(block->getTerminator(), block->getName() + ".lanes");
    unit->preheader = block;
    unit->body = {unit->entry};
    unitOfBlock[unit->entry] = unit;
    units.push_back(std::move(made));
  }
  BasicBlock *end = unitOfBlock.lookup(block) ? block : unit->entry;
  LanesBuilder builder(divergence, end->getTerminator());
  storeRow(builder, value, slot, &lane);
}

/// Phis of the warp's blocks whose lanes differ become slots.
void Rewriter::placePhiStores() {
  SmallVector<BasicBlock *> blocks(warpBlocks.begin(), warpBlocks.end());
  for (BasicBlock *block : blocks)
    for (PHINode &phi : block->phis())
      if (!divergence.isUniform(&phi)) {
        if (!slots.count(&phi))
          slots[&phi] = makeSlot(phi.getType(), "phi");
        storedPhis.push_back(&phi);
      }
  for (PHINode *phi : storedPhis)
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      Value *value = phi->getIncomingValue(i);
      // A sum may have been made in the phi's own row.
      if (isa<UndefValue>(value) || value == phi || rowOf(value) == slots[phi])
        continue;
      BasicBlock *from = phi->getIncomingBlock(i), *to = phi->getParent();
      Unit *unit = unitOfBlock.lookup(from);
      bool isCritical = from->getTerminator()->getNumSuccessors() > 1;
      if (isCritical &&
          (unit || rowOf(value) || sumRows.contains(slots[phi]) || leavesLive(*phi, from, to))) {
        BasicBlock *edge = SplitEdge(from, to);
        if (unit) {
          unit->body.push_back(edge);
          unitOfBlock[edge] = unit;
        } else {
          warpBlocks.insert(edge);
        }
        from = edge;
      }
      storeAtEnd(value, slots[phi], from);
    }
}

void Rewriter::makeLoop(Unit &unit) {
  bool isShuffled = isOrderSeen(unit);
  unit.header = BasicBlock::Create(context, "lanes", &function, unit.entry);
  BasicBlock *latch = BasicBlock::Create(context, "next.lane", &function, unit.exit);
  unit.latch = latch;
  SmallPtrSet<BasicBlock *, 16> body(unit.body.begin(), unit.body.end());
  unit.preheader->getTerminator()->replaceSuccessorWith(unit.entry, unit.header);
  unit.entry->replacePhiUsesWith(unit.preheader, unit.header);
  for (BasicBlock *block : unit.body)
    block->getTerminator()->replaceSuccessorWith(unit.exit, latch);

  IRBuilder<> builder(unit.header);
  PHINode *turn = builder.CreatePHI(i32, 2);
  builder.CreateBr(unit.entry);
  unit.lane = isShuffled ? shuffledLane(unit, turn) : turn;
  builder.SetInsertPoint(latch);
  Value *next = builder.CreateAdd(turn, builder.getInt32(1), "", true, true);
  auto *branch = builder.CreateCondBr(builder.CreateICmpEQ(next, builder.getInt32(kWarpLanes)),
                                      unit.exit, unit.header);
  turn->addIncoming(builder.getInt32(0), unit.preheader);
  turn->addIncoming(next, latch);

  // Lanes do not depend on each other between two collectives.
  MDNode *group = MDNode::getDistinct(context, {});
  auto text = [&](const char *name) { return MDString::get(context, name); };
  SmallVector<Metadata *> properties{
      nullptr, MDNode::get(context, {text("llvm.loop.parallel_accesses"), group}),
      MDNode::get(context, {text("llvm.loop.unroll.disable")})};
  MDNode *loop = MDNode::getDistinct(context, properties);
  loop->replaceOperandWith(0, loop);
  branch->setMetadata(LLVMContext::MD_loop, loop);
  unit.accesses = group;
}
