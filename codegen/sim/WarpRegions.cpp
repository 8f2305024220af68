// Parallel regions, and the loops over lanes around them (work-item loops).
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/WarpRewriter.h"

#include "llvm/IR/CFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace cameo;
using namespace cameo::warp;

/// Regions of blocks that lanes go through each in its own way.
std::string Rewriter::findDivergentRegions() {
  SmallPtrSet<BasicBlock *, 16> seen;
  for (BasicBlock &start : function) {
    if (!divergence.isInDivergentRegion(&start) || seen.count(&start))
      continue;
    auto region = std::make_unique<ParallelRegion>();
    SetVector<BasicBlock *> body;
    for (BasicBlock &block : function)
      if (divergence.isInDivergentRegion(&block) && divergence.isSameRegion(&start, &block))
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
      return "control flow that the vectorised form does not know";
    if (branch->isConditional() && !divergence.isUniform(branch->getCondition())) {
      // The branch is the lanes' own, and so is what comes before it in its block.
      for (BasicBlock *after : successors(before))
        if (!body.contains(after))
          exits.insert(after);
      region->entry = before->splitBasicBlock(branch, before->getName() + ".lanes");
      body.insert(region->entry);
      region->preheader = before;
    } else {
      if (entries.size() != 1)
        return "lanes that take different ways come from more than one place";
      region->entry = entries.front();
      region->preheader = SplitEdge(before, region->entry);
    }
    if (exits.size() != 1)
      return "lanes that take different ways do not meet again at one place";
    region->exit = exits.front();
    // What lanes do first where they meet joins them: phis are selections then.
    BasicBlock *meeting = region->exit;
    auto isOwn = [&](Instruction &instruction) {
      return isa<PHINode>(instruction) ||
             (runsPerLane(instruction) && !warpCollective(instruction));
    };
    if (isOwn(meeting->front()) &&
        all_of(predecessors(meeting), [&](BasicBlock *block) { return body.contains(block); })) {
      auto end = find_if_not(*meeting, isOwn);
      region->exit = meeting->splitBasicBlock(end, meeting->getName() + ".met");
      for (auto &other : regions)
        if (other->preheader == meeting)
          other->preheader = region->exit;
      body.insert(meeting);
    }
    region->body.assign(body.begin(), body.end());
    for (BasicBlock *block : region->body)
      unitOfBlock[block] = region.get();
    regions.push_back(std::move(region));
  }
  return {};
}

/// In a block that the whole warp reaches: what each lane does for itself.
bool Rewriter::runsPerLane(const Instruction &instruction) const {
  if (instruction.isTerminator() || isa<PHINode, AllocaInst>(instruction))
    return false;
  return instruction.mayHaveSideEffects() || !divergence.isUniform(&instruction);
}

