// Loops over lanes whose addresses the engine has checked get two versions. As a rule the engine
// has no objection, and the first version runs: it accesses the kernel's own addresses, like code
// without checks, and is vectorised. The second accesses the addresses that the engine returns.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpChecks.h"
#include "codegen/sim/WarpRewriter.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using namespace cameo;
using namespace cameo::warp;

/// Operands of what checkedAddress() finds.
enum Operand { kGiven, kIsFaulty, kAllowed };

void Rewriter::versionLoop(ParallelRegion &region) {
  SmallPtrSet<const BasicBlock *, 16> within(region.body.begin(), region.body.end());
  within.insert(region.header);
  within.insert(region.latch);
  SmallVector<BasicBlock *> blocks; // in the order of the code
  for (BasicBlock &block : function)
    if (within.contains(&block))
      blocks.push_back(&block);
  SmallVector<CallInst *> addresses;
  SetVector<Value *> flags;
  for (BasicBlock *block : blocks)
    for (Instruction &instruction : *block)
      if (checkedAddress(instruction)) {
        addresses.push_back(cast<CallInst>(&instruction));
        flags.insert(addresses.back()->getArgOperand(kIsFaulty));
      }
  if (addresses.empty())
    return;

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
}

/// What is left of checked addresses: in the second versions, and in the warp's own code, which has
/// the first lane's.
void Rewriter::resolveAddresses() {
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
}
