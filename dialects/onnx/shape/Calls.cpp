// Sizes of what bodies of control flow give, which are functions: those that a value outside has, too, and others that
// only a run tells.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/ShapeRules.h"

using namespace mlir;

namespace cameo::onnx {

/// Sizes by what the call says of them. `values` are its operands from `from` on.
static SmallVector<Sizes> sizesOfCall(Shapes &shapes, Operation *op, ArrayRef<int64_t> known,
                                      unsigned from) {
  SmallVector<Sizes> results;
  for (OpResult result : op->getResults()) {
    Sizes &sizes = results.emplace_back();
    auto type = cast<RankedTensorType>(result.getType());
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size))
        sizes.push_back(shapes.sizes.index(size));
      else if (known[0] >= 0)
        sizes.push_back(shapes.of(op, from + known[0])[known[1]]);
      else
        sizes.push_back(shapes.sizes.decided(result, i));
      known = known.drop_front(2);
    }
  }
  return results;
}

static FailureOr<SmallVector<Sizes>> callIf(Shapes &shapes, Operation *op) {
  return sizesOfCall(shapes, op, cast<CallIfOp>(op).getSizes(), 1);
}

static FailureOr<SmallVector<Sizes>> callLoop(Shapes &shapes, Operation *op) {
  auto loop = cast<CallLoopOp>(op);
  SmallVector<Sizes> results = sizesOfCall(shapes, op, loop.getSizes(), 2);
  std::optional<OpFoldResult> trips;
  if (loop.getUnconditional() && !isAbsent(loop.getCount()))
    if (FailureOr<Sizes> count = shapes.host.tryValues(loop.getCount(), 1);
        succeeded(count) && count->size() == 1)
      trips = shapes.sizes.atLeastZero(count->front());
  for (Sizes &collected : MutableArrayRef(results).drop_front(loop.getCarried()))
    if (trips)
      collected.front() = *trips;
  return results;
}

void registerCallRules(ShapeRows &rows) {
  rows.add<CallIfOp>(callIf);
  rows.add<CallLoopOp>(callLoop);
}

} // namespace cameo::onnx
