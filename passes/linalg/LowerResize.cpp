// Resize: each element from the elements around the place it comes from.
//
//   x_original = (x + shift) * numerator / denominator + offset, in single precision
//
// Sizes, scales and these four numbers are plan arithmetic; the body computes the place along each
// resized dimension and either reads the nearest element or sums the weighted neighbours, dimension
// within dimension. Semantics follow the operator's reference implementation: neighbours outside of
// the input are its edge, unless exclude_outside drops them.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Resizes.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/FloatMath.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/Interpolation.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace cameo {

namespace {
enum class Interpolation { nearest, linear, cubic };
enum class Nearest { roundPreferFloor, roundPreferCeil, floor, ceil };

/// One dimension that is resized.
struct ResizedAxis {
  int64_t axis;
  OpFoldResult size;                                  // of the input
  OpFoldResult shift, numerator, denominator, offset; // host floats
  OpFoldResult taps, firstTap;                        // neighbours, and the first one's distance
  OpFoldResult density;                               // min(scale, 1) under antialias, else 1
};

struct ResizePlan {
  Interpolation mode;
  Nearest nearest;
  double cubic;
  bool antialias, excludeOutside, normalized, extrapolates;
  double extrapolation;
  Sizes sizes;
  SmallVector<ResizedAxis> axes;
};
} // namespace

/// Fills in where elements come from along an axis.
///
/// What the specification calls length_resized is the result's size, also where scale times size is
/// no whole number. align_corners alone takes that number, as ONNX's backend tests do: ONNX Runtime
/// gives other results there (resize_downsample_scales_linear_align_corners).
static void coordinates(Lowering &l, StringRef mode, OpFoldResult scale, OpFoldResult resultSize,
                        OpFoldResult roiStart, OpFoldResult roiEnd, ResizedAxis &axis) {
  OpFoldResult zero = l.plan.floating(0), one = l.plan.floating(1), half = l.plan.floating(0.5);
  OpFoldResult size = l.plan.toFloat(axis.size), last = l.plan.fsub(size, one);
  OpFoldResult width = l.plan.fmul(scale, size); // of the result, before it was cut to an integer
  OpFoldResult single = l.plan.equal(resultSize, l.plan.index(1));
  axis.shift = zero;
  axis.numerator = one;
  axis.denominator = scale;
  axis.offset = zero;
  if (mode == "asymmetric")
    return;
  if (mode == "align_corners" || mode == "tf_crop_and_resize") {
    OpFoldResult span = last, length = width;
    if (mode == "tf_crop_and_resize") {
      span = l.plan.fmul(l.plan.fsub(roiEnd, roiStart), last);
      OpFoldResult start = l.plan.fmul(roiStart, last);
      axis.offset = l.plan.select(single, l.plan.fadd(start, l.plan.fmul(half, span)), start);
      length = l.plan.toFloat(resultSize);
    }
    axis.numerator = l.plan.select(single, zero, span);
    axis.denominator = l.plan.select(single, one, l.plan.fsub(length, one));
    return;
  }
  axis.shift = half;
  axis.offset = l.plan.floating(-0.5);
  if (mode == "half_pixel")
    return;
  if (mode == "pytorch_half_pixel") {
    axis.shift = l.plan.select(single, zero, axis.shift);
    axis.offset = l.plan.select(single, zero, axis.offset);
    return;
  }
  if (mode == "half_pixel_symmetric") {
    OpFoldResult adjustment = l.plan.fdiv(l.plan.toFloat(resultSize), width);
    OpFoldResult center = l.plan.fmul(size, half);
    axis.offset = l.plan.fsub(l.plan.fmul(center, l.plan.fsub(one, adjustment)), half);
  }
}

/// What the operator's attributes say. The op's verifier lets no other modes pass.
static ResizePlan attributesOf(onnx::ResizeOp op) {
  ResizePlan plan;
  plan.mode = llvm::StringSwitch<Interpolation>(op.getMode())
                  .Case("nearest", Interpolation::nearest)
                  .Case("linear", Interpolation::linear)
                  .Default(Interpolation::cubic);
  plan.nearest = llvm::StringSwitch<Nearest>(op.getNearestMode())
                     .Case("round_prefer_floor", Nearest::roundPreferFloor)
                     .Case("round_prefer_ceil", Nearest::roundPreferCeil)
                     .Case("floor", Nearest::floor)
                     .Default(Nearest::ceil);
  bool interpolates = plan.mode != Interpolation::nearest;
  plan.cubic = op.getCubicCoeffA().convertToDouble();
  plan.antialias = op.getAntialias() != 0 && interpolates;
  plan.excludeOutside = op.getExcludeOutside() != 0 && interpolates;
  plan.normalized = plan.excludeOutside || plan.antialias;
  plan.extrapolates = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
  plan.extrapolation = op.getExtrapolationValue().convertToDouble();
  return plan;
}

