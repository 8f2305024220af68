// Pools over regions of interest: RoiAlign and MaxRoiPool.
//
//   onnx.RoiAlign  ==>  linalg.generic, loops over the samples of a bin in its body
//     Y[r, c, p, q] = mean over samples s of (r, p, q) of interpolated X[image(r), c, s]
//
// Regions are computed in FP32 (FP64 of FP64), in the order in which the reference implementation
// does. What a region holds at run time is not checked: images are moved into the batch's range,
// loops end after the samples that can be inside of X, and a region of NaN has no samples.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"
#include "passes/linalg/FloatMath.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"

using namespace mlir;

namespace cameo {

/// X and regions have it alike.
static Type computedIn(OpBuilder &b, Type type) {
  return type.isF64() ? Type(b.getF64Type()) : Type(b.getF32Type());
}

/// Number `number` of region `roi`.
static Value roiNumber(OpBuilder &b, Location loc, const Lowered &rois, Value roi, int64_t number) {
  Value element = IndexMath(b, loc).element(rois, ValueRange{roi, indexConstant(b, loc, number)});
  return convertScalar(b, loc, element, rois.elementType, computedIn(b, rois.elementType));
}

//===-- RoiAlign ------------------------------------------------------------------------------===//

namespace {
/// One spatial dimension of X, and of the bins.
struct AlignAxis {
  OpFoldResult size, length; // integer; as a host float
  int64_t pooled;
  int64_t first; // number of a region's first coordinate of it
};

struct Alignment {
  Lowered x, rois;
  bool isMax, isShifted;
  double scale;
  int64_t ratio; // samples of a bin along a dimension; 0: by the bin's size
  SmallVector<AlignAxis, 2> axes;
};

/// The samples of one bin along a dimension: those from `lower` to `upper` are looked at, the
/// others are outside of X.
struct BinSamples {
  Value first, bin, count; // floats; the bin's begin, its size, all samples
  Value lower, upper;
  Value isCut; // whether there are others
};

/// The place of a sample along a dimension.
struct Sample {
  Value low, high; // indices of the elements around it
  Value lowWeight, highWeight;
  Value inside;
};
} // namespace

static BinSamples samplesOf(OpBuilder &b, Location loc, const Alignment &align,
                            const AlignAxis &axis, Value roi, Value bin) {
  FloatMath math(b, loc, computedIn(b, align.x.elementType));
  Value scale = math.number(align.scale), offset = math.number(align.isShifted ? 0.5 : 0);
  auto border = [&](int64_t number) {
    Value scaled = math.mul(roiNumber(b, loc, align.rois, roi, number), scale);
    return align.isShifted ? math.sub(scaled, offset) : scaled;
  };
  Value start = border(axis.first), extent = math.sub(border(axis.first + 2), start);
  if (!align.isShifted)
    extent = math.greater(extent, math.number(1));
  BinSamples samples;
  samples.bin = math.div(extent, math.number(axis.pooled));
  samples.first = math.add(start, math.mul(math.fromIndex(bin), samples.bin));
  Value zero = math.number(0);
  if (align.ratio > 0) {
    samples.count = math.number(align.ratio);
    samples.lower = indexConstant(b, loc, 0);
    samples.upper = indexConstant(b, loc, align.ratio);
    samples.isCut = scalarConstant(b, loc, b.getI1Type(), 0);
    return samples;
  }
  // More samples than any image has elements are not counted one by one.
  Value most = math.number(0x1p30);
  samples.count = math.lesser(math.greater(math.ceil(samples.bin), zero), most);
  // The first and the last sample that may be inside of [-1, size], each with one to spare for
  // roundings: what a loop looks at is asked once more. They are half an element apart or more.
  Value step = math.div(samples.bin, samples.count), one = math.number(1);
  Value length = math.of(axis.length);
  auto numberAt = [&](Value place) { return math.div(math.sub(place, samples.first), step); };
  Value before = math.sub(math.floor(numberAt(math.number(-1))), math.number(2));
  Value lower = math.lesser(math.greater(before, zero), samples.count);
  Value behind = math.add(math.ceil(numberAt(length)), math.number(2));
  Value room = math.add(math.mul(math.add(length, one), math.number(2)), math.number(8));
  Value upper =
      math.lesser(math.lesser(math.greater(behind, lower), samples.count), math.add(lower, room));
  Value cutBefore = math.compare(arith::CmpFPredicate::OGT, lower, zero);
  Value cutBehind = math.compare(arith::CmpFPredicate::OLT, upper, samples.count);
  samples.isCut = b.create<arith::OrIOp>(loc, cutBefore, cutBehind);
  samples.lower = math.toSmallIndex(lower);
  samples.upper = math.toSmallIndex(upper);
  return samples;
}

static Sample sampleAt(OpBuilder &b, Location loc, const BinSamples &samples, const AlignAxis &axis,
                       Value number) {
  FloatMath math(b, loc, samples.bin.getType());
  IndexMath indices(b, loc);
  Value half = math.add(math.fromIndex(number), math.number(0.5));
  Value place = math.add(samples.first, math.div(math.mul(half, samples.bin), samples.count));
  Value length = math.of(axis.length);
  Sample sample;
  sample.inside = indices.both(math.compare(arith::CmpFPredicate::OGE, place, math.number(-1)),
                               math.compare(arith::CmpFPredicate::OLE, place, length));
  Value last = math.sub(length, math.number(1));
  place = math.lesser(math.greater(place, math.number(0)), last);
  sample.low = indices.clamp(math.toSmallIndex(place), axis.size);
  sample.high = indices.clamp(indices.add(sample.low, b.getIndexAttr(1)), axis.size);
  sample.highWeight = math.sub(place, math.fromIndex(sample.low));
  sample.lowWeight = math.sub(math.number(1), sample.highWeight);
  return sample;
}

/// A sum or the greatest number with one more sample. The greatest number is one of the elements
/// around a sample, each times its weight: both implementations and ONNX's node tests have it so.
static Value addSample(OpBuilder &b, Location loc, const Alignment &align, ValueRange lead,
                       const Sample &y, const Sample &x, Value total) {
  Type type = total.getType();
  FloatMath math(b, loc, type);
  IndexMath indices(b, loc);
  auto read = [&](Value row, Value column) {
    Value element = indices.element(align.x, ValueRange{lead[0], lead[1], row, column});
    return convertScalar(b, loc, element, align.x.elementType, type);
  };
  Value inside = indices.both(y.inside, x.inside), zero = math.number(0);
  if (!align.isMax) {
    auto row = [&](Value at) {
      return math.fma(x.highWeight, read(at, x.high), math.mul(x.lowWeight, read(at, x.low)));
    };
    Value value = math.fma(y.highWeight, row(y.high), math.mul(y.lowWeight, row(y.low)));
    return math.add(total, math.select(inside, value, zero));
  }
  Value greatest;
  for (auto [row, ofRow] : {std::pair(y.low, y.lowWeight), std::pair(y.high, y.highWeight)})
    for (auto [column, ofColumn] :
         {std::pair(x.low, x.lowWeight), std::pair(x.high, x.highWeight)}) {
      Value part = math.mul(math.mul(ofRow, ofColumn), read(row, column));
      greatest = greatest ? Value(b.create<arith::MaximumFOp>(loc, greatest, part)) : part;
    }
  return b.create<arith::MaximumFOp>(loc, total, math.select(inside, greatest, zero));
}

/// One element of the result.
static Value alignedElement(OpBuilder &b, Location loc, const Alignment &align, Value image,
                            ValueRange at) {
  Type type = computedIn(b, align.x.elementType);
  FloatMath math(b, loc, type);
  IndexMath indices(b, loc);
  BinSamples rows = samplesOf(b, loc, align, align.axes[0], at[0], at[2]);
  BinSamples columns = samplesOf(b, loc, align, align.axes[1], at[0], at[3]);
  Value start = align.isMax ? neutral(b, loc, Combine::Max, type) : math.number(0);
  Value one = indexConstant(b, loc, 1);
  auto outer =
      b.create<scf::ForOp>(loc, rows.lower, rows.upper, one, ValueRange{start},
                           [&](OpBuilder &b, Location loc, Value i, ValueRange carried) {
                             Sample y = sampleAt(b, loc, rows, align.axes[0], i);
                             auto inner = b.create<scf::ForOp>(
                                 loc, columns.lower, columns.upper, one, carried,
                                 [&](OpBuilder &b, Location loc, Value j, ValueRange carried) {
                                   Sample x = sampleAt(b, loc, columns, align.axes[1], j);
                                   Value next =
                                       addSample(b, loc, align, {image, at[1]}, y, x, carried[0]);
                                   b.create<scf::YieldOp>(loc, next);
                                 });
                             b.create<scf::YieldOp>(loc, inner.getResults());
                           });
  Value total = outer.getResult(0), all = math.mul(rows.count, columns.count);
  if (!align.isMax)
    return math.div(total, math.greater(all, math.number(1)));
  if (align.ratio > 0)
    return total;
  // Samples outside of X are zeros; so is a bin without samples.
  Value zero = math.number(0);
  Value withZero = b.create<arith::MaximumFOp>(loc, total, zero);
  Value isCut = b.create<arith::OrIOp>(loc, rows.isCut, columns.isCut);
  Value isEmpty = math.compare(arith::CmpFPredicate::OEQ, all, zero);
  return math.select(isEmpty, zero, math.select(isCut, withZero, total));
}

static LogicalResult lowerRoiAlign(Operation *op, Lowering &l) {
  FailureOr<Sizes> inferred = l.infer(op);
  if (failed(inferred))
    return failure();
  const Sizes &sizes = *inferred;
  auto node = cast<onnx::RoiAlignOp>(op);
  Lowered images = l.operand(op, 2);
  Alignment align{l.operand(op, 0),
                  l.operand(op, 1),
                  node.getMode() == "max",
                  node.getCoordinateTransformationMode() == "half_pixel",
                  node.getSpatialScale().convertToDouble(),
                  int64_t(node.getSamplingRatio()),
                  {}};
  // A region is x1, y1, x2, y2.
  for (auto [dim, pooled] :
       {std::pair(2, node.getOutputHeight()), std::pair(3, node.getOutputWidth())}) {
    OpFoldResult size = align.x.sizes[dim];
    align.axes.push_back({size, l.plan.toFloat(size), int64_t(pooled), 3 - dim});
  }
  Type type = align.x.elementType;
  Value result = l.build.compute(
      op->getLoc(), sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        IndexMath indices(b, loc);
        Value image = indices.toIndex(indices.element(images, at[0]), images.elementType);
        image = indices.clamp(image, align.x.sizes[0]);
        Value element = alignedElement(b, loc, align, image, at);
        return convertScalar(b, loc, element, element.getType(), type);
      });
  l.define(op, 0, result, sizes, type);
  return success();
}

