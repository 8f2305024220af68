// Depths and orders of plans.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/PlanOrder.h"

#include <queue>

using namespace mlir;

namespace cameo {

/// Visits the operations of the block that define what `op`, or something in it, uses.
static void forEachDefinition(Operation *op, llvm::function_ref<void(Operation *)> visit) {
  Block *block = op->getBlock();
  auto visitOperands = [&](Operation *user) {
    for (Value operand : user->getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && definition->getBlock() == block)
        visit(definition);
  };
  // A dispatch's body uses nothing from outside.
  if (isa<kernel::DispatchOp>(op))
    visitOperands(op);
  else
    op->walk(visitOperands);
}

llvm::DenseMap<Operation *, int64_t> depthsOf(Block &block) {
  llvm::DenseMap<Operation *, int64_t> depths;
  for (Operation &op : block) {
    int64_t depth = 0;
    forEachDefinition(&op, [&](Operation *other) { depth = std::max(depth, depths[other]); });
    depths[&op] = depth + isa<kernel::DispatchOp>(op);
  }
  return depths;
}

void restoreOrder(Block &block) {
  SmallVector<Operation *> operations;
  llvm::DenseMap<Operation *, unsigned> places;
  for (Operation &op : block.without_terminator()) {
    places[&op] = operations.size();
    operations.push_back(&op);
  }
  std::vector<unsigned> waits(operations.size());
  std::vector<SmallVector<unsigned, 2>> users(operations.size());
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (auto [place, op] : llvm::enumerate(operations)) {
    forEachDefinition(op, [&, place = place](Operation *definition) {
      users[places.lookup(definition)].push_back(place);
      ++waits[place];
    });
    if (waits[place] == 0)
      ready.push(place);
  }
  Operation *end = block.getTerminator();
  while (!ready.empty()) {
    unsigned place = ready.top();
    ready.pop();
    operations[place]->moveBefore(end);
    for (unsigned user : users[place])
      if (--waits[user] == 0)
        ready.push(user);
  }
}

} // namespace cameo
