// Geometry of windows: result sizes, padding and the indices of taps.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Windows.h"

using namespace mlir;

namespace cameo {

static OpFoldResult extent(Lowering &l, const Window &window) {
  OpFoldResult last = l.mul(l.sub(window.kernel, l.index(1)), l.index(window.dilation));
  return l.add(last, l.index(1));
}

FailureOr<WindowAttributes> windowAttributes(Lowering &l, Operation *op, int64_t spatial) {
  // Far beyond any tensor, and products with a size still fit 64 bits.
  constexpr int64_t kMostStep = std::numeric_limits<int32_t>::max();
  auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  WindowAttributes result{
      intsAttribute(op, "strides", spatial, 1), intsAttribute(op, "dilations", spatial, 1),
      intsAttribute(op, "pads", 2 * spatial, 0), mode ? mode.getValue() : "NOTSET"};
  auto problem = [&](StringRef name, ArrayRef<int64_t> values, int64_t count) {
    if (static_cast<int64_t>(values.size()) != count)
      return failed(l.unsupported(op, name + " holds " + Twine(values.size()) + " numbers for " +
                                          Twine(spatial) + " spatial dimensions; " + Twine(count) +
                                          " are needed"));
    for (int64_t value : values)
      if (value > kMostStep)
        return failed(l.unsupported(op, name + " has a value of " + Twine(value) + "; at most " +
                                            Twine(kMostStep) + " is supported"));
    return false;
  };
  if (problem("strides", result.strides, spatial) ||
      problem("dilations", result.dilations, spatial) || problem("pads", result.pads, 2 * spatial))
    return failure();
  return result;
}

LogicalResult checkKernelShape(Lowering &l, Operation *op, ArrayRef<OpFoldResult> kernel) {
  SmallVector<int64_t> said = intsAttribute(op, "kernel_shape", 0, 0);
  if (said.empty())
    return success();
  if (said.size() != kernel.size())
    return l.unsupported(op, "kernel_shape holds " + Twine(said.size()) + " numbers, the weights " +
                                 "have " + Twine(kernel.size()) + " spatial dimensions");
  for (auto [size, known] : llvm::zip(said, kernel))
    if (failed(l.check(op, l.equal(l.index(size), known),
                       "kernel_shape has a size of {0}, the weights one of {1}", l.index(size),
                       known)))
      return failure();
  return success();
}

FailureOr<Windows> slidingWindows(Lowering &l, Operation *op, const Lowered &x,
                                  ArrayRef<OpFoldResult> kernel) {
  int64_t spatial = x.rank() - 2;
  if (spatial < 1 || static_cast<int64_t>(kernel.size()) != spatial)
    return l.unsupported(op, "kernel_shape holds " + Twine(kernel.size()) +
                                 " numbers for an input of rank " + Twine(x.rank()) +
                                 "; rank 3 or more and a number for each dimension after the "
                                 "second are needed");
  FailureOr<WindowAttributes> attributes = windowAttributes(l, op, spatial);
  if (failed(attributes))
    return failure();
  auto &[strides, dilations, pads, autoPad] = *attributes;
  bool ceil = intAttribute(op, "ceil_mode", 0) != 0;

  Windows windows;
  OpFoldResult zero = l.index(0), one = l.index(1);
  for (int64_t i = 0; i < spatial; ++i) {
    Window window{kernel[i], strides[i], dilations[i], x.sizes[2 + i], zero, zero, zero};
    OpFoldResult stride = l.index(strides[i]), size = extent(l, window);
    if (attributes->same()) {
      window.count = l.ceilDiv(window.input, stride);
      OpFoldResult last = l.mul(l.sub(window.count, one), stride);
      OpFoldResult total = l.max(l.sub(l.add(last, size), window.input), zero);
      OpFoldResult less = l.floorDiv(total, l.index(2)), more = l.sub(total, less);
      window.before = autoPad == "SAME_UPPER" ? less : more;
      window.after = autoPad == "SAME_UPPER" ? more : less;
    } else {
      if (autoPad == "NOTSET") {
        window.before = l.index(pads[i]);
        window.after = l.index(pads[spatial + i]);
      }
      OpFoldResult padded = l.add(window.input, l.index(pads[i] + pads[spatial + i]));
      if (autoPad == "VALID")
        padded = window.input;
      OpFoldResult room = l.sub(padded, size);
      OpFoldResult steps = ceil ? l.ceilDiv(room, stride) : l.floorDiv(room, stride);
      if (ceil) {
        // No window begins in the padding after the input.
        OpFoldResult begin = l.mul(steps, stride);
        OpFoldResult fits = l.less(begin, l.add(window.input, window.before));
        steps = l.select(fits, steps, l.sub(steps, one));
      }
      if (failed(l.check(op, l.less(l.index(-1), steps),
                         "a window of {0} elements is larger than the padded input of {1}", size,
                         padded)))
        return failure();
      window.count = l.max(l.add(steps, one), zero);
    }
    windows.push_back(window);
  }
  return windows;
}

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
