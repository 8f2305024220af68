// Interpolation between elements inside dispatches.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Interpolation.h"

#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"

using namespace mlir;

namespace cameo {

Value cubicNear(FloatMath &math, Value x, double a) {
  Value weight = math.fma(math.number(a + 2), x, math.number(-(a + 3)));
  return math.fma(math.mul(weight, x), x, math.number(1));
}

Value cubicFar(FloatMath &math, Value x, double a) {
  Value weight = math.fma(math.number(a), x, math.number(-5 * a));
  weight = math.fma(weight, x, math.number(8 * a));
  return math.fma(weight, x, math.number(-4 * a));
}

Value nearInput(FloatMath &math, Value place, int64_t reach, OpFoldResult size) {
  Value end = math.add(math.of(size), math.number(reach - 1));
  return math.lesser(math.greater(place, math.number(-1 - reach)), end);
}

AxisTaps linearTaps(OpBuilder &b, Location loc, Value place, OpFoldResult size) {
  FloatMath math(b, loc, place.getType());
  IndexMath indices(b, loc);
  Value floor = math.floor(place), fraction = math.sub(place, floor);
  Value first = math.toSmallIndex(floor), second = indices.add(first, b.getIndexAttr(1));
  Value extent = bodyValue(b, loc, size);
  return {{indices.clamp(first, size), math.sub(math.number(1), fraction),
           isInside(b, loc, first, extent)},
          {indices.clamp(second, size), fraction, isInside(b, loc, second, extent)}};
}

namespace {
/// The sum over the dimensions from one on. Each is chosen or left out as a whole, by the tap of
/// the dimension before: a row outside of the tensor is one selection.
struct WeightedSum {
  const Lowered &data;
  ArrayRef<AxisTaps> taps;
  Type sumType;

  Value from(OpBuilder &b, Location loc, size_t dim, SmallVector<Value> source) const {
    if (dim == taps.size()) {
      Value element = b.create<tensor::ExtractOp>(loc, data.tensor, source);
      return convertScalar(b, loc, element, data.elementType, sumType);
    }
    Value total;
    source.push_back({});
    for (const WeightedTap &tap : taps[dim]) {
      source.back() = tap.index;
      Value part = from(b, loc, dim + 1, source);
      if (tap.inside)
        part = b.create<arith::SelectOp>(loc, tap.inside, part, scalarConstant(b, loc, sumType, 0));
      if (tap.weight) {
        Value weight = convertScalar(b, loc, tap.weight, tap.weight.getType(), sumType);
        part = total ? Value(b.create<math::FmaOp>(loc, weight, part, total))
                     : Value(b.create<arith::MulFOp>(loc, weight, part));
      }
      total = part;
    }
    return total;
  }
};
} // namespace

Value weightedSum(OpBuilder &b, Location loc, const Lowered &data, ValueRange lead,
                  ArrayRef<AxisTaps> taps, Type sumType) {
  return WeightedSum{data, taps, sumType}.from(b, loc, 0, SmallVector<Value>(lead));
}

} // namespace cameo
