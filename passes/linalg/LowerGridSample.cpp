// GridSample: each element from the elements around the position that the grid holds for it.
//
//   onnx.GridSample  ==>  linalg.generic
//     Y[n, c, o...] = sum over taps t of weight(t) * X[n, c, index(t)...]
//
// The grid's coordinates count from -1 to 1, the last dimension first. Positions are computed in
// FP32, of an FP64 grid in FP64, by the reference implementation's formulas, dimension by dimension. Whatever a grid holds, indices are inside of X: a coordinate that is NaN is in front
// of the first element, one far away is moved next to the input before it becomes an integer.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/Interpolation.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace cameo {

namespace {
enum class GridMode { nearest, linear, cubic };
enum class GridPadding { zeros, border, reflection };

/// One spatial dimension of X.
struct GridAxis {
  OpFoldResult size, length, last; // integer; the size and the last index as host floats
};

struct GridSampling {
  GridMode mode;
  GridPadding padding;
  bool alignsCorners;
  SmallVector<GridAxis> axes;

  int64_t reach() const { return mode == GridMode::cubic ? 2 : 1; }
};
} // namespace

static GridSampling samplingOf(onnx::GridSampleOp op, const Lowered &x, Lowering &l) {
  GridSampling sampling;
  sampling.mode = llvm::StringSwitch<GridMode>(op.getMode())
                      .Case("nearest", GridMode::nearest)
                      .Case("linear", GridMode::linear)
                      .Default(GridMode::cubic);
  sampling.padding = llvm::StringSwitch<GridPadding>(op.getPaddingMode())
                         .Case("zeros", GridPadding::zeros)
                         .Case("border", GridPadding::border)
                         .Default(GridPadding::reflection);
  sampling.alignsCorners = op.getAlignCorners() != 0;
  for (OpFoldResult size : ArrayRef(x.sizes).drop_front(2)) {
    OpFoldResult last = l.plan.toFloat(l.plan.sub(size, l.plan.index(1)));
    sampling.axes.push_back({size, l.plan.toFloat(size), last});
  }
  return sampling;
}

namespace {
/// Positions and taps along one dimension, in a body.
class AxisSampler {
public:
  AxisSampler(OpBuilder &b, Location loc, const GridSampling &sampling, const GridAxis &axis,
              Type type)
      : b(b), loc(loc), sampling(sampling), axis(axis), math(b, loc, type), indices(b, loc) {}

  AxisTaps taps(Value coordinate) {
    Value place = padded(position(coordinate));
    if (sampling.mode == GridMode::nearest)
      return {tap(math.toSmallIndex(place), {})};
    Value floor = math.floor(place), x = math.sub(place, floor);
    Value first = math.toSmallIndex(floor), rest = math.sub(math.number(1), x);
    if (sampling.mode == GridMode::linear)
      return {tap(first, rest), tap(next(first, 1), x)};
    constexpr double kCubic = -0.75; // the operator has no attribute for it
    Value one = math.number(1);
    return {tap(next(first, -1), cubicFar(math, math.add(x, one), kCubic)),
            tap(first, cubicNear(math, x, kCubic)),
            tap(next(first, 1), cubicNear(math, rest, kCubic)),
            tap(next(first, 2), cubicFar(math, math.sub(math.number(2), x), kCubic))};
  }

private:
  /// In elements of X: -1 and 1 are the outer ones' centers, or their outer borders.
  Value position(Value coordinate) {
    Value half = math.number(0.5), one = math.number(1), place = math.add(coordinate, one);
    if (sampling.alignsCorners)
      place = math.mul(math.mul(place, half), math.of(axis.last));
    else
      place = math.mul(math.sub(math.mul(place, math.of(axis.length)), one), half);
    return sampling.mode == GridMode::nearest ? Value(b.create<math::RoundEvenOp>(loc, place))
                                              : place;
  }

  Value padded(Value place) {
    switch (sampling.padding) {
    case GridPadding::zeros:
      return nearInput(math, place, sampling.reach(), axis.length);
    case GridPadding::border:
      return atBorder(place);
    case GridPadding::reflection:
      return reflected(place);
    }
    llvm_unreachable("every padding is above");
  }

  Value lowest() { return math.number(sampling.alignsCorners ? 0 : -0.5); }
  Value highest() {
    Value last = math.of(axis.last);
    return sampling.alignsCorners ? last : math.add(last, math.number(0.5));
  }
  Value clamped(Value place, Value low, Value high) {
    return math.lesser(math.greater(place, low), high);
  }

  /// Positions outside become those of the outer elements. Between an outer element's center and
  /// its border all taps of linear interpolation are that element, so that it is no matter whether
  /// a position there is moved; those of cubic interpolation are not.
  Value atBorder(Value place) {
    Value moved = clamped(place, math.number(0), math.of(axis.last));
    if (sampling.mode != GridMode::cubic || sampling.alignsCorners)
      return moved;
    Value above = math.compare(arith::CmpFPredicate::OGE, place, lowest());
    Value below = math.compare(arith::CmpFPredicate::OLE, place, highest());
    return math.select(indices.both(above, below), place, moved);
  }

