// Loops over lanes whose addresses the engine has checked get two versions. As a rule the engine
// has no objection, and the first version runs: it accesses the kernel's own addresses, like code
// without checks, and is vectorised. The second accesses the addresses that the engine returns.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/WarpChecks.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using namespace cameo;

/// Operands of what checkedAddress() finds.
enum Operand { kGiven, kIsFaulty, kAllowed };

namespace {
/// A loop over lanes as LoopOverLanesPass makes it.
struct LaneLoop {
  BasicBlock *preheader = nullptr, *header = nullptr, *latch = nullptr, *exit = nullptr;
  SmallVector<BasicBlock *> blocks; // in the function's order
};
} // namespace

static std::vector<LaneLoop> findLaneLoops(Function &function) {
  std::vector<LaneLoop> loops;
  for (BasicBlock &block : function) {
    auto *last = dyn_cast<BranchInst>(block.getTerminator());
    MDNode *properties = last ? last->getMetadata(LLVMContext::MD_loop) : nullptr;
    if (!properties || !findOptionMDForLoopID(properties, kLaneLoop))
      continue;
    LaneLoop loop;
    loop.latch = &block;
    loop.exit = last->getSuccessor(0);
    loop.header = last->getSuccessor(1);
    SmallPtrSet<BasicBlock *, 16> within{loop.header};
    SmallVector<BasicBlock *> work{loop.latch};
    while (!work.empty()) {
      BasicBlock *inner = work.pop_back_val();
      if (within.insert(inner).second)
        work.append(pred_begin(inner), pred_end(inner));
    }
    for (BasicBlock *before : predecessors(loop.header))
      if (before != loop.latch)
        loop.preheader = before;
    for (BasicBlock &other : function)
      if (within.contains(&other))
        loop.blocks.push_back(&other);
    loops.push_back(std::move(loop));
  }
  return loops;
}

static bool versionLoop(Function &function, const LaneLoop &region) {
  LLVMContext &context = function.getContext();
  ArrayRef<BasicBlock *> blocks = region.blocks;
  SmallVector<CallInst *> addresses;
  SetVector<Value *> flags;
  for (BasicBlock *block : blocks)
    for (Instruction &instruction : *block)
      if (checkedAddress(instruction)) {
        addresses.push_back(cast<CallInst>(&instruction));
        flags.insert(addresses.back()->getArgOperand(kIsFaulty));
      }
  if (addresses.empty())
    return false;

  ValueToValueMapTy copies;
  SmallVector<BasicBlock *> copied;
  for (BasicBlock *block : blocks) {
    BasicBlock *copy = CloneBasicBlock(block, copies, ".faulty", &function);
    copies[block] = copy;
    copied.push_back(copy);
  }
  remapInstructionsInBlocks(copied, copies);
  auto *copiedLatch = cast<BasicBlock>(copies[region.latch]);
  for (PHINode &phi : region.exit->phis()) {
    Value *value = phi.getIncomingValueForBlock(region.latch), *copy = copies.lookup(value);
    phi.addIncoming(copy ? copy : value, copiedLatch);
  }
  auto text = [&](const char *name) { return MDString::get(context, name); };
  MDNode *loop = MDNode::getDistinct(
      context, {nullptr, MDNode::get(context, {text("llvm.loop.unroll.disable")}),
                MDNode::get(context, {text("llvm.loop.vectorize.enable"),
                                      ConstantAsMetadata::get(ConstantInt::getFalse(context))})});
  loop->replaceOperandWith(0, loop);
  copiedLatch->getTerminator()->setMetadata(LLVMContext::MD_loop, loop);

  auto *copiedHeader = cast<BasicBlock>(copies[region.header]);
  BasicBlock *choice = BasicBlock::Create(context, "checked", &function, region.header);
  region.preheader->getTerminator()->replaceSuccessorWith(region.header, choice);
  region.header->replacePhiUsesWith(region.preheader, choice);
  copiedHeader->replacePhiUsesWith(region.preheader, choice);
  IRBuilder<> builder(choice);
  builder.CreateCondBr(builder.CreateOr(flags.getArrayRef()), copiedHeader, region.header);

  for (CallInst *address : addresses) {
    address->replaceAllUsesWith(address->getArgOperand(kGiven));
    address->eraseFromParent();
  }
  return true;
}

bool VersionLoopsPass::rewrite(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (const LaneLoop &loop : findLaneLoops(function))
    changed |= versionLoop(function, loop);
  return changed;
}

/// What is left of checked addresses: in the second versions, and in the warp's own code, which has
/// the first lane's.
bool ResolveAddressesPass::rewrite(Function &function, FunctionAnalysisManager &) {
  Function *placeholder = nullptr;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    if (!checkedAddress(instruction))
      continue;
    auto *address = cast<CallInst>(&instruction);
    placeholder = address->getCalledFunction();
    IRBuilder<> builder(address);
    Value *allowed = builder.CreateLoad(address->getType(), address->getArgOperand(kAllowed));
    address->replaceAllUsesWith(builder.CreateSelect(address->getArgOperand(kIsFaulty), allowed,
                                                     address->getArgOperand(kGiven)));
    address->eraseFromParent();
  }
  if (placeholder && placeholder->use_empty())
    placeholder->eraseFromParent();
  return placeholder != nullptr;
}
