// DeformConv: a convolution whose taps are moved, each by an offset of its own.
//
//   onnx.DeformConv  ==>  linalg.generic, then a Conv with a kernel of 1
//     columns[n, c * K + k, o...] = mask * X[n, c, o * stride + k * dilation - pad + offset]
//     Y[n, g * F + f, o...] = sum over i of W[g * F + f, i] * columns[n, g * I + i, o...]
//
// Values between elements are interpolated, with zeros around X. Positions are computed in
// FP32 (FP64 of FP64), whatever offsets are stored in.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Convolution.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/Interpolation.h"

using namespace mlir;

namespace cameo {

namespace {
struct Deformation {
  Lowered x, offset;
  std::optional<Lowered> mask;
  Windows windows;
  OpFoldResult taps, channels; // of a kernel; of a group of offsets
  Sizes lengths;               // of X, as host floats
};
} // namespace

/// One element of the columns: a channel and tap `at[1]` of the window at the other places.
static Value columnElement(OpBuilder &b, Location loc, const Deformation &deform, ValueRange at) {
  Type type = deform.x.elementType, sumType = accumulatorType(type);
  FloatMath math(b, loc, sumType);
  IndexMath indices(b, loc);
  auto quotient = [&](Value x, OpFoldResult y) -> Value {
    return isConstantIntValue(y, 1) ? x : b.create<arith::DivUIOp>(loc, x, bodyValue(b, loc, y));
  };
  Value channel = quotient(at[1], deform.taps);
  Value tap = indices.sub(at[1], OpFoldResult(indices.mul(channel, deform.taps)));
  Value row = indices.add(indices.mul(quotient(channel, deform.channels), deform.taps), tap);
  SmallVector<Value> place(at);
  auto read = [&](const Lowered &tensor, Value dim1) {
    place[1] = dim1;
    return convertScalar(b, loc, indices.element(tensor, place), type, sumType);
  };
  int64_t spatial = deform.windows.size();
  SmallVector<AxisTaps> taps(spatial);
  Value rest = tap;
  for (int64_t i = spatial; i-- > 0;) {
    const Window &window = deform.windows[i];
    Value above = i == 0 ? indexConstant(b, loc, 0) : quotient(rest, window.kernel);
    Value k = i == 0 ? rest : indices.sub(rest, OpFoldResult(indices.mul(above, window.kernel)));
    rest = above;
    Value offset = read(deform.offset,
                        indices.add(indices.mul(row, b.getIndexAttr(spatial)), b.getIndexAttr(i)));
    Value position = math.add(math.fromIndex(tapIndex(b, loc, window, at[2 + i], k)), offset);
    position = nearInput(math, position, /*reach=*/1, deform.lengths[i]);
    taps[i] = linearTaps(b, loc, position, window.input);
  }
  Value element = weightedSum(b, loc, deform.x, ValueRange{at[0], channel}, taps, sumType);
  if (deform.mask)
    element = math.mul(element, read(*deform.mask, row));
  return convertScalar(b, loc, element, sumType, type);
}

static LogicalResult lowerDeformConv(Operation *op, Lowering &l) {
  FailureOr<onnx::WindowShape> shape = onnx::inferDeformConv(l.plan, op, l.shapes.operands(op));
  if (failed(shape))
    return failure();
  Location loc = op->getLoc();
  Lowered x = l.operand(op, 0), w = l.operand(op, 1);
  OpFoldResult taps = l.plan.product(ArrayRef(w.sizes).drop_front(2));
  OpFoldResult offsetGroups = l.plan.index(intAttribute(op, "offset_group", 1));
  Deformation deform{
      x, l.operand(op, 2), {}, shape->windows, taps, l.plan.floorDiv(x.sizes[1], offsetGroups), {}};
  if (!l.absent(op, 4))
    deform.mask = l.operand(op, 4);
  Sizes columns{x.sizes[0], l.plan.mul(x.sizes[1], taps)};
  Sizes weights{w.sizes[0], l.plan.mul(w.sizes[1], taps)};
  Windows points;
  OpFoldResult zero = l.plan.index(0), one = l.plan.index(1);
  for (const Window &window : shape->windows) {
    deform.lengths.push_back(l.plan.toFloat(window.input));
    columns.push_back(window.count);
    weights.push_back(one);
    points.push_back({one, 1, 1, window.count, zero, zero, window.count});
  }
  Value gathered = l.build.compute(loc, columns, x.elementType,
                                   [&](OpBuilder &b, Location at, ValueRange indices) {
                                     return columnElement(b, at, deform, indices);
                                   });
  Convolution conv{{gathered, columns, x.elementType},
                   l.build.reshape(loc, w, weights),
                   {},
                   intAttribute(op, "group", 1),
                   points,
                   shape->result};
  if (!l.absent(op, 3))
    conv.bias = l.operand(op, 3);
  l.define(op, 0, convolve(l, loc, conv));
  return success();
}

void registerDeformConv(LoweringRows &rows) { rows.add<onnx::DeformConvOp>({lowerDeformConv}); }

} // namespace cameo
