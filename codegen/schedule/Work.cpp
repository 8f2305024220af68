// Counting the arithmetic of descriptions.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Work.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace cameo {

/// Operations an element's body does on elements: not on indices, no comparisons, no conversions.
static int64_t arithmeticOf(Region &body) {
  int64_t count = 0;
  body.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
        op->getResult(0).getType().isIndex() ||
        isa<arith::CmpFOp, arith::CmpIOp, arith::SelectOp, CastOpInterface>(op))
      return;
    if (isa<math::FmaOp>(op))
      count += 2;
    else if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      count += 1;
  });
  return count;
}

std::optional<int64_t> countFlops(kernel::DispatchOp op, ArrayRef<int64_t> outputs) {
  int64_t total = 0;
  llvm::SetVector<Operation *> described;
  auto add = [&](Value value) {
    if (Operation *definition = value.getDefiningOp())
      described.insert(definition);
  };
  for (int64_t output : outputs)
    add(op.getBodyBlock()->getTerminator()->getOperand(output));
  for (size_t i = 0; i < described.size(); ++i) { // grows meanwhile
    Operation *definition = described[i];
    llvm::for_each(definition->getOperands(), add);
    int64_t work = 0;
    SmallVector<int64_t> ranges;
    if (auto generic = dyn_cast<linalg::GenericOp>(definition)) {
      ranges = generic.getStaticLoopRanges();
      work = arithmeticOf(generic.getRegion());
    } else if (auto scan = dyn_cast<kernel::ScanOp>(definition)) {
      llvm::append_range(ranges, cast<RankedTensorType>(scan.getType()).getShape());
      work = 1;
    }
    for (int64_t range : ranges)
      if (work != 0 && (ShapedType::isDynamic(range) || llvm::MulOverflow(work, range, work)))
        return std::nullopt;
    if (llvm::AddOverflow(total, work, total))
      return std::nullopt;
  }
  return total;
}

} // namespace cameo