/// Neighbours at floor(x) + firstTap and on: as far as the weights reach.
static void countTaps(Lowering &l, const ResizePlan &plan, OpFoldResult scale, ResizedAxis &axis) {
  int64_t reach = plan.mode == Interpolation::cubic ? 2 : 1;
  OpFoldResult one = l.plan.floating(1), two = l.plan.index(2);
  axis.density = plan.antialias ? onnx::lesser(l.plan, scale, one) : one;
  OpFoldResult before = l.plan.ffloor(l.plan.fdiv(l.plan.floating(-reach), axis.density));
  axis.firstTap = l.plan.add(l.plan.toInteger(before), l.plan.index(1));
  axis.taps = l.plan.sub(two, l.plan.mul(two, axis.firstTap));
}

static FailureOr<ResizePlan> planResize(onnx::ResizeOp op, Lowering &l) {
  FailureOr<onnx::ResizeShape> shape = onnx::inferResize(l.shapes, op);
  if (failed(shape))
    return failure();
  ResizePlan plan = attributesOf(op);
  plan.sizes = shape->result;
  Sizes old = l.operand(op, 0).sizes;
  for (auto [number, at] : llvm::enumerate(shape->axes)) {
    OpFoldResult one = l.plan.floating(1), start = l.plan.floating(0), end = one;
    if (plan.extrapolates) {
      start = shape->roi[number];
      end = shape->roi[number + shape->axes.size()];
    }
    OpFoldResult scale = shape->scales[at];
    bool same = scale == one && plan.sizes[at] == old[at];
    if (same && start == l.plan.floating(0) && end == one)
      continue;
    ResizedAxis axis{};
    axis.axis = at;
    axis.size = old[at];
    coordinates(l, op.getCoordinateTransformationMode(), scale, plan.sizes[at], start, end, axis);
    countTaps(l, plan, scale, axis);
    plan.axes.push_back(axis);
  }
  return plan;
}

//===-- Bodies --------------------------------------------------------------------------------===//

/// Where element `x` of the result comes from.
static Value original(FloatMath &math, const ResizedAxis &axis, Value x) {
  Value place = math.fromIndex(x);
  if (!isNumber(axis.shift, 0))
    place = math.add(place, math.of(axis.shift));
  if (!isNumber(axis.numerator, 1))
    place = math.mul(place, math.of(axis.numerator));
  if (!isNumber(axis.denominator, 1))
    place = math.div(place, math.of(axis.denominator));
  if (!isNumber(axis.offset, 0))
    place = math.add(place, math.of(axis.offset));
  return place;
}

static Value nearestIndex(OpBuilder &b, Location loc, Nearest mode, Value place) {
  FloatMath math(b, loc, place.getType());
  Value half = math.number(0.5), rounded;
  switch (mode) {
  case Nearest::roundPreferFloor:
    rounded = b.create<math::CeilOp>(loc, math.sub(place, half));
    break;
  case Nearest::roundPreferCeil:
    rounded = b.create<math::FloorOp>(loc, math.add(place, half));
    break;
  case Nearest::floor:
    rounded = b.create<math::FloorOp>(loc, place);
    break;
  case Nearest::ceil:
    rounded = b.create<math::CeilOp>(loc, place);
    break;
  }
  return math.toIndex(rounded);
}

/// The weight of a neighbour at a distance.
static Value weight(OpBuilder &b, Location loc, const ResizePlan &plan, Value distance) {
  FloatMath math(b, loc, distance.getType());
  Value x = b.create<math::AbsFOp>(loc, distance), zero = math.number(0);
  if (plan.mode == Interpolation::linear)
    return b.create<arith::MaximumFOp>(loc, math.sub(math.number(1), x), zero);
  Value near = cubicNear(math, x, plan.cubic), far = cubicFar(math, x, plan.cubic);
  Value isNear = math.compare(arith::CmpFPredicate::OLE, x, math.number(1));
  Value isFar = math.compare(arith::CmpFPredicate::OLT, x, math.number(2));
  return math.select(isNear, near, math.select(isFar, far, zero));
}

namespace {
/// The weighted sum over the neighbours, one dimension within the other.
struct Interpolator {
  const ResizePlan &plan;
  const Lowered &data;
  Type sumType;
  SmallVector<Value> places; // one a resized axis
  bool unrolled;

  /// The sum over the axes from `number` on, at `source` along the others.
  Value sum(OpBuilder &b, Location loc, size_t number, SmallVector<Value> source) {
    if (number == plan.axes.size()) {
      Value element = b.create<tensor::ExtractOp>(loc, data.tensor, source);
      return convertScalar(b, loc, element, data.elementType, sumType);
    }
    const ResizedAxis &axis = plan.axes[number];
    FloatMath math(b, loc, places[number].getType());
    Value floor = b.create<math::FloorOp>(loc, places[number]);
    Value base = math.toIndex(floor), fraction = math.sub(places[number], floor);
    Value total = scalarConstant(b, loc, sumType, 0), weights = total;
    if (unrolled) {
      int64_t first = *getConstantIntValue(axis.firstTap);
      for (int64_t tap = first, end = first + *getConstantIntValue(axis.taps); tap < end; ++tap)
        std::tie(total, weights) = addTap(b, loc, number, source, base, fraction,
                                          indexConstant(b, loc, tap), total, weights);
    } else {
      Value lower = bodyValue(b, loc, axis.firstTap);
      Value upper = b.create<arith::AddIOp>(loc, lower, bodyValue(b, loc, axis.taps));
      auto loop = b.create<scf::ForOp>(
          loc, lower, upper, indexConstant(b, loc, 1), ValueRange{total, weights},
          [&](OpBuilder &inner, Location at, Value tap, ValueRange carried) {
            auto next =
                addTap(inner, at, number, source, base, fraction, tap, carried[0], carried[1]);
            inner.create<scf::YieldOp>(at, ValueRange{next.first, next.second});
          });
      total = loop.getResult(0);
      weights = loop.getResult(1);
    }
    if (plan.normalized)
      total = b.create<arith::DivFOp>(loc, total, weights);
    return total;
  }

