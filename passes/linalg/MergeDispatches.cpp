// Equal operations of a launch plan ==> one.
//
//   %0 = kernel.dispatch ins(%x) {A}, %1 = kernel.dispatch ins(%x) {A}  ==>  %0
//
// MLIR's CSE does the same, but does not look into regions when it hashes: dispatches with the same
// operands, however different, are compared each with each, which takes minutes for thousands of
// branches from one tensor.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"

#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"

#include <unordered_map>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_MERGEDISPATCHES
#include "passes/Passes.h.inc"

namespace {

/// Of name, attributes, operands, types and, in order, everything inside.
llvm::hash_code hashOf(Operation *root) {
  llvm::DenseMap<Value, unsigned> inside; // numbers of values defined in the operation
  llvm::hash_code hash = 0;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(
                  op,
                  [&](Value operand) {
                    auto number = inside.find(operand);
                    return number == inside.end() ? llvm::hash_code(hash_value(operand))
                                                  : llvm::hash_value(number->second);
                  },
                  OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          inside.try_emplace(argument, inside.size());
    if (op != root)
      for (Value result : op->getResults())
        inside.try_emplace(result, inside.size());
  });
  return hash;
}

struct MergeDispatches : impl::MergeDispatchesBase<MergeDispatches> {
  void runOnOperation() override {
    rt::Ledger ledger(getOperation());
    for (Block &block : getOperation().getBody()) {
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isOpTriviallyDead(&op)) {
          op.erase();
          count(&getContext(), getArgument(), "removed");
        }
      merge(block, ledger);
    }
  }

private:
  void merge(Block &block, rt::Ledger &ledger) {
    std::unordered_map<size_t, SmallVector<Operation *, 1>> known;
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (!isMemoryEffectFree(&op) || op.getNumResults() == 0)
        continue;
      SmallVector<Operation *, 1> &like = known[hashOf(&op)];
      auto equal = llvm::find_if(like, [&](Operation *other) {
        return OperationEquivalence::isEquivalentTo(other, &op,
                                                    OperationEquivalence::IgnoreLocations);
      });
      if (equal == like.end()) {
        like.push_back(&op);
        continue;
      }
      if (isa<kernel::DispatchOp>(op))
        ledger.merged((*equal)->getLoc(), op.getLoc(), "an equal dispatch");
      op.replaceAllUsesWith(*equal);
      op.erase();
      count(&getContext(), getArgument(), "merged");
    }
  }
};

} // namespace

} // namespace cameo
