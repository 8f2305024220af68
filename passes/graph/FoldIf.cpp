// Replaces an If whose condition is known by the branch that is taken.
//
//   %0 = onnx.If(%true) ({ onnx.Yield(%a) }, { %1 = onnx.Relu(%x); onnx.Yield(%1) })
//     ==>
//   %1 = onnx.Relu(%x)
//
// Sizes are inferred on the way, of what was a branch, too: the condition of one If may be known
// from the shape of another one's result.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Graph.h"
#include "passes/graph/ShapeWalk.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDIF
#include "passes/Passes.h.inc"

namespace {

struct FoldIf : impl::FoldIfBase<FoldIf> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // Arguments without a rank are refused later.
    bool isRanked = llvm::all_of(function.getArgumentTypes(),
                                 [](Type type) { return isa<RankedTensorType>(type); });
    if (function.getOps<onnx::IfOp>().empty() || !isRanked)
      return markAllAnalysesPreserved();
    rt::Ledger ledger(function);
    ShapeWalk walk(function);
    walk.run(
        [&](Operation *op) {
          for (OpResult result : op->getResults())
            if (std::optional<onnx::Sizes> sizes = walk.shapes.find(result);
                sizes && isa<UnrankedTensorType>(result.getType()))
              result.setType(inferredType(result, *sizes));
        },
        [&](Operation *op) {
          auto choice = dyn_cast<onnx::IfOp>(op);
          std::optional<bool> isTaken = choice ? condition(choice, walk.shapes) : std::nullopt;
          return isTaken ? inlineBranch(choice, *isTaken, ledger) : op;
        });
    updateFunctionType(function);
  }

private:
  static std::optional<bool> condition(onnx::IfOp op, onnx::Shapes &shapes) {
    FailureOr<onnx::Sizes> values = shapes.host.tryValues(op.getCond(), 1);
    if (failed(values) || values->size() != 1)
      return std::nullopt;
    std::optional<int64_t> known = getConstantIntValue(values->front());
    return known ? std::optional(*known != 0) : std::nullopt;
  }

  /// Gives the first operation of the branch or, where it has none, what follows the If.
  Operation *inlineBranch(onnx::IfOp op, bool isTaken, rt::Ledger &ledger) {
    Block &branch = (isTaken ? op.getThenBranch() : op.getElseBranch()).front();
    Operation *yield = branch.getTerminator(), *first = op->getNextNode();
    if (&branch.front() != yield)
      first = &branch.front();
    ledger.applied("fold", op.getLoc(),
                   isTaken ? "replaced by its then-branch" : "replaced by its else-branch",
                   "its condition is known");
    count(&getContext(), getArgument(), "folded");
    // What a branch declares of its values nobody has inferred yet.
    for (Operation &inner : branch.without_terminator())
      if (!isa<onnx::ConstantOp, onnx::NoneOp>(inner))
        inner.setAttr(kDeclaredShapeAttr, UnitAttr::get(&getContext()));
    // A branch rarely declares what it yields, since the If does.
    for (auto [given, result] : llvm::zip(yield->getOperands(), op.getResults()))
      if (auto type = dyn_cast<RankedTensorType>(result.getType());
          type && isa<UnrankedTensorType>(given.getType()))
        given.setType(type);
    op->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    op->getBlock()->getOperations().splice(Block::iterator(op), branch.getOperations());
    op->erase();
    return first;
  }
};

} // namespace

} // namespace cameo