  std::pair<Value, Value> addTap(OpBuilder &b, Location loc, size_t number,
                                 SmallVector<Value> source, Value base, Value fraction, Value tap,
                                 Value total, Value weights) {
    const ResizedAxis &axis = plan.axes[number];
    FloatMath math(b, loc, fraction.getType());
    IndexMath indices(b, loc);
    Value distance = math.sub(math.fromIndex(tap), fraction);
    if (!isNumber(axis.density, 1))
      distance = math.mul(distance, math.of(axis.density));
    Value factor = weight(b, loc, plan, distance);
    Value at = indices.add(base, tap);
    if (plan.excludeOutside)
      factor = math.select(indices.inside(at, axis.size), factor, math.number(0));
    factor = convertScalar(b, loc, factor, fraction.getType(), sumType);
    source[axis.axis] = indices.clamp(at, axis.size);
    Value element = sum(b, loc, number + 1, source);
    Value sumNow = b.create<math::FmaOp>(loc, factor, element, total);
    return {sumNow,
            plan.normalized ? Value(b.create<arith::AddFOp>(loc, weights, factor)) : weights};
  }
};
} // namespace

/// Rounds to the nearest integer, ties to even, and saturates; floats are converted.
static Value roundedTo(OpBuilder &b, Location loc, Value x, Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() == 1)
    return convertScalar(b, loc, x, x.getType(), type);
  x = b.create<math::RoundEvenOp>(loc, x);
  if (integer.getWidth() < 32) {
    double span = std::ldexp(1.0, integer.getWidth());
    double low = integer.isUnsigned() ? 0 : -span / 2, high = low + span - 1;
    x = b.create<arith::MaximumFOp>(loc, x, scalarConstant(b, loc, x.getType(), low));
    x = b.create<arith::MinimumFOp>(loc, x, scalarConstant(b, loc, x.getType(), high));
  }
  return convertScalar(b, loc, x, x.getType(), type);
}

static LogicalResult lowerResize(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  FailureOr<ResizePlan> planned = planResize(cast<onnx::ResizeOp>(op), l);
  if (failed(planned))
    return failure();
  const ResizePlan &plan = *planned;
  if (plan.axes.empty()) {
    l.define(op, 0, data);
    return success();
  }
  Type type = data.elementType;
  // Few neighbours, whose number is known, are written out.
  int64_t neighbours = 1;
  for (const ResizedAxis &axis : plan.axes) {
    std::optional<int64_t> taps = getConstantIntValue(axis.taps);
    neighbours = taps && neighbours <= 16 ? neighbours * *taps : 17;
  }
  Value result = l.build.compute(
      op->getLoc(), plan.sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        FloatMath math(b, loc, b.getF32Type());
        IndexMath indices(b, loc);
        SmallVector<Value> source(at.begin(), at.end()), places;
        Value inside;
        for (const ResizedAxis &axis : plan.axes) {
          Value place = original(math, axis, at[axis.axis]);
          places.push_back(place);
          if (plan.extrapolates) {
            Value last = math.of(l.plan.toFloat(l.plan.sub(axis.size, l.plan.index(1))));
            inside = indices.both(inside,
                                  math.compare(arith::CmpFPredicate::OGE, place, math.number(0)));
            inside = indices.both(inside, math.compare(arith::CmpFPredicate::OLE, place, last));
          }
        }
        Value element;
        if (plan.mode == Interpolation::nearest) {
          for (auto [axis, place] : llvm::zip(plan.axes, places))
            source[axis.axis] = indices.clamp(nearestIndex(b, loc, plan.nearest, place), axis.size);
          element = indices.element(data, source);
        } else {
          Type sumType = type.isF64() ? Type(b.getF64Type()) : Type(b.getF32Type());
          Interpolator interpolator{plan, data, sumType, places, neighbours <= 16};
          element = roundedTo(b, loc, interpolator.sum(b, loc, 0, source), type);
        }
        if (!inside)
          return element;
        Value outside = scalarConstant(b, loc, b.getF32Type(), plan.extrapolation);
        return math.select(inside, element, roundedTo(b, loc, outside, type));
      });
  l.define(op, 0, result, plan.sizes, type);
  return success();
}

void registerResizeOperators(LoweringRows &rows) {
  rows.add<onnx::ResizeOp>({lowerResize, "scales, sizes and roi known on the host"});
}

} // namespace cameo
