// Collective operations of the vectorised form: what lanes tell each other goes through rows in
// memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpRewriter.h"

#include "codegen/sim/WarpPrepare.h"
#include "runtime/sim/instructions.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;
using namespace cameo;
using namespace cameo::warp;

/// Whether all lanes store the same into the variable `pointer`.
bool Rewriter::isSharedBuffer(Value *pointer) {
  SmallVector<Value *> work{pointer->stripPointerCasts()};
  while (!work.empty())
    for (User *user : work.pop_back_val()->users()) {
      if (isa<GetElementPtrInst>(user))
        work.push_back(user);
      else if (auto *store = dyn_cast<StoreInst>(user);
               store && (divergence.isInDivergentRegion(store->getParent()) ||
                         !divergence.isUniform(store->getValueOperand())))
        return false;
    }
  return true;
}

/// Whether a lane waits for an mbarrier with its own context: prepareForWarp().
bool Rewriter::isOwnWait(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  return call && isMbarrierWait(*call) && call->getArgOperand(0) != call->getFunction()->getArg(0);
}

/// Whether an instruction of a thread's own may be what another thread waits for.
static bool arrives(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call || engineFunction(*call) != offsetof(CameoSimApi, instruction))
    return false;
  auto *code = dyn_cast<ConstantInt>(call->getArgOperand(1));
  return code && cameoSimFacts(code->getZExtValue()) & CAMEO_SIM_ARRIVES;
}

/// The collective instruction that a value was read from, right after it.
static const CallInst *resultOf(const Value *value) {
  auto *load = dyn_cast<LoadInst>(value);
  if (!load)
    return nullptr;
  const Value *rows = getUnderlyingObject(load->getPointerOperand());
  for (const Instruction *at = load->getPrevNode(); at; at = at->getPrevNode())
    if (auto *call = dyn_cast<CallInst>(at); call && engineFunction(*call))
      return engineFunction(*call) == offsetof(CameoSimApi, blocking_instruction) &&
                     getUnderlyingObject(call->getArgOperand(3)) == rows
                 ? call
                 : nullptr;
  return nullptr;
}

/// Whether at most one lane of a warp has a condition of `value`.
bool Rewriter::isForOneLane(const Value *condition, bool value) const {
  auto *instruction = dyn_cast<Instruction>(condition);
  if (!instruction)
    return false;
  if (auto *compare = dyn_cast<ICmpInst>(instruction)) {
    bool equal = compare->getPredicate() == ICmpInst::ICMP_EQ;
    if (!equal && compare->getPredicate() != ICmpInst::ICMP_NE)
      return false;
    if (equal == value)
      return divergence.differsBetweenLanes(compare->getOperand(0)) &&
             divergence.isUniform(compare->getOperand(1));
    auto *zero = dyn_cast<ConstantInt>(compare->getOperand(1));
    return value && zero && zero->isZero() && isForOneLane(compare->getOperand(0), true);
  }
  if (!value)
    return false;
  if (isa<TruncInst, FreezeInst>(instruction) || instruction->getOpcode() == Instruction::And)
    return any_of(instruction->operands(),
                  [&](const Value *operand) { return isForOneLane(operand, true); });
  const CallInst *call = resultOf(instruction);
  auto *code = call ? dyn_cast<ConstantInt>(call->getArgOperand(1)) : nullptr;
  return code && (code->getZExtValue() & 0xff) == CAMEO_SIM_OP_ELECT;
}

/// Whether an arrival may come before `goal`, or anything that `stops` knows, on a way from `work`.
static bool findsArrival(SmallVector<const Instruction *> work,
                         function_ref<bool(const Instruction &)> stops,
                         function_ref<bool(const BasicBlock *)> isWithin) {
  SmallPtrSet<const Instruction *, 16> seen;
  while (!work.empty()) {
    const Instruction *at = work.pop_back_val();
    if (!seen.insert(at).second)
      continue;
    for (; at && !stops(*at); at = at->getNextNode()) {
      if (arrives(*at))
        return true;
      if (at->isTerminator())
        for (const BasicBlock *after : successors(at->getParent()))
          if (isWithin(after))
            work.push_back(&after->front());
    }
  }
  return false;
}

