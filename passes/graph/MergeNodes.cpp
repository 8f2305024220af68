// Makes equal nodes one.
//
//   %0 = onnx.Relu(%x)
//   %1 = onnx.Relu(%x)   ==>   %0
//
// MLIR's elimination of common subexpressions does it; this says in the ledger what it did.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Graph.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_MERGENODES
#include "passes/Passes.h.inc"

namespace {

/// Records each node for which another one stands in from now on.
class MergeRecorder : public RewriterBase::Listener {
public:
  explicit MergeRecorder(func::FuncOp function) : ledger(function) {}

  void notifyOperationReplaced(Operation *op, ValueRange replacement) override {
    // Constants are not nodes, and there may be very many of them.
    if (isa<onnx::ConstantOp, onnx::NoneOp>(op) || replacement.empty())
      return;
    ledger.merged(replacement.front().getLoc(), op->getLoc(), "an equal node");
    ++merged;
  }

  int64_t merged = 0;

private:
  rt::Ledger ledger;
};

struct MergeNodes : impl::MergeNodesBase<MergeNodes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    MergeRecorder recorder(function);
    IRRewriter rewriter(function.getContext(), &recorder);
    eliminateCommonSubExpressions(rewriter, getAnalysis<DominanceInfo>(), function);
    if (recorder.merged)
      count(&getContext(), getArgument(), "merged", recorder.merged);
  }
};

} // namespace

} // namespace cameo
