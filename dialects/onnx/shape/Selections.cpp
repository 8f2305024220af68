// Shapes of operators that put elements into order or choose among them: TopK, NonZero, Compress, Unique.
//
// Sizes of most of them are counted on the device, and are at most what was given.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Selections.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Axes.h"
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
  if (x.empty())
    return s.refuse(op, "the input has rank 0, of which ONNX and ONNX Runtime make different "
                        "shapes; nearest supported: rank 1 or more");
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

void registerSelectionRules(ShapeRows &rows) {
  rows.add<TopKOp>(inferTopK);
  rows.add<NonZeroOp>(fromShapes<inferNonZero>);
  rows.add<CompressOp>(fromShapes<inferCompress>);
  rows.add<UniqueOp>(inferUnique);
}

} // namespace cameo::onnx