  /// Positions outside are reflected at the borders until they are inside. Between borders at one
  /// place (a size of 1, corners aligned) that is this place.
  Value reflected(Value place) {
    Value low = lowest(), high = highest(), zero = math.number(0);
    Value range = math.sub(high, low);
    Value below = math.sub(low, place), above = math.sub(place, high);
    Value distance = math.greater(below, above);
    Value times = b.create<math::TruncOp>(loc, math.div(distance, range));
    Value rest = math.sub(distance, math.mul(times, range));
    Value half = math.mul(times, math.number(0.5));
    Value isOdd = math.compare(arith::CmpFPredicate::ONE, half, math.floor(half));
    Value isBelow = math.compare(arith::CmpFPredicate::OGT, below, zero);
    Value fromLow = b.create<arith::XOrIOp>(loc, isBelow, isOdd);
    Value moved = math.select(fromLow, math.add(low, rest), math.sub(high, rest));
    Value isOutside = math.compare(arith::CmpFPredicate::OGT, distance, zero);
    // Far away `rest` has no bits left that say anything; NaN is where the range is 0.
    return clamped(math.select(isOutside, moved, place), low, high);
  }

  Value next(Value index, int64_t by) { return indices.add(index, b.getIndexAttr(by)); }

  /// The tap at an index, which may be outside of X by the reach of the mode.
  WeightedTap tap(Value index, Value weight) {
    switch (sampling.padding) {
    case GridPadding::zeros:
      return {indices.clamp(index, axis.size), weight,
              isInside(b, loc, index, bodyValue(b, loc, axis.size))};
    case GridPadding::border:
      break;
    case GridPadding::reflection:
      if (sampling.mode != GridMode::nearest)
        index = reflectedIndex(index);
    }
    return {indices.clamp(index, axis.size), weight};
  }

  /// Once is enough: in a size so small that a second time were needed, the tap's weight is 0, or
  /// there is one element only.
  Value reflectedIndex(Value index) {
    int64_t low = sampling.alignsCorners ? 0 : -1; // the sum of an index and its reflection
    Value size = bodyValue(b, loc, axis.size);
    Value high = indices.sub(indices.add(size, axis.size), b.getIndexAttr(low + 2));
    Value atLow = b.create<arith::SubIOp>(loc, indexConstant(b, loc, low), index);
    index = b.create<arith::MaxSIOp>(loc, index, atLow);
    Value atHigh = b.create<arith::SubIOp>(loc, high, index);
    return b.create<arith::MinSIOp>(loc, index, atHigh);
  }

  OpBuilder &b;
  Location loc;
  const GridSampling &sampling;
  const GridAxis &axis;
  FloatMath math;
  IndexMath indices;
};
} // namespace

/// The type that elements are summed in: integers are computed as floats that have all of them, as
/// far as there are any.
static Type interpolatedIn(OpBuilder &b, Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  bool wide = type.isF64() || (integer && integer.getWidth() >= 32);
  return wide ? Type(b.getF64Type()) : Type(b.getF32Type());
}

static LogicalResult lowerGridSample(Operation *op, Lowering &l) {
  FailureOr<Sizes> inferred = l.infer(op);
  if (failed(inferred))
    return failure();
  const Sizes &sizes = *inferred;
  Lowered x = l.operand(op, 0), grid = l.operand(op, 1);
  GridSampling sampling = samplingOf(cast<onnx::GridSampleOp>(op), x, l);
  int64_t spatial = sampling.axes.size();
  Type type = x.elementType;
  Value result = l.build.compute(
      op->getLoc(), sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Type real = grid.elementType.isF64() ? Type(b.getF64Type()) : Type(b.getF32Type());
        SmallVector<Value> place{at[0]};
        llvm::append_range(place, at.drop_front(2));
        place.push_back({});
        SmallVector<AxisTaps> taps;
        for (auto [i, axis] : llvm::enumerate(sampling.axes)) {
          place.back() = indexConstant(b, loc, spatial - 1 - i);
          Value coordinate = b.create<tensor::ExtractOp>(loc, grid.tensor, place);
          coordinate = convertScalar(b, loc, coordinate, grid.elementType, real);
          taps.push_back(AxisSampler(b, loc, sampling, axis, real).taps(coordinate));
        }
        if (sampling.mode != GridMode::nearest) {
          Type sumType = interpolatedIn(b, type);
          Value sum = weightedSum(b, loc, x, at.take_front(2), taps, sumType);
          return convertScalar(b, loc, sum, sumType, type);
        }
        SmallVector<Value> source(at.take_front(2));
        Value inside;
        IndexMath indices(b, loc);
        for (const AxisTaps &nearest : taps) {
          source.push_back(nearest[0].index);
          inside = indices.both(inside, nearest[0].inside);
        }
        Value element = indices.element(x, source);
        return inside ? indices.select(inside, element, scalarConstant(b, loc, signless(type), 0))
                      : element;
      });
  l.define(op, 0, result, sizes, type);
  return success();
}

void registerGridSample(LoweringRows &rows) { rows.add<onnx::GridSampleOp>({lowerGridSample}); }

} // namespace cameo