/// Regions of what lanes do between collectives.
void Rewriter::findConvergentRegions() {
  SmallVector<BasicBlock *> blocks(warpBlocks.begin(), warpBlocks.end());
  for (BasicBlock *block : blocks) {
    if (warpCollective(block->front()))
      continue;
    SmallVector<Instruction *> own;
    for (Instruction &instruction : *block)
      if (runsPerLane(instruction))
        own.push_back(&instruction);
    if (own.empty())
      continue;
    // What comes before the lanes' ways part joins them, but for what all must have done before one
    // of them waits.
    ParallelRegion *next = nullptr;
    for (auto &region : regions)
      if (region->preheader == block)
        next = region.get();
    bool waits =
        next && any_of(next->body, [](BasicBlock *part) { return any_of(*part, isOwnWait); });
    if (next && !waits && next->entry->front().isTerminator()) {
      for (Instruction *instruction : own)
        instruction->moveBefore(next->entry->getTerminator());
      continue;
    }
    auto region = std::make_unique<ParallelRegion>();
    BasicBlock *rest = block->splitBasicBlock(block->getTerminator());
    warpBlocks.insert(rest);
    for (auto &other : regions)
      if (other->preheader == block)
        other->preheader = rest;
    region->entry = block->splitBasicBlock(block->getTerminator(), block->getName() + ".lanes");
    for (Instruction *instruction : own)
      instruction->moveBefore(region->entry->getTerminator());
    region->preheader = block;
    region->exit = rest;
    region->body = {region->entry};
    unitOfBlock[region->entry] = region.get();
    regions.push_back(std::move(region));
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
  ParallelRegion *region = unitOfBlock.lookup(block);
  if (!region) {
    // The lane loop right before the end of the warp's block, or a new one.
    for (auto &other : regions)
      if (other->exit == block && other->body.size() == 1 &&
          block->getFirstNonPHI()->isTerminator())
        region = other.get();
  }
  if (!region) {
    auto made = std::make_unique<ParallelRegion>();
    region = made.get();
    region->exit = block->splitBasicBlock(block->getTerminator());
    warpBlocks.insert(region->exit);
    for (auto &other : regions)
      if (other->preheader == block)
        other->preheader = region->exit;
    region->entry = block->splitBasicBlock(block->getTerminator(), block->getName() + ".lanes");
    region->preheader = block;
    region->body = {region->entry};
    unitOfBlock[region->entry] = region;
    regions.push_back(std::move(made));
  }
  BasicBlock *end = unitOfBlock.lookup(block) ? block : region->entry;
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
      ParallelRegion *region = unitOfBlock.lookup(from);
      bool isCritical = from->getTerminator()->getNumSuccessors() > 1;
      if (isCritical &&
          (region || rowOf(value) || sumRows.contains(slots[phi]) || leavesLive(*phi, from, to))) {
        BasicBlock *edge = SplitEdge(from, to);
        if (region) {
          region->body.push_back(edge);
          unitOfBlock[edge] = region;
        } else {
          warpBlocks.insert(edge);
        }
        from = edge;
      }
      storeAtEnd(value, slots[phi], from);
    }
}

void Rewriter::makeLoop(ParallelRegion &region) {
  bool isShuffled = isOrderSeen(region);
  region.header = BasicBlock::Create(context, "lanes", &function, region.entry);
  BasicBlock *latch = BasicBlock::Create(context, "next.lane", &function, region.exit);
  region.latch = latch;
  SmallPtrSet<BasicBlock *, 16> body(region.body.begin(), region.body.end());
  region.preheader->getTerminator()->replaceSuccessorWith(region.entry, region.header);
  region.entry->replacePhiUsesWith(region.preheader, region.header);
  for (BasicBlock *block : region.body)
    block->getTerminator()->replaceSuccessorWith(region.exit, latch);

  IRBuilder<> builder(region.header);
  PHINode *turn = builder.CreatePHI(i32, 2);
  builder.CreateBr(region.entry);
  region.lane = isShuffled ? shuffledLane(region, turn) : turn;
  builder.SetInsertPoint(latch);
  Value *next = builder.CreateAdd(turn, builder.getInt32(1), "", true, true);
  auto *branch = builder.CreateCondBr(builder.CreateICmpEQ(next, builder.getInt32(kWarpLanes)),
                                      region.exit, region.header);
  turn->addIncoming(builder.getInt32(0), region.preheader);
  turn->addIncoming(next, latch);

  // Lanes do not depend on each other between two collectives.
  MDNode *group = MDNode::getDistinct(context, {});
  auto text = [&](const char *name) { return MDString::get(context, name); };
  SmallVector<Metadata *> properties{
      nullptr, MDNode::get(context, {text("llvm.loop.parallel_accesses"), group}),
      MDNode::get(context, {text("llvm.loop.unroll.disable")}),
      MDNode::get(context, {MDString::get(context, kLaneLoop)})};
  MDNode *loop = MDNode::getDistinct(context, properties);
  loop->replaceOperandWith(0, loop);
  branch->setMetadata(LLVMContext::MD_loop, loop);
  region.accesses = group;
}
