// Taps of windows inside dispatches.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/WindowTaps.h"

using namespace mlir;

namespace cameo {

Value tapIndex(OpBuilder &b, Location loc, const Window &window, Value o, Value k) {
  auto scaled = [&](Value value, int64_t factor) -> Value {
    if (factor == 1)
      return value;
    return b.create<arith::MulIOp>(loc, value, indexConstant(b, loc, factor));
  };
  Value index = b.create<arith::AddIOp>(loc, scaled(o, window.stride), scaled(k, window.dilation));
  if (isConstantIntValue(window.before, 0))
    return index;
  return b.create<arith::SubIOp>(loc, index, bodyValue(b, loc, window.before));
}

bool alwaysInside(const Window &window) {
  if (!isConstantIntValue(window.before, 0))
    return false;
  if (isConstantIntValue(window.after, 0)) {
    // Without padding, only rounding the count up leaves the input; then all must be known.
    std::optional<int64_t> count = getConstantIntValue(window.count);
    std::optional<int64_t> kernel = getConstantIntValue(window.kernel);
    std::optional<int64_t> input = getConstantIntValue(window.input);
    return count && kernel && input &&
           (*count - 1) * window.stride + (*kernel - 1) * window.dilation < *input;
  }
  return false;
}

Value tapsInside(OpBuilder &b, Location loc, const Window &window, Value o, OpFoldResult low,
                 OpFoldResult high) {
  Value zero = indexConstant(b, loc, 0);
  Value dilation = indexConstant(b, loc, window.dilation);
  Value first = tapIndex(b, loc, window, o, zero);
  // Taps k with first + k * dilation in [-low, input + high).
  auto tapsBefore = [&](Value bound) -> Value {
    Value distance =
        b.create<arith::MaxSIOp>(loc, b.create<arith::SubIOp>(loc, bound, first), zero);
    Value rounded =
        b.create<arith::AddIOp>(loc, distance, indexConstant(b, loc, window.dilation - 1));
    Value taps = window.dilation == 1
                     ? distance
                     : b.create<arith::DivUIOp>(loc, rounded, dilation).getResult();
    return b.create<arith::MinSIOp>(loc, taps, bodyValue(b, loc, window.kernel));
  };
  Value begin = b.create<arith::SubIOp>(loc, zero, bodyValue(b, loc, low));
  Value end =
      b.create<arith::AddIOp>(loc, bodyValue(b, loc, window.input), bodyValue(b, loc, high));
  return b.create<arith::SubIOp>(loc, tapsBefore(end), tapsBefore(begin));
}

} // namespace cameo
