// Results that are taps ==> steps of the plan.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/Taps.h"

using namespace mlir;

namespace cameo {

void takeTaps(func::FuncOp function) {
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  llvm::BitVector tapped(function.getNumResults());
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    tapped[i] = bool(function.getResultAttr(i, rt::kTapAttr));
  OpBuilder b(function.getContext());
  // Those of one operation follow it in their order.
  for (int i = tapped.find_last(), number = tapped.count(); i >= 0; i = tapped.find_prev(i)) {
    Value value = end.getOperand(i);
    NamedAttrList attributes(function.getResultAttrDict(i));
    attributes.erase(rt::kTapAttr);
    b.setInsertionPointAfterValue(value);
    auto tap = b.create<rt::TapOp>(end->getLoc(), --number, value, ValueRange());
    tap->setDiscardableAttrs(attributes.getDictionary(b.getContext()));
  }
  end->eraseOperands(tapped);
  function.eraseResults(tapped);
}

void numberTaps(func::FuncOp function) {
  takeTaps(function);
  Block *block = &function.getBody().front();
  SmallVector<rt::TapOp> taps, inside;
  block->walk([&](rt::TapOp tap) { (tap->getBlock() == block ? taps : inside).push_back(tap); });
  llvm::sort(taps, [](rt::TapOp a, rt::TapOp b) { return a.getNumber() < b.getNumber(); });
  taps.append(inside);
  llvm::stable_sort(taps, [](rt::TapOp a, rt::TapOp b) {
    return !a->hasAttr(rt::kCountsAttr) && b->hasAttr(rt::kCountsAttr);
  });
  for (auto [number, tap] : llvm::enumerate(taps))
    tap.setNumber(number);
}

} // namespace cameo
