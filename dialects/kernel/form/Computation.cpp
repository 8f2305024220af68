// Reading dispatches.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Computation.h"

using namespace mlir;

namespace cameo {

Access accessOf(Value tensor, AffineMap map) {
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  return {tensor, pad, pad ? pad.getSource() : tensor, map};
}

/// Visits the operands whose elements the operation or its body reads, not those that only say how
/// large something is.
static void forEachRead(Operation *op, function_ref<void(OpOperand &)> visit) {
  op->walk([&](Operation *inner) {
    auto generic = dyn_cast<linalg::GenericOp>(inner);
    for (OpOperand &operand : inner->getOpOperands())
      if (!isa<tensor::DimOp>(inner) && !(generic && generic.isDpsInit(&operand) &&
                                          !generic.payloadUsesValueFromOperand(&operand)))
        visit(operand);
  });
}

static bool isCombining(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return isa<kernel::ScanOp>(op) || (generic && generic.getNumReductionLoops() != 0);
}

bool Computation::isElementwiseOnCombined(Operation *inner) const {
  auto generic = dyn_cast<linalg::GenericOp>(inner);
  if (!generic)
    return false;
  bool elementwise = llvm::all_of(generic.getDpsInitsMutable(), [&](OpOperand &init) {
    return generic.getMatchingIndexingMap(&init).isIdentity();
  });
  forEachRead(inner, [&](OpOperand &operand) {
    if (isCombined(operand.get()))
      elementwise &= operand.getOwner() == inner && generic.isDpsInput(&operand) &&
                     generic.getMatchingIndexingMap(&operand).isIdentity();
  });
  return elementwise;
}

Computation::Computation(kernel::DispatchOp op)
    : op(op), results(op.getBodyBlock()->getTerminator()->getOperands()) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  for (Operation &inner : llvm::reverse(*op.getBodyBlock())) {
    if (!needed.contains(&inner) && &inner != op.getBodyBlock()->getTerminator())
      continue;
    forEachRead(&inner, [&](OpOperand &operand) {
      if (Operation *definition = operand.get().getDefiningOp())
        needed.insert(definition);
    });
  }
  bool followsPlace = true; // all that is computed from what is combined
  for (Operation &inner : op.getBodyBlock()->without_terminator()) {
    if (!needed.contains(&inner))
      continue;
    operations.push_back(&inner);
    bool reads = false;
    forEachRead(&inner, [&](OpOperand &operand) { reads |= isCombined(operand.get()); });
    if (reads)
      followsPlace &= isElementwiseOnCombined(&inner);
    if (isCombining(&inner))
      combining.push_back(&inner);
    if (reads || isCombining(&inner))
      combined.insert(inner.result_begin(), inner.result_end());
  }
  if (followsPlace && combining.size() == 1 && combining.front()->getNumResults() == 1 &&
      llvm::all_of(results, [&](Value result) { return isCombined(result); }))
    root = combining.front()->getResult(0);
}

} // namespace cameo
