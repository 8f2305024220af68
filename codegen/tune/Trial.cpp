// Types of packed constants in the place of those that they have.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune/Trial.h"

#include "codegen/schedule/Packing.h"
#include "dialects/rt/Layout.h"

using namespace mlir;

namespace cameo {

void setOrRemove(kernel::DispatchOp op, StringRef name, Attribute attribute) {
  op->removeAttr(name);
  if (attribute)
    op->setAttr(name, attribute);
}

void readAsPacked(kernel::DispatchOp op, ArrayAttr orders, Attribute rounded) {
  std::optional<Packing> packing = packingOf(op, orders);
  op->removeAttr(kPackingAttr);
  op->removeAttr(kRoundingAttr);
  setOrRemove(op, kRoundedAttr, rounded);
  if (!packing)
    return;
  OpBuilder b(op);
  for (auto [input, order] : llvm::enumerate(*packing))
    if (!order.empty()) {
      Value given = op.getInputs()[input];
      op.getInputsMutable()[input].set(b.create<rt::GetConstantOp>(
          given.getLoc(), permuted(cast<RankedTensorType>(given.getType()), order),
          rt::constantOf(given).getConstant()));
    }
  permuteDispatch(op, *packing, SmallVector<DimOrder>(op.getNumResults()));
}

} // namespace cameo
