// Writes operators as others that mean the same, where no kernel of their own would be faster.
//
//   %0 = onnx.SoftmaxCrossEntropyLoss(%scores, %labels) {reduction = "mean"}
//     ==>
//   %1 = onnx.LogSoftmax(%scores) {axis = 1}
//   %2 = onnx.GatherElements(%1, Unsqueeze(%labels)) {axis = 1}
//   %0 = onnx.ReduceMean(Neg(Squeeze(%2)))
//
// An operator that cannot be written so keeps the reason, which the report of all refusals tells, or stays for a kernel of
// its own. Sizes are inferred
// on the way, of what was emitted, too: one expansion may need what another one yields.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/expand/Expander.h"
#include "passes/graph/ShapeWalk.h"

#include "passes/expand/Interfaces.cpp.inc"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_EXPANDOPERATORS
#include "passes/Passes.h.inc"

void attachExpansions(MLIRContext &context) {
  ExpansionRows rows(context);
  registerFourierExpansions(rows);
  registerLossExpansions(rows);
  registerPositionExpansions(rows);
  registerRandomExpansions(rows);
  registerScatterExpansions(rows);
  registerWordExpansions(rows);
}

namespace {

struct ExpandOperators : impl::ExpandOperatorsBase<ExpandOperators> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // Arguments without a rank are refused later.
    bool isRanked = llvm::all_of(function.getArgumentTypes(),
                                 [](Type type) { return isa<RankedTensorType>(type); });
    if (!isRanked ||
        llvm::none_of(function.getOps(), [](Operation &op) { return isa<ExpansionInterface>(op); }))
      return markAllAnalysesPreserved();
    rt::Ledger ledger(function);
    ShapeWalk walk(function);
    OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
    auto none = b.create<onnx::NoneOp>(function.getLoc(), b.getNoneType(), ValueRange());
    walk.run([](Operation *) {},
             [&](Operation *op) { return expand(op, walk.shapes, none->getResult(0), ledger); });
    if (none->use_empty())
      none->erase();
    updateFunctionType(function);
  }

private:
  /// Gives the first operation of what is in its place, or the operator itself.
  Operation *expand(Operation *op, onnx::Shapes &shapes, Value none, rt::Ledger &ledger) {
    auto expansion = dyn_cast<ExpansionInterface>(op);
    if (!expansion || onnx::rowOf<ExpansionModel>(op->getName())->draws || !shapes.hasOperands(op))
      return op;
    Expander expander(op, shapes, none);
    op->removeAttr(kUnexpandedAttr);
    if (failed(expansion.expand(expander))) {
      expander.undo();
      if (expander.isLeft())
        return op;
      op->setAttr(kUnexpandedAttr, StringAttr::get(&getContext(), expander.problem()));
      return op;
    }
    ledger.applied("expand", op->getLoc(), "written as other operators");
    count(&getContext(), getArgument(), "expanded");
    return expander.finish();
  }
};

} // namespace

} // namespace cameo
