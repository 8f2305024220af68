// Shapes of Resize.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Resizes.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

OpFoldResult lesser(SizeBuilder &s, OpFoldResult a, OpFoldResult b) {
  return s.select(s.less(a, b), a, b);
}

/// An operand that is there and not the empty tensor of older models.
static bool isGiven(Shapes &shapes, Operation *op, unsigned operand) {
  if (isAbsent(op, operand))
    return false;
  Sizes sizes = shapes.of(op, operand);
  return sizes.size() != 1 || !isConstantIntValue(sizes[0], 0);
}

static LogicalResult scaleAxis(SizeBuilder &s, Operation *op, int64_t axis, OpFoldResult scale,
                               ResizeShape &shape) {
  OpFoldResult &size = shape.result[axis], old = s.toFloat(size);
  shape.scales[axis] = scale;
  if (failed(s.check(op, s.less(s.floating(0), scale),
                     "the scale of dimension " + Twine(axis) + " is not positive")))
    return failure();
  if (scale == s.floating(1))
    return success();
  FailureOr<OpFoldResult> scaled = s.checkedInteger(op, s.ffloor(s.fmul(scale, old)),
                                                    "the scaled size of dimension " + Twine(axis));
  if (succeeded(scaled))
    size = *scaled;
  return scaled;
}

static LogicalResult sizeAxis(SizeBuilder &s, Operation *op, int64_t axis, OpFoldResult wanted,
                              ResizeShape &shape) {
  OpFoldResult &size = shape.result[axis], old = size, oldFloat = s.toFloat(old);
  size = wanted;
  if (!s.isNonNegative(wanted) &&
      failed(s.check(op, s.less(s.index(-1), wanted),
                     "sizes has a size of {0}; it must be 0 or more", wanted)))
    return failure();
  if (wanted != old)
    shape.scales[axis] = s.fdiv(s.toFloat(wanted), oldFloat);
  OpFoldResult empty = s.equal(old, s.index(0)), stays = s.equal(wanted, s.index(0));
  return s.check(op, s.select(empty, stays, s.index(1)),
                 "a dimension of size 0 cannot become one of size {0}", wanted);
}

/// One scale for all axes, as keep_aspect_ratio_policy has it.
static LogicalResult keepAspectRatio(SizeBuilder &s, Operation *op, const Sizes &x, bool notLarger,
                                     ResizeShape &shape) {
  OpFoldResult common;
  for (int64_t axis : shape.axes) {
    if (!common)
      common = shape.scales[axis];
    else if (notLarger)
      common = lesser(s, common, shape.scales[axis]);
    else
      common = s.select(s.less(common, shape.scales[axis]), shape.scales[axis], common);
  }
  for (int64_t axis : shape.axes) {
    shape.scales[axis] = common;
    OpFoldResult size = s.fmul(common, s.toFloat(x[axis]));
    FailureOr<OpFoldResult> scaled = s.checkedInteger(
        op, s.ffloor(s.fadd(size, s.floating(0.5))), "the scaled size of dimension " + Twine(axis));
    if (failed(scaled))
      return failure();
    shape.result[axis] = *scaled;
  }
  return success();
}

/// Result sizes and scales, from one or the other.
static LogicalResult resizeScales(Shapes &shapes, ResizeOp op, const Sizes &x, ResizeShape &shape) {
  SizeBuilder &s = shapes.sizes;
  bool hasScales = isGiven(shapes, op, 2), hasSizes = isGiven(shapes, op, 3);
  if (hasScales == hasSizes)
    return s.refuse(op, hasScales ? "has both scales and sizes; exactly one is needed"
                                  : "has neither scales nor sizes; exactly one is needed");
  FailureOr<Sizes> values = shapes.host.values(op, hasScales ? 2 : 3);
  if (failed(values))
    return failure();
  if (values->size() != shape.axes.size())
    return s.refuse(op, inputText(op, hasScales ? 2 : 3) + " holds " + Twine(values->size()) +
                            " numbers for " + Twine(shape.axes.size()) + " axes");
  for (auto [axis, value] : llvm::zip(shape.axes, *values))
    if (failed(hasScales ? scaleAxis(s, op, axis, value, shape)
                         : sizeAxis(s, op, axis, value, shape)))
      return failure();
  StringRef policy = op.getKeepAspectRatioPolicy();
  if (hasSizes && policy != "stretch")
    return keepAspectRatio(s, op, x, policy == "not_larger", shape);
  return success();
}

/// The region that tf_crop_and_resize takes.
static FailureOr<Sizes> resizeRegion(Shapes &shapes, ResizeOp op, size_t axes) {
  if (!isGiven(shapes, op, 1))
    return shapes.sizes.refuse(op,
                               "coordinate_transformation_mode 'tf_crop_and_resize' without roi; "
                               "nearest supported: half_pixel");
  FailureOr<Sizes> roi = shapes.host.values(op, 1);
  if (failed(roi))
    return failure();
  if (roi->size() != 2 * axes)
    return shapes.sizes.refuse(op, "roi holds " + Twine(roi->size()) + " numbers for " +
                                       Twine(axes) + " axes; two an axis are needed");
  return roi;
}

FailureOr<ResizeShape> inferResize(Shapes &shapes, Operation *node) {
  auto op = cast<ResizeOp>(node);
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  ResizeShape shape{{}, Sizes(x.size(), s.floating(1)), {}, x};
  if (auto listed = op.getAxes()) {
    FailureOr<SmallVector<int64_t>> axes = normalizedAxes(s, op, *listed, x.size());
    if (failed(axes))
      return failure();
    shape.axes = *axes;
  } else {
    shape.axes = llvm::to_vector(llvm::seq<int64_t>(0, x.size()));
  }
  if (failed(resizeScales(shapes, op, x, shape)))
    return failure();
  if (op.getCoordinateTransformationMode() != "tf_crop_and_resize")
    return shape;
  FailureOr<Sizes> roi = resizeRegion(shapes, op, shape.axes.size());
  if (failed(roi))
    return failure();
  shape.roi = *roi;
  return shape;
}

void registerResizeRules(ShapeRows &rows) { rows.add<ResizeOp>(fromShapes<inferResize>); }

} // namespace cameo::onnx
