// rt.check behind launches and fetches ==> rt.check as soon as its operands are known
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace cameo {
#define GEN_PASS_DEF_HOISTCHECKS
#include "passes/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

/// The checks of one block, and what computes their operands.
class Hoister {
public:
  explicit Hoister(Block &block) : block(block) {}

  /// How many checks it has moved.
  int64_t run() {
    for (Operation &op : block)
      if (isa<rt::CheckOp>(op))
        need(&op);
    // In their order, so that each comes behind what it reads.
    SmallVector<Operation *> ops;
    DenseMap<Operation *, int64_t>
        behind; // how many operations that wait for the device, or give it work
    int64_t others = 0;
    for (Operation &op : block) {
      others += !isPure(&op) && !isa<rt::CheckOp>(op);
      behind[&op] = others;
      if (needed.contains(&op))
        ops.push_back(&op);
    }
    DenseMap<Operation *, Operation *> anchors; // null: the beginning of the block
    for (Operation *op : ops)
      anchors[op] = anchorOf(op, anchors);
    int64_t moved = 0;
    DenseMap<Operation *, Operation *> ends; // what was put behind an anchor last
    for (Operation *op : ops) {
      Operation *anchor = anchors.lookup(op);
      Operation *end = ends.try_emplace(anchor, anchor).first->second;
      moved += isa<rt::CheckOp>(op) && behind.lookup(op) != behind.lookup(anchor);
      if (end)
        op->moveAfter(end);
      else
        op->moveBefore(&block, block.begin());
      ends[anchor] = op;
    }
    return moved;
  }

private:
  /// Computed on the host, of nothing that changes.
  static bool isArithmetic(Operation *op) {
    return isa<tensor::DimOp, rt::ReadOp>(op) ||
           (isPure(op) && llvm::all_of(op->getResultTypes(),
                                       [](Type type) { return type.isIntOrIndexOrFloat(); }));
  }

  /// What is defined in the block, by arithmetic or not; null for what was there before.
  Operation *definition(Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == &block ? op : nullptr;
  }

  void need(Operation *check) {
    SmallVector<Operation *> open{check};
    while (!open.empty()) {
      Operation *op = open.pop_back_val();
      if (!needed.insert(op).second)
        continue;
      for (Value operand : op->getOperands())
        if (Operation *of = definition(operand); of && isArithmetic(of))
          open.push_back(of);
    }
  }

  /// The last operation that it has to stay behind.
  Operation *anchorOf(Operation *op, const DenseMap<Operation *, Operation *> &anchors) {
    Operation *last = nullptr;
    for (Value operand : op->getOperands()) {
      Operation *of = definition(operand);
      if (of && needed.contains(of))
        of = anchors.lookup(of);
      if (of && (!last || last->isBeforeInBlock(of)))
        last = of;
    }
    return last;
  }

  Block &block;
  DenseSet<Operation *> needed;
};

struct HoistChecks : cameo::impl::HoistChecksBase<HoistChecks> {
  void runOnOperation() override {
    int64_t moved = 0;
    getOperation().walk([&](Block *block) { moved += Hoister(*block).run(); });
    count(&getContext(), getArgument(), "hoisted", moved);
  }
};

} // namespace
