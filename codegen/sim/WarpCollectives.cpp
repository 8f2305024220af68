// Collective operations of the vectorised form: what lanes tell each other goes through rows in
// memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpRewriter.h"

#include "runtime/sim/instructions.h"

using namespace llvm;
using namespace cameo;
using namespace cameo::warp;

/// Gives each collective a block of its own; and lets no load for the whole warp come after stores
/// of the lanes in its block.
void Rewriter::splitAtCollectives() {
  for (BasicBlock &block : function)
    if (!unitOfBlock.count(&block))
      warpBlocks.insert(&block);
  SmallVector<BasicBlock *> work(warpBlocks.begin(), warpBlocks.end());
  SmallPtrSet<BasicBlock *, 16> isAfter; // begin where another block was split
  while (!work.empty()) {
    BasicBlock *block = work.pop_back_val();
    bool written = false;
    for (Instruction &instruction : *block) {
      bool isCollective = warpCollective(instruction).has_value();
      // Before a lane waits for itself, all others have done what comes before.
      bool isWaitBehind = isOwnWait(instruction) && &instruction != &block->front();
      bool isLateLoad = written && instruction.mayReadFromMemory() &&
                        divergence.isUniform(&instruction) && !instruction.mayHaveSideEffects() &&
                        !instruction.hasMetadata(LLVMContext::MD_invariant_load);
      // What is done for a collective comes between it and the one before.
      const BasicBlock *before = block->getSinglePredecessor();
      bool isAlone = &instruction == &block->front() && before && !warpCollective(before->front());
      Instruction *at = nullptr;
      if ((isCollective && !isAlone) || isLateLoad || isWaitBehind)
        at = &instruction;
      else if (isCollective && !isAfter.count(block->getSingleSuccessor()))
        at = instruction.getNextNode();
      if (at) {
        BasicBlock *rest = block->splitBasicBlock(at);
        isAfter.insert(rest);
        warpBlocks.insert(rest);
        // The region that came after the block now comes after its rest.
        for (auto &region : regions)
          if (region->preheader == block)
            region->preheader = rest;
        work.push_back(rest);
        break;
      }
      written |= runsPerLane(instruction) && instruction.mayWriteToMemory();
    }
  }
}

/// What a collective reads of other lanes is put into a slot before it.
void Rewriter::lowerCollectives() {
  SmallVector<CallInst *> calls;
  for (BasicBlock *block : warpBlocks)
    for (Instruction &instruction : *block)
      if (warpCollective(instruction))
        calls.push_back(cast<CallInst>(&instruction));
  for (CallInst *call : calls) {
    size_t engine = *engineFunction(*call);
    if (engine == offsetof(CameoSimApi, shuffle))
      lowerShuffle(*call);
    else if (engine == offsetof(CameoSimApi, vote))
      lowerVote(*call);
    else if (engine == offsetof(CameoSimApi, blocking_instruction) && !isWait(*call) &&
             !lowerMatrix(*call))
      lowerInstruction(*call);
  }
}

/// Stores `value` for each lane before `call`, in a block of its own after it.
AllocaInst *Rewriter::publish(CallInst &call, Value *value) {
  AllocaInst *slot = makeSlot(value->getType(), "shared");
  LanesBuilder builder(divergence, call.getParent()->getSinglePredecessor()->getTerminator());
  storeRow(builder, value, slot, &lane);
  return slot;
}

