// Shapes of operators that put elements into order or choose among them: TopK, NonZero, Compress, Unique,
// NonMaxSuppression.
//
// Sizes of most of them are counted on the device, and are at most what was given.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Selections.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

/// Places have 32 bits.
static LogicalResult checkLength(SizeBuilder &s, Operation *op, OpFoldResult length) {
  OpFoldResult most = s.index(std::numeric_limits<int32_t>::max());
  return s.check(op, s.equal(s.less(most, length), s.index(0)),
                 "{0} elements to choose among; at most {1} are supported", length, most);
}

static FailureOr<SmallVector<Sizes>> inferTopK(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  if (x.empty())
    return s.refuse(op, "the input has rank 0; it must have 1 or more");
  FailureOr<int64_t> axis = normalizedAxis(s, op, cast<TopKOp>(op).getAxis(), x.size());
  FailureOr<Sizes> given = shapes.host.values(op, 1, 1);
  if (failed(axis) || failed(given))
    return failure();
  if (given->size() != 1)
    return s.refuse(op, "k holds " + Twine(given->size()) + " numbers; it must hold one");
  OpFoldResult k = given->front(), size = x[*axis];
  if (failed(s.check(op, s.less(s.index(-1), k), "k is {0}; it must be 0 or more", k)) ||
      failed(s.check(op, s.equal(s.less(size, k), s.index(0)),
                     "k is {0}, along an axis of {1} elements", k, size)) ||
      failed(checkLength(s, op, size)))
    return failure();
  // What the device computes is bounded by what was checked.
  x[*axis] = getConstantIntValue(k) ? k : s.min(k, size);
  return SmallVector<Sizes>{x, x};
}

static FailureOr<Sizes> inferNonZero(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  OpFoldResult all = s.product(x);
  if (failed(checkLength(s, op, all)))
    return failure();
  return Sizes{s.index(x.size()), s.min(s.counted(op), all)};
}

static FailureOr<Sizes> inferCompress(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0), condition = shapes.of(op, 1);
  if (condition.size() != 1)
    return s.refuse(op, "the condition has rank " + Twine(condition.size()) + "; it must have one");
  int64_t axis = 0;
  if (auto given = cast<CompressOp>(op).getAxis()) {
    FailureOr<int64_t> known = normalizedAxis(s, op, *given, x.size());
    if (failed(known))
      return failure();
    axis = *known;
  } else {
    x = {s.product(x)};
  }
  if (failed(s.check(op, s.equal(s.less(x[axis], condition[0]), s.index(0)),
                     "a condition of {0} elements for {1}", condition[0], x[axis])) ||
      failed(checkLength(s, op, condition[0])))
    return failure();
  x[axis] = s.min(s.counted(op), condition[0]);
  return x;
}

FailureOr<int64_t> uniqueAxis(SizeBuilder &s, Operation *op, Sizes &x) {
  if (auto given = cast<UniqueOp>(op).getAxis())
    return normalizedAxis(s, op, *given, x.size());
  x = {s.product(x)};
  return 0;
}

static FailureOr<SmallVector<Sizes>> inferUnique(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  FailureOr<int64_t> axis = uniqueAxis(s, op, x);
  if (failed(axis))
    return failure();
  OpFoldResult all = x[*axis];
  x[*axis] = s.index(1);
  OpFoldResult slice = s.product(x);
  std::optional<int64_t> known = getConstantIntValue(slice);
  if (!known || *known < 1 || *known > kMostUniqueKeys)
    return s.refuse(op, "slices along the axis have " +
                            (known ? std::to_string(*known) : std::string("an open number of")) +
                            " elements; nearest supported: 1 to " + Twine(kMostUniqueKeys));
  if (failed(checkLength(s, op, all)))
    return failure();
  OpFoldResult count = s.min(s.counted(op), all);
  x[*axis] = count;
  return SmallVector<Sizes>{x, {count}, {all}, {count}};
}

FailureOr<OpFoldResult> suppressionLimit(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  if (isAbsent(op, 2))
    return s.index(0);
  FailureOr<Sizes> given = shapes.host.values(op, 2, 1);
  if (failed(given))
    return failure();
  if (given->size() != 1)
    return s.refuse(op, "max_output_boxes_per_class holds " + Twine(given->size()) +
                            " numbers; it must hold one");
  return s.atLeastZero(given->front());
}

static FailureOr<Sizes> inferNonMaxSuppression(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes boxes = shapes.of(op, 0), scores = shapes.of(op, 1);
  if (boxes.size() != 3 || scores.size() != 3)
    return s.refuse(op, "boxes have rank " + Twine(boxes.size()) + " and scores rank " +
                            Twine(scores.size()) + "; both must have 3");
  if (failed(s.check(op, s.equal(boxes[2], s.index(4)), "boxes have {0} numbers; they need {1}",
                     boxes[2], s.index(4))) ||
      failed(s.check(op, s.equal(boxes[0], scores[0]),
                     "batch sizes {0} and {1} of boxes and scores differ", boxes[0], scores[0])) ||
      failed(s.check(op, s.equal(boxes[1], scores[2]), "{0} boxes have {1} scores", boxes[1],
                     scores[2])))
    return failure();
  for (unsigned operand : {3, 4}) {
    if (isAbsent(op, operand))
      continue;
    for (OpFoldResult size : shapes.of(op, operand))
      if (!isConstantIntValue(size, 1))
        return s.refuse(op, inputText(op, operand) + " is " +
                                typeText(op->getOperand(operand).getType()) +
                                "; it must hold one number");
  }
  std::optional<double> share = isAbsent(op, 3) ? 0 : constantScalar(op->getOperand(3));
  if (share && !(*share >= 0 && *share <= 1))
    return s.refuse(op, "iou_threshold is " + numberText(*share) + "; it must be from 0 to 1");
  FailureOr<OpFoldResult> limit = suppressionLimit(shapes, op);
  OpFoldResult lines = s.mul(scores[0], scores[1]);
  if (failed(limit) || failed(checkLength(s, op, s.mul(lines, scores[2]))))
    return failure();
  OpFoldResult most = s.mul(lines, s.min(*limit, scores[2]));
  return Sizes{s.min(s.counted(op), most), s.index(3)};
}

void registerSelectionRules(ShapeRows &rows) {
  rows.add<TopKOp>(inferTopK);
  rows.add<NonZeroOp>(fromShapes<inferNonZero>);
  rows.add<CompressOp>(fromShapes<inferCompress>);
  rows.add<UniqueOp>(inferUnique);
  rows.add<NonMaxSuppressionOp>(fromShapes<inferNonMaxSuppression>);
}

} // namespace cameo::onnx
