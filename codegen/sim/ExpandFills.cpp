// Loops in place of calls of memset.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimPasses.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"

using namespace llvm;
using namespace cameo;

bool ExpandFillsPass::rewrite(Function &function, FunctionAnalysisManager &) {
  SmallVector<MemSetInst *> fills;
  for (Instruction &instruction : instructions(function))
    if (auto *fill = dyn_cast<MemSetInst>(&instruction))
      fills.push_back(fill);
  if (fills.empty())
    return false;
  // Loops split the entry block, in which the vectorised form looks for private variables.
  BasicBlock &entry = function.getEntryBlock();
  for (Instruction &instruction : make_early_inc_range(entry))
    if (auto *variable = dyn_cast<AllocaInst>(&instruction); variable && variable->isStaticAlloca())
      variable->moveBefore(&entry.front());
  for (MemSetInst *fill : fills) {
    expandMemSetAsLoop(fill);
    fill->eraseFromParent();
  }
  return true;
}
