// Replaces operators whose operands are constants by their results.
//
//   %a = onnx.Constant() {value = dense<[1, 2]>}
//   %b = onnx.Add(%a, %a)
//     ==>
//   %b = onnx.Constant() {value = dense<[2, 4]>}
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/ConstantFolding.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/Passes.h.inc"

namespace {

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<Operation *> operators;
    // Before the operators of its regions, which may use what it folds to.
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { operators.push_back(op); });
    int64_t left = maxTotalBytes;
    rt::Ledger ledger(function);
    for (Operation *op : operators) {
      if (op == function || op->hasAttr(kKeptUnfoldedAttr) || op->getNumRegions())
        continue;
      int64_t growth;
      FailureOr<SmallVector<ElementsAttr>> values =
          foldToConstants(op, maxBytes, /*reclaim=*/true, growth);
      if (failed(values))
        continue;
      if (growth > left) {
        op->setAttr(kKeptUnfoldedAttr, UnitAttr::get(op->getContext()));
        ledger.missed("fold", op->getLoc(), "not folded",
                      "it would add " + Twine(growth) + " B; " + Twine(left) + " B are left");
        count(&getContext(), getArgument(), "kept");
        continue;
      }
      left -= growth;
      ledger.applied("fold", op->getLoc(), "folded to a constant");
      count(&getContext(), getArgument(), "folded");
      count(&getContext(), getArgument(), "bytes-added", std::max<int64_t>(growth, 0));
      replace(op, *values);
    }
    updateFunctionType(function);
  }

private:
  static void replace(Operation *op, ArrayRef<ElementsAttr> values) {
    OpBuilder b(op);
    for (auto [result, value] : llvm::zip(op->getResults(), values))
      if (!result.use_empty())
        result.replaceAllUsesWith(createConstant(b, op->getLoc(), value));
    eraseWithConstants(op);
  }
};

} // namespace

} // namespace cameo
