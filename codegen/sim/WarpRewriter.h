// LoopOverLanesPass: the parts of one rewriting, in the order of run().
//
//   between two points where lanes wait    ==>  for lane in 0..31 { that code for the lane }
//   what all lanes have in common          ==>  once for the warp, outside of these loops
//   a value that lives longer than a loop  ==>  an array of 32, one row for each lane
//   shuffles and votes                     ==>  reads of other lanes' rows
//
// LLVM's loop vectoriser then turns the lanes of straight-line loops into SIMD lanes, with masks
// where they branch; others run lane by lane, without a switch between stacks, and in an order that
// a run can choose (WarpOrder.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/sim/Divergence.h"
#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/WarpPrepare.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"

#include <memory>

namespace cameo::warp {

using namespace llvm;

/// Code that runs lane by lane in one loop.
struct ParallelRegion {
  SmallVector<BasicBlock *> body;
  BasicBlock *entry = nullptr;     // of the body
  BasicBlock *preheader = nullptr; // the loop comes after it
  BasicBlock *exit = nullptr;      // and before this
  BasicBlock *header = nullptr;
  BasicBlock *latch = nullptr;
  Value *lane = nullptr;           // whose turn it is
  MDNode *accesses = nullptr;      // the group of all its accesses of memory
  DenseMap<Value *, Value *> here; // values of other regions, as seen in this one
};

/// For code that lanes run, in blocks that the warp reaches.
class LanesBuilder : public IRBuilder<ConstantFolder, IRBuilderCallbackInserter> {
public:
  LanesBuilder(Divergence &divergence, Instruction *before)
      : IRBuilder(before->getContext(), ConstantFolder(),
                  IRBuilderCallbackInserter(
                      [&divergence](Instruction *made) { divergence.addDivergent(*made); })) {
    SetInsertPoint(before);
  }
};

/// A matrix instruction that works on rows wherever they are.
struct MatrixCall {
  CallInst *call;
  SmallVector<AllocaInst *> places; // by word; null: of no interest
  unsigned firstSum = 0, sums = 0;  // words of the accumulator, which results of as many follow
};

class Rewriter {
public:
  /// `divergence` is kept up to date with what is made between lane loops.
  Rewriter(Function &function, Instruction &lane, Divergence &divergence)
      : function(function), lane(lane), context(function.getContext()),
        i32(Type::getInt32Ty(context)), divergence(divergence) {}

  /// Returns why it cannot be done, or nothing.
  std::string run();

private:
  std::string findDivergentRegions();
  void splitAtCollectives();
  void findConvergentRegions();
  void placePhiStores();
  void storeAtEnd(Value *value, AllocaInst *slot, BasicBlock *block);
  bool leavesLive(PHINode &phi, BasicBlock *from, BasicBlock *to);
  void lowerCollectives();
  void lowerShuffle(CallInst &call);
  void lowerVote(CallInst &call);
  void lowerInstruction(CallInst &call);
  bool lowerMatrix(CallInst &call);
  AllocaInst *rowOf(Value *value);
  bool diesAt(Value *value, const CallInst &call);
  void nameRows();
  AllocaInst *publish(CallInst &call, Value *value);
  void makeLoop(ParallelRegion &region);
  bool isOrderSeen(const ParallelRegion &region);
  Value *shuffledLane(ParallelRegion &region, Value *turn);
  void connect(ParallelRegion &region);
  void connectWarpCode();
  void finish();

  Value *inUnit(Value *value, ParallelRegion &region);
  Value *forFirstLane(Value *value, Instruction *before);
  bool isRecomputed(Value *value, unsigned &budget);
  AllocaInst *slotOf(Value *value);
  AllocaInst *makeSlot(Type *type, const Twine &name);
  Value *row(IRBuilderBase &builder, AllocaInst *slot, Value *index);
  Value *loadRow(IRBuilderBase &builder, AllocaInst *slot, Value *index, Type *type);
  void storeRow(IRBuilderBase &builder, Value *value, AllocaInst *slot, Value *index);

  /// The region whose lane loop executes `instruction`; null for the warp's own code.
  ParallelRegion *unitOf(const Instruction *instruction) const {
    return unitOfBlock.lookup(instruction->getParent());
  }
  /// Whether `value` has a copy for each lane.
  bool isPerLane(Value *value) const {
    auto *instruction = dyn_cast<Instruction>(value);
    return instruction &&
           (instruction == &lane || slots.count(instruction) || unitOf(instruction) != nullptr);
  }
  bool runsPerLane(const Instruction &instruction) const;

  Function &function;
  Instruction &lane;
  LLVMContext &context;
  Type *i32;
  Divergence &divergence;
  std::vector<std::unique_ptr<ParallelRegion>> regions;
  DenseMap<const BasicBlock *, ParallelRegion *> unitOfBlock;
  SetVector<BasicBlock *> warpBlocks; // of the warp's own code, in order
  MapVector<Value *, AllocaInst *> slots;
  SmallVector<PHINode *> storedPhis;
  SetVector<Instruction *> storedResults; // of matrix instructions: stand for their rows
  SmallPtrSet<AllocaInst *, 16> sumRows;  // where accumulators become results
  SmallVector<AllocaInst *> operandRows;  // by word, for one instruction at a time
  std::vector<MatrixCall> matrixCalls;
  AllocaInst *order = nullptr; // what orders of lanes are drawn from, where there are any
  /// Made when all is known: what is computed again is copied from the code as it was.
  SmallVector<std::pair<Use *, Value *>> replacements;
};

} // namespace cameo::warp