/// While a lane waits for itself, the others of its warp stand still: those that come later in the
/// lane loop have not begun its region, all have done what comes before. Whether that is no matter.
bool Rewriter::waitsForItself(const CallInst &wait) {
  // To the next collective, where others would have to wait for the lane anyhow, or to such a wait,
  // they do nothing that it may be waiting for.
  auto stops = [&](const Instruction &at) { return collective(at) || isOwnWait(at); };
  auto anywhere = [](const BasicBlock *) { return true; };
  const BasicBlock *home = wait.getParent();
  if (!divergence.isInDivergentRegion(home))
    return !findsArrival({wait.getNextNode()}, stops, anywhere);
  auto isWithin = [&](const BasicBlock *block) {
    return divergence.isInDivergentRegion(block) && divergence.isSameRegion(block, home);
  };
  SmallVector<const Instruction *> others, outside, entries;
  bool isLeader = false;
  for (const BasicBlock &block : function) {
    auto *branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || none_of(successors(&block), isWithin))
      continue;
    bool parts = branch->isConditional() && !divergence.isUniform(branch->getCondition());
    for (const BasicBlock *after : successors(&block)) {
      if (parts)
        (isWithin(&block) ? others : outside).push_back(&after->front());
      if (!isWithin(&block) && isWithin(after))
        entries.push_back(&after->front());
    }
    if (!isWithin(&block) && parts)
      for (bool way : {false, true})
        isLeader |= isForOneLane(branch->getCondition(), way) &&
                    isWithin(branch->getSuccessor(!way)) && !isWithin(branch->getSuccessor(way));
  }
  if (findsArrival(outside, stops, anywhere))
    return false;
  // Within the region of a lane that comes by alone there are no others.
  auto never = [](const Instruction &) { return false; };
  return isLeader ||
         (!findsArrival(others, stops, anywhere) && !findsArrival(entries, never, isWithin));
}

/// Collectives must be reached by the whole warp, and be for all of it.
std::string Rewriter::checkCollectives() {
  for (BasicBlock &block : function)
    for (Instruction &instruction : block) {
      if (isOwnWait(instruction) && !waitsForItself(cast<CallInst>(instruction)))
        return "a lane waits for an mbarrier while others of its warp may arrive at one";
      auto engine = collective(instruction);
      if (!engine)
        continue;
      if (*engine == offsetof(CameoSimApi, warp_access) ||
          *engine == offsetof(CameoSimApi, warp_copies))
        continue; // made for the warp
      auto &call = cast<CallInst>(instruction);
      if (isMbarrierWait(call) &&
          (divergence.isInDivergentRegion(&block) || !isSharedBuffer(call.getArgOperand(3)))) {
        partedWait_ = call.getArgOperand(3)->stripPointerCasts();
        return "lanes may wait for different mbarriers or phases";
      }
      if (divergence.isInDivergentRegion(&block))
        return "lanes may reach a barrier or collective operation at different times";
      auto isAll = [&](unsigned operand) {
        auto *mask = dyn_cast<ConstantInt>(call.getArgOperand(operand));
        return mask && mask->isMinusOne();
      };
      bool whole = true;
      SmallVector<unsigned> shared; // operands that must be the same for all lanes
      if (*engine == offsetof(CameoSimApi, barrier))
        shared = {1, 2};
      else if (*engine == offsetof(CameoSimApi, warp_sync))
        whole = isAll(1);
      else if (!isWait(call))
        whole = isAll(2) && isa<ConstantInt>(call.getArgOperand(1));
      if (!whole)
        return "a collective operation is for a part of the warp";
      for (unsigned operand : shared)
        if (!divergence.isUniform(call.getArgOperand(operand)))
          return "lanes may name different barriers";
    }
  return {};
}

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
      bool isCollective = collective(instruction).has_value();
      // Before a lane waits for itself, all others have done what comes before.
      bool isWaitBehind = isOwnWait(instruction) && &instruction != &block->front();
      bool isLateLoad = written && instruction.mayReadFromMemory() &&
                        divergence.isUniform(&instruction) && !instruction.mayHaveSideEffects() &&
                        !instruction.hasMetadata(LLVMContext::MD_invariant_load);
      // What is done for a collective comes between it and the one before.
      const BasicBlock *before = block->getSinglePredecessor();
      bool isAlone = &instruction == &block->front() && before && !collective(before->front());
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
      if (collective(instruction))
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
