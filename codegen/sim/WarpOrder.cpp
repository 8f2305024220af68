// The order of lanes in a loop over them: drawn anew whenever the warp comes by, where the order
// can be seen. All other loops keep theirs, for SIMD.
//
//   for turn in 0..31 { code for lane `turn` }
//     ==>
//   order *= constant
//   for turn in 0..31 { code for lane `(turn * odd part of order) ^ other part of order` }
//
// CameoSimThread::lane_order is what `order` starts with. It stays 0 if it is 0, and then the lane
// is the turn.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpRewriter.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"

using namespace llvm;
using namespace cameo;
using namespace cameo::warp;

/// Of a multiplicative generator modulo 2^32 (Steele and Vigna, "Computationally easy, spectrally
/// good multipliers for congruential pseudorandom number generators").
static constexpr uint32_t kMultiplier = 0x93d765dd;

/// Whether what `instruction` does for one lane can be seen by another one, or by the engine.
static bool isSeen(const Instruction &instruction) {
  if (instruction.isAtomic() || instruction.isVolatile())
    return true;
  auto *call = dyn_cast<CallInst>(&instruction);
  return call && engineFunction(*call) && !call->doesNotAccessMemory();
}

static bool writesForOthers(const Instruction &instruction) {
  auto *store = dyn_cast<StoreInst>(&instruction);
  return store && !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()));
}

/// Whether lanes run a loop within the region, each for itself: SIMD is out of the question then.
static bool hasLoop(const ParallelRegion &region) {
  SmallDenseMap<const BasicBlock *, unsigned> comesFrom;
  for (const BasicBlock *block : region.body)
    comesFrom[block] = 0;
  auto isIn = [&](const BasicBlock *block) { return comesFrom.contains(block); };
  SmallVector<const BasicBlock *> work;
  for (const BasicBlock *block : region.body)
    if ((comesFrom[block] = count_if(predecessors(block), isIn)) == 0)
      work.push_back(block);
  size_t passed = 0;
  for (; !work.empty(); ++passed)
    for (const BasicBlock *after : successors(work.pop_back_val()))
      if (isIn(after) && --comesFrom[after] == 0)
        work.push_back(after);
  return passed != region.body.size();
}

/// Whether the order in which lanes run `region` can make a difference to more than SIMD would
/// show.
bool Rewriter::isOrderSeen(const ParallelRegion &region) {
  bool writes = false;
  for (const BasicBlock *block : region.body)
    for (const Instruction &instruction : *block) {
      if (isSeen(instruction))
        return true;
      if (!writesForOthers(instruction))
        continue;
      writes = true;
      auto &store = cast<StoreInst>(instruction);
      if (!divergence.isInDivergentRegion(block) &&
          divergence.isUniform(store.getPointerOperand()) &&
          !divergence.isUniform(store.getValueOperand()))
        return true; // all lanes come by, and one value stays
    }
  return writes && hasLoop(region);
}

/// The lane whose turn it is, in the header of the region's loop.
Value *Rewriter::shuffledLane(ParallelRegion &region, Value *turn) {
  if (!order) {
    IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
    order = entry.CreateAlloca(i32, nullptr, "order");
    LoadInst *start =
        entry.CreateLoad(i32, entry.CreateConstGEP1_64(entry.getInt8Ty(), function.getArg(0),
                                                       offsetof(CameoSimThread, lane_order)));
    start->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
    entry.CreateStore(start, order);
  }
  IRBuilder<> before(region.preheader->getTerminator());
  Value *drawn = before.CreateMul(before.CreateLoad(i32, order), before.getInt32(kMultiplier));
  before.CreateStore(drawn, order);
  // The high bits are the good ones.
  Value *factor = before.CreateOr(before.CreateLShr(drawn, 22), before.getInt32(1));
  Value *flips = before.CreateLShr(drawn, 27);
  IRBuilder<> builder(region.header->getTerminator());
  return builder.CreateAnd(builder.CreateXor(builder.CreateMul(turn, factor), flips),
                           builder.getInt32(kWarpLanes - 1));
}
