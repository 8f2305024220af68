// Roundings to 16 bits between the operations of a dispatch ==> none.
//
//   %a = linalg.generic ... { %0 = math.exp %x : f32, %1 = arith.truncf %0 : f32 to f16, linalg.yield %1 }
//   %b = linalg.generic ins(%a) { %2 = arith.extf %in : f16 to f32, %3 = arith.subf %2, %one : f32, ... }
//   ==>
//   %a = linalg.generic ... { %0 = math.exp %x : f32, linalg.yield %0 }
//   %b = linalg.generic ins(%a) { %3 = arith.subf %in, %one : f32, ... }
//
// Bodies compute in f32 whatever the types of their operands are. So a value that goes from one elementwise operation
// to another stays in a register, and its rounding costs an instruction and bits, which a difference or a logarithm
// behind it may have needed. Values that are stored, and all that leads to a product or a reduction of the dispatch, are
// rounded as before: there the type is memory's, the instruction's, or the schedule's.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_REMOVEROUNDINGS
#include "passes/Passes.h.inc"

namespace {

bool isElementwise(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op.getNumResults() == 1 && op.hasPureTensorSemantics() &&
         op.getRegionOutputArgs().front().use_empty();
}

/// The f32 that the result is rounded from; null where it is not rounded to 16 bits, or by a Cast of the model.
arith::TruncFOp roundingOf(linalg::GenericOp op) {
  Type type = getElementTypeOrSelf(op.getResult(0));
  if (!isElementwise(op) || !(type.isF16() || type.isBF16()) ||
      op->hasAttr(kernel::KernelDialect::CastAttrHelper::getNameStr()))
    return {};
  auto rounding = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::TruncFOp>();
  return rounding && rounding.getIn().getType().isF32() && rounding->hasOneUse()
             ? rounding
             : arith::TruncFOp();
}

/// Whether the use computes with the value in f32, element by element.
bool widens(OpOperand &use) {
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!reader || !isElementwise(reader) || !reader.isDpsInput(&use))
    return false;
  BlockArgument element = reader.getMatchingBlockArgument(&use);
  return llvm::all_of(element.getUsers(), [](Operation *user) {
    return isa<arith::ExtFOp>(user) && user->getResult(0).getType().isF32();
  });
}

/// True if a product or a reduction of the dispatch reads the value, or anything made of it. Values in front of those are
/// read, packed and converted in ways of the schedule's own.
bool isSummed(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto reader = dyn_cast<linalg::GenericOp>(user);
    return !isa<kernel::YieldOp>(user) &&
           (!reader || !isElementwise(reader) || isSummed(reader.getResult(0)));
  });
}

/// Lets the readers have what was rounded.
void widenReads(Value rounded, Value wide) {
  for (OpOperand &use : llvm::make_early_inc_range(rounded.getUses())) {
    auto reader = cast<linalg::GenericOp>(use.getOwner());
    BlockArgument element = reader.getMatchingBlockArgument(&use);
    for (Operation *extension : llvm::make_early_inc_range(element.getUsers())) {
      extension->getResult(0).replaceAllUsesWith(element);
      extension->erase();
    }
    element.setType(getElementTypeOrSelf(wide));
    use.set(wide);
  }
}

/// The f32 itself where nothing else is done than rounding it, as behind a product.
Value roundedAlone(linalg::GenericOp op, arith::TruncFOp rounding) {
  auto element = dyn_cast<BlockArgument>(rounding.getIn());
  if (!element || element.getOwner() != op.getBody() || op.getNumDpsInputs() != 1 ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return {};
  Value source = op.getDpsInputOperand(0)->get();
  auto wide = cast<RankedTensorType>(op.getResult(0).getType()).clone(rounding.getIn().getType());
  return source.getType() == wide ? source : Value();
}

Value withoutRounding(linalg::GenericOp op, arith::TruncFOp rounding) {
  if (Value source = roundedAlone(op, rounding))
    return source;
  OpBuilder b(op);
  Type f32 = rounding.getIn().getType();
  Value init = op.getDpsInitOperand(0)->get();
  auto sizes = init.getDefiningOp<tensor::EmptyOp>()
                   ? init.getDefiningOp<tensor::EmptyOp>().getMixedSizes()
                   : tensor::getMixedSizes(b, op.getLoc(), init);
  Value empty = b.create<tensor::EmptyOp>(op.getLoc(), sizes, f32);
  auto wide = cast<linalg::GenericOp>(b.clone(*op));
  wide.setDpsInitOperand(0, empty);
  wide.getResult(0).setType(cast<RankedTensorType>(empty.getType()));
  wide.getRegionOutputArgs().front().setType(f32);
  auto inner = wide.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::TruncFOp>();
  inner.getResult().replaceAllUsesWith(inner.getIn());
  inner.erase();
  return wide.getResult(0);
}

struct RemoveRoundings : impl::RemoveRoundingsBase<RemoveRoundings> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> operations;
    getOperation().walk([&](linalg::GenericOp op) { operations.push_back(op); });
    uint64_t removed = 0;
    for (linalg::GenericOp op : operations) {
      arith::TruncFOp rounding = roundingOf(op);
      Value result = op.getResult(0);
      if (!rounding || result.use_empty() || !llvm::all_of(result.getUses(), widens) ||
          isSummed(result))
        continue;
      widenReads(result, withoutRounding(op, rounding));
      auto empty = op.getDpsInitOperand(0)->get().getDefiningOp<tensor::EmptyOp>();
      op->erase();
      if (empty && empty->use_empty())
        empty->erase();
      ++removed;
    }
    count(&getContext(), getArgument(), "removed", removed);
  }
};

} // namespace

} // namespace cameo
