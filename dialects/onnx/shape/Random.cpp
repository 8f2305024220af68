// Shapes of random numbers, and of what they are drawn by.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Layout.h"
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

static FailureOr<SmallVector<Sizes>> inferState(Shapes &shapes, Operation *) {
  return SmallVector<Sizes>{Sizes{shapes.sizes.index(kRandomWords)}};
}

/// One number where a shape is given, which it is for all elements of; else one for each element.
static FailureOr<SmallVector<Sizes>> inferDraw(Shapes &shapes, Operation *op) {
  if (isAbsent(op, 1))
    return SmallVector<Sizes>{shapes.of(op, 2)};
  FailureOr<Sizes> sizes = shapes.host.values(op, 1);
  if (failed(sizes) || failed(checkGivenSizes(shapes.sizes, op, *sizes)))
    return failure();
  SizeBuilder &s = shapes.sizes;
  if (!isAbsent(op, 2)) {
    OpFoldResult count = s.product(shapes.of(op, 2));
    if (failed(s.check(op, s.equal(count, s.index(1)),
                       "the probability has {0} elements; it must have one", count)))
      return failure();
  }
  return SmallVector<Sizes>{*sizes};
}

void registerRandomRules(ShapeRows &rows) {
  rows.add<RandomStateOp, RandomTripOp>(inferState);
  rows.add<DrawOp>(inferDraw);
}

} // namespace cameo::onnx
