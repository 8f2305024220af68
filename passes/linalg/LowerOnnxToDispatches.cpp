// Lowers the entry function from ONNX operators to dispatches and plan arithmetic.
//
//   %0 = "onnx.Relu"(%x)   ==>   %0 = kernel.dispatch ins(%x) outs(%e) { linalg.generic ... }
//
// Nodes are visited in order; one that cannot be lowered, or that uses the result of such a node,
// is recorded or passed over, and all records come in one error.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/linalg/Lowering.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_LOWERONNXTODISPATCHES
#include "passes/Passes.h.inc"

namespace {
struct LowerOnnxToDispatches : impl::LowerOnnxToDispatchesBase<LowerOnnxToDispatches> {
  void runOnOperation() override {
    if (failed(verifyNoOperatorsInVariants()))
      return signalPassFailure();
    eraseUncalled();
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    Lowering lowering(getOperation());
    for (func::FuncOp function : functions) {
      rt::moveLedger(function, getOperation()); // the function is made anew
      if (failed(lowering.lowerFunction(function)))
        return signalPassFailure();
    }
    // Several operators, or the steps of one, may each give elements another shape.
    getOperation().walk([](rt::ReshapeOp view) {
      if (auto before = view.getSource().getDefiningOp<rt::ReshapeOp>())
        view.getSourceMutable().assign(before.getSource());
    });
    // What only shapes needed has no use any more, nor has what those views were between.
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
        if (isOpTriviallyDead(&op))
          op.erase();
    if (functions.empty())
      return;
    noteFetches();
    getOperation().walk(
        [&](kernel::DispatchOp) { count(&getContext(), getArgument(), "dispatches"); });
    count(&getContext(), getArgument(), "weights",
          llvm::range_size(getOperation().getOps<rt::ConstantOp>()));
  }

  /// Takes away functions that nobody calls: what they gave has no use any more.
  void eraseUncalled() {
    for (bool isAny = true; isAny;) {
      isAny = false;
      Lowering lowering(getOperation());
      for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
        if (!lowering.isNeeded(function)) {
          function.erase();
          isAny = true;
        }
    }
  }

  /// Says where a run waits for the device.
  void noteFetches() {
    rt::Ledger ledger(getOperation());
    getOperation().walk([&](rt::FetchOp fetch) {
      size_t numbers = fetch.getValues().size();
      ledger.chosen("fetch", fetch.getLoc(),
                    std::to_string(numbers) + (numbers == 1 ? " number is" : " numbers are") +
                        " read back from the device, which sizes depend on: each run waits for "
                        "that");
      count(&getContext(), getArgument(), "fetches");
    });
  }

  /// Variants are copies of what has been lowered; there would be as many weights as variants.
  LogicalResult verifyNoOperatorsInVariants() {
    for (auto variant : getOperation().getOps<rt::VariantOp>()) {
      WalkResult found = variant.walk([](Operation *op) {
        if (!isa<onnx::OnnxDialect>(op->getDialect()))
          return WalkResult::advance();
        emitError(op->getLoc()) << "'" << op->getName()
                                << "' is in a variant; operators are lowered before variants are "
                                   "created";
        return WalkResult::interrupt();
      });
      if (found.wasInterrupted())
        return failure();
    }
    return success();
  }
};
} // namespace

} // namespace cameo
