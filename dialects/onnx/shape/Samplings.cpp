// Shapes of operators that read a tensor at positions which another one holds: GridSample, RoiAlign,
// MaxRoiPool.
//
// Numbers of images that are known are held against the size of the batch.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Attributes.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

/// Checks that there is an element to read, where anything is read: each size but the channels' is
/// 1 or more.
static LogicalResult checkInputElements(SizeBuilder &s, Operation *op, const Sizes &x,
                                        const Sizes &result) {
  OpFoldResult none = s.equal(s.product(result), s.index(0));
  for (auto [dim, size] : llvm::enumerate(x)) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (dim == 1 || (known && *known > 0))
      continue;
    if (failed(s.check(op, s.select(none, s.index(1), s.less(s.index(0), size)),
                       "the input has a size of {0}; it must be 1 or more", size)))
      return failure();
  }
  return success();
}

static FailureOr<Sizes> inferGridSample(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0], &grid = operands[1];
  if (x.size() < 3 || grid.size() != x.size())
    return s.refuse(op, "X of rank " + Twine(x.size()) + ", grid of rank " + Twine(grid.size()) +
                            "; both need one rank of 3 or more");
  OpFoldResult spatial = s.index(x.size() - 2);
  if (failed(s.check(op, s.equal(grid.back(), spatial),
                     "the grid has {0} coordinates for {1} spatial dimensions", grid.back(),
                     spatial)) ||
      failed(s.check(op, s.equal(x[0], grid[0]), "batch sizes {0} and {1} of X and grid differ",
                     x[0], grid[0])))
    return failure();
  Sizes result{x[0], x[1]};
  result.append(grid.begin() + 1, grid.end() - 1);
  if (failed(checkInputElements(s, op, x, result)))
    return failure();
  return result;
}

//===-- Regions of interest -------------------------------------------------------------------===//

/// The result's sizes of a pool over regions with so many numbers each.
static FailureOr<Sizes> inferRegions(SizeBuilder &s, Operation *op, const Sizes &x,
                                     const Sizes &rois, int64_t numbers, int64_t height,
                                     int64_t width) {
  if (x.size() != 4 || rois.size() != 2)
    return s.refuse(op, "X of rank " + Twine(x.size()) + ", rois of rank " + Twine(rois.size()) +
                            "; they must have 4 and 2");
  OpFoldResult needed = s.index(numbers);
  if (failed(s.check(op, s.equal(rois[1], needed), "rois holds {0} numbers a region; it needs {1}",
                     rois[1], needed)))
    return failure();
  Sizes result{rois[0], x[1], s.index(height), s.index(width)};
  if (failed(checkInputElements(s, op, x, result)))
    return failure();
  return result;
}

/// Refuses or checks constant numbers of images that are not 0 to the batch's size.
static LogicalResult checkImages(SizeBuilder &s, Operation *op, OpFoldResult images) {
  constexpr StringLiteral kOutside = "batch_indices has image {0} of {1}";
  std::optional<SmallVector<int64_t>> known =
      constantInts(op->getOperand(2), std::numeric_limits<int64_t>::max());
  if (!known || known->empty())
    return success();
  OpFoldResult least = s.index(*llvm::min_element(*known));
  OpFoldResult most = s.index(*llvm::max_element(*known));
  if (failed(s.check(op, s.less(s.index(-1), least), kOutside, least, images)))
    return failure();
  return s.check(op, s.less(most, images), kOutside, most, images);
}

static FailureOr<Sizes> inferRoiAlign(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0], &rois = operands[1], &images = operands[2];
  auto align = cast<RoiAlignOp>(op);
  FailureOr<Sizes> result =
      inferRegions(s, op, x, rois, 4, align.getOutputHeight(), align.getOutputWidth());
  if (failed(result))
    return failure();
  if (images.size() != 1)
    return s.refuse(op, "batch_indices has rank " + Twine(images.size()) + "; it must have 1");
  if (failed(s.check(op, s.equal(images[0], rois[0]),
                     "batch_indices holds {0} numbers for {1} regions", images[0], rois[0])) ||
      failed(checkImages(s, op, x[0])))
    return failure();
  return result;
}

static FailureOr<Sizes> inferMaxRoiPool(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  SmallVector<int64_t> pooled = intsAttribute(op, "pooled_shape", 0, 0);
  if (pooled.size() != 2)
    return s.refuse(op, "pooled_shape holds " + Twine(pooled.size()) + " numbers; it must hold 2");
  return inferRegions(s, op, operands[0], operands[1], 5, pooled[0], pooled[1]);
}

void registerSamplingRules(ShapeRows &rows) {
  rows.add<GridSampleOp>(fromSizes<inferGridSample>);
  rows.add<RoiAlignOp>(fromSizes<inferRoiAlign>);
  rows.add<MaxRoiPoolOp>(fromSizes<inferMaxRoiPool>);
}

} // namespace cameo::onnx