/// PTX ISA, shfl.sync: reads of rows, with all lanes there.
void Rewriter::lowerShuffle(CallInst &call) {
  AllocaInst *slot = publish(call, call.getArgOperand(3));
  Value *b = call.getArgOperand(4), *c = call.getArgOperand(5);
  if (divergence.isUniform(&call)) { // all read the same lane's
    IRBuilder<> builder(&call);
    Value *source = builder.CreateZExt(builder.CreateAnd(b, 31), builder.getInt64Ty());
    Value *value = builder.CreateLoad(i32, builder.CreateInBoundsGEP(i32, slot, source));
    value = builder.CreateOr(builder.CreateZExt(value, builder.getInt64Ty()), 1ull << 32);
    call.replaceAllUsesWith(value);
    call.eraseFromParent();
    return;
  }
  // After the call's block, so that all lanes have stored.
  BasicBlock *after = call.getParent()->getSingleSuccessor();
  LanesBuilder builder(divergence, &*after->getFirstInsertionPt());
  Value *low = builder.getInt32(31);
  Value *offset = builder.CreateAnd(b, low), *clamp = builder.CreateAnd(c, low);
  Value *segment = builder.CreateAnd(builder.CreateLShr(c, 8), low);
  Value *base = builder.CreateAnd(&lane, segment);
  Value *bound = builder.CreateOr(base, builder.CreateAnd(clamp, builder.CreateNot(segment)));
  Value *source = nullptr;
  auto kind = CameoSimShuffle(cast<ConstantInt>(call.getArgOperand(1))->getZExtValue());
  switch (kind) {
  case CAMEO_SIM_SHFL_UP:
    source = builder.CreateSub(&lane, offset);
    break;
  case CAMEO_SIM_SHFL_DOWN:
    source = builder.CreateAdd(&lane, offset);
    break;
  case CAMEO_SIM_SHFL_BFLY:
    source = builder.CreateXor(&lane, offset);
    break;
  case CAMEO_SIM_SHFL_IDX:
    source = builder.CreateOr(base, builder.CreateAnd(offset, builder.CreateNot(segment)));
    break;
  }
  Value *inRange = kind == CAMEO_SIM_SHFL_UP ? builder.CreateICmpSGE(source, bound)
                                             : builder.CreateICmpSLE(source, bound);
  source = builder.CreateSelect(inRange, source, &lane);
  Value *place = builder.CreateInBoundsGEP(
      i32, slot, builder.CreateZExt(source, builder.getInt64Ty(), "", /*IsNonNeg=*/true));
  Value *value = builder.CreateZExt(builder.CreateLoad(i32, place), builder.getInt64Ty());
  Value *predicate = builder.CreateShl(builder.CreateZExt(inRange, builder.getInt64Ty()), 32);
  value = builder.CreateOr(value, predicate);
  call.replaceAllUsesWith(value);
  call.eraseFromParent();
}

/// PTX ISA, vote.sync, with all lanes there.
void Rewriter::lowerVote(CallInst &call) {
  LanesBuilder before(divergence, call.getParent()->getSinglePredecessor()->getTerminator());
  Value *predicate = before.CreateICmpNE(call.getArgOperand(3), before.getInt32(0));
  AllocaInst *slot = publish(call, predicate);
  IRBuilder<> builder(&call);
  auto *bytes = FixedVectorType::get(builder.getInt8Ty(), kWarpLanes);
  Value *set = builder.CreateICmpNE(builder.CreateAlignedLoad(bytes, slot, slot->getAlign()),
                                    Constant::getNullValue(bytes));
  Value *ballot = builder.CreateBitCast(set, i32);
  Value *all = builder.CreateICmpEQ(ballot, builder.getInt32(~0u));
  Value *none = builder.CreateICmpEQ(ballot, builder.getInt32(0));
  Value *result = ballot;
  switch (CameoSimVote(cast<ConstantInt>(call.getArgOperand(1))->getZExtValue())) {
  case CAMEO_SIM_VOTE_ANY:
    result = builder.CreateZExt(builder.CreateNot(none), i32);
    break;
  case CAMEO_SIM_VOTE_ALL:
    result = builder.CreateZExt(all, i32);
    break;
  case CAMEO_SIM_VOTE_UNI:
    result = builder.CreateZExt(builder.CreateOr(all, none), i32);
    break;
  case CAMEO_SIM_VOTE_BALLOT:
    break;
  }
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

void Rewriter::lowerInstruction(CallInst &call) {
  IRBuilder<> builder(&call);
  Value *words = call.getArgOperand(3);
  auto *rows = cast<AllocaInst>(words->stripPointerCasts());
  uint64_t count = cast<ArrayType>(rows->getAllocatedType())->getNumElements() / kWarpLanes;
  IRBuilder<> entry(&lane);
  EngineFunction engine = CAMEO_SIM_ENGINE(warp_instruction);
  callEngine(builder, engineEntry(entry, engine), engine,
             {function.getArg(0), call.getArgOperand(1), words, builder.getInt32(count),
              call.getArgOperand(4)});
  call.eraseFromParent();
}
