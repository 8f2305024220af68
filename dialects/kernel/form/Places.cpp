// Following elements.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Places.h"

using namespace mlir;

namespace cameo {

void forEachRead(Operation *op, function_ref<void(OpOperand &)> visit) {
  op->walk([&](Operation *inner) {
    auto generic = dyn_cast<linalg::GenericOp>(inner);
    for (OpOperand &operand : inner->getOpOperands())
      if (!isa<tensor::DimOp>(inner) && !(generic && generic.isDpsInit(&operand) &&
                                          !generic.payloadUsesValueFromOperand(&operand)))
        visit(operand);
  });
}

FailureOr<AffineMap> Places::placeRead(Operation *op) const {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  std::optional<Read> moved;
  if (!generic && op->getNumResults() == 1)
    moved = movement(op->getResult(0));
  SmallVector<int64_t> extents;
  if (generic)
    extents = generic.getStaticLoopRanges();
  else if (moved)
    llvm::append_range(extents, cast<RankedTensorType>(op->getResult(0).getType()).getShape());

  AffineMap place;
  bool known = true;
  forEachRead(op, [&](OpOperand &operand) {
    AffineMap of = lookup(operand.get());
    if (!of)
      return;
    AffineMap map; // of the loops or indices
    auto extract = dyn_cast<tensor::ExtractOp>(operand.getOwner());
    if (generic && operand.getOwner() == op && generic.isDpsInput(&operand))
      map = generic.getMatchingIndexingMap(&operand);
    else if (generic && extract)
      map = extractedAt(generic, extract);
    else if (moved && operand.get() == moved->tensor)
      map = moved->map;
    if (!map) {
      known = false;
      return;
    }
    AffineMap here = simplifiedWithin(of.compose(map), extents);
    known &= !place || place == here;
    place = here;
  });
  return known ? FailureOr(place) : FailureOr<AffineMap>(failure());
}

LogicalResult Places::follow(Operation *op) {
  FailureOr<AffineMap> place = placeRead(op);
  if (failed(place))
    return failure();
  if (!*place)
    return success();
  auto generic = dyn_cast<linalg::GenericOp>(op);
  for (OpResult result : op->getResults()) {
    AffineMap indices = AffineMap::getMultiDimIdentityMap(
        cast<RankedTensorType>(result.getType()).getRank(), op->getContext());
    if (generic)
      indices = loopsOfResult(generic, result.getResultNumber());
    if (!indices)
      return failure();
    set(result, place->compose(indices));
  }
  return success();
}

} // namespace cameo