//===-- MaxRoiPool ----------------------------------------------------------------------------===//

namespace {
/// The elements of X in one bin, along a dimension.
struct BinRange {
  Value lower, upper;
};
} // namespace

/// To the nearest whole number, halves away from zero.
static Value rounded(OpBuilder &b, Location loc, Value x) {
  FloatMath math(b, loc, x.getType());
  Value whole = b.create<math::TruncOp>(loc, x), rest = math.sub(x, whole), zero = math.number(0);
  Value up = math.compare(arith::CmpFPredicate::OGE, rest, math.number(0.5));
  Value down = math.compare(arith::CmpFPredicate::OLE, rest, math.number(-0.5));
  Value more = math.select(up, math.number(1), math.select(down, math.number(-1), zero));
  return math.add(whole, more);
}

static BinRange rangeOfBin(OpBuilder &b, Location loc, Value start, Value end, int64_t pooled,
                           OpFoldResult length, Value bin) {
  FloatMath math(b, loc, start.getType());
  Value one = math.number(1);
  Value extent = math.greater(math.add(math.sub(end, start), one), one);
  Value size = math.div(extent, math.number(pooled)), number = math.fromIndex(bin);
  auto inside = [&](Value place) {
    Value moved = math.greater(math.add(place, start), math.number(0));
    return math.toSmallIndex(math.lesser(moved, math.of(length)));
  };
  return {inside(math.floor(math.mul(number, size))),
          inside(math.ceil(math.mul(math.add(number, one), size)))};
}

/// The greatest element of a bin, 0 where it has none.
static Value greatestOfBin(OpBuilder &b, Location loc, const Lowered &x, Value image, Value channel,
                           BinRange rows, BinRange columns) {
  Type type = x.elementType;
  IndexMath indices(b, loc);
  Value one = indexConstant(b, loc, 1), start = neutral(b, loc, Combine::Max, type);
  auto outer = b.create<scf::ForOp>(
      loc, rows.lower, rows.upper, one, ValueRange{start},
      [&](OpBuilder &b, Location loc, Value row, ValueRange carried) {
        auto inner = b.create<scf::ForOp>(
            loc, columns.lower, columns.upper, one, carried,
            [&](OpBuilder &b, Location loc, Value column, ValueRange carried) {
              Value element = IndexMath(b, loc).element(x, ValueRange{image, channel, row, column});
              b.create<scf::YieldOp>(loc, combine(b, loc, Combine::Max, type, carried[0], element));
            });
        b.create<scf::YieldOp>(loc, inner.getResults());
      });
  Value filled =
      indices.both(indices.compare(arith::CmpIPredicate::slt, rows.lower, rows.upper),
                   indices.compare(arith::CmpIPredicate::slt, columns.lower, columns.upper));
  return indices.select(filled, outer.getResult(0), scalarConstant(b, loc, type, 0));
}

static LogicalResult lowerMaxRoiPool(Operation *op, Lowering &l) {
  FailureOr<Sizes> inferred = l.infer(op);
  if (failed(inferred))
    return failure();
  const Sizes &sizes = *inferred;
  Lowered x = l.operand(op, 0), rois = l.operand(op, 1);
  double scale = cast<onnx::MaxRoiPoolOp>(op).getSpatialScale().convertToDouble();
  OpFoldResult lastImage = l.plan.toFloat(l.plan.sub(x.sizes[0], l.plan.index(1)));
  OpFoldResult height = l.plan.toFloat(x.sizes[2]), width = l.plan.toFloat(x.sizes[3]);
  int64_t pooledHeight = *getConstantIntValue(sizes[2]);
  int64_t pooledWidth = *getConstantIntValue(sizes[3]);
  Type type = x.elementType;
  Value result = l.build.compute(
      op->getLoc(), sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        FloatMath math(b, loc, computedIn(b, type));
        // A region is its image, x1, y1, x2, y2.
        auto border = [&](int64_t number) {
          Value scaled = math.mul(roiNumber(b, loc, rois, at[0], number), math.number(scale));
          return rounded(b, loc, scaled);
        };
        Value image = math.greater(roiNumber(b, loc, rois, at[0], 0), math.number(0));
        image = math.toSmallIndex(math.lesser(image, math.of(lastImage)));
        BinRange columns = rangeOfBin(b, loc, border(1), border(3), pooledWidth, width, at[3]);
        BinRange rows = rangeOfBin(b, loc, border(2), border(4), pooledHeight, height, at[2]);
        return greatestOfBin(b, loc, x, image, at[1], rows, columns);
      });
  l.define(op, 0, result, sizes, type);
  return success();
}

void registerRoiOperators(LoweringRows &rows) {
  constexpr StringRef clamped = "images read at run time are moved into range, not reported";
  rows.add<onnx::RoiAlignOp>({lowerRoiAlign, clamped});
  rows.add<onnx::MaxRoiPoolOp>({lowerMaxRoiPool, clamped});
}

} // namespace cameo
