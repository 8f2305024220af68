// Geometry of windows: result sizes, padding and the indices of taps.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Windows.h"

using namespace mlir;

namespace cameo {

/// From the first to the last tap.
static OpFoldResult reach(Lowering &l, const Window &window) {
  return l.plan.mul(l.plan.sub(window.kernel, l.plan.index(1)), l.plan.index(window.dilation));
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
    if (failed(l.plan.check(op, l.plan.equal(l.plan.index(size), known),
                            "kernel_shape has a size of {0}, the weights one of {1}",
                            l.plan.index(size), known)))
      return failure();
  return success();
}

/// Shares `total` elements of padding between both ends as auto_pad has it.
static void padSame(Lowering &l, Window &window, OpFoldResult total, StringRef autoPad) {
  OpFoldResult less = l.plan.floorDiv(total, l.plan.index(2)), more = l.plan.sub(total, less);
  window.before = autoPad == "SAME_UPPER" ? less : more;
  window.after = autoPad == "SAME_UPPER" ? more : less;
}

/// How often the window fits, beginning with the first tap at -before; reported or checked to be
/// once at least.
static LogicalResult countWindows(Lowering &l, Operation *op, Window &window) {
  OpFoldResult stride = l.plan.index(window.stride), one = l.plan.index(1);
  OpFoldResult size = l.plan.add(reach(l, window), one);
  OpFoldResult padded = l.plan.add(window.input, l.plan.add(window.before, window.after));
  OpFoldResult room = l.plan.sub(padded, size), steps;
  if (intAttribute(op, "ceil_mode", 0) != 0) {
    steps = l.plan.ceilDiv(room, stride);
    // No window begins in the padding after the input.
    OpFoldResult begin = l.plan.mul(steps, stride);
    OpFoldResult fits = l.plan.less(begin, l.plan.add(window.input, window.before));
    steps = l.plan.select(fits, steps, l.plan.sub(steps, one));
  } else {
    steps = l.plan.floorDiv(room, stride);
  }
  if (failed(l.plan.check(op, l.plan.less(l.plan.index(-1), steps),
                          "a window of {0} elements is larger than the padded input of {1}", size,
                          padded)))
    return failure();
  window.count = l.plan.add(steps, one);
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

  Windows windows;
  OpFoldResult zero = l.plan.index(0), one = l.plan.index(1);
  for (int64_t i = 0; i < spatial; ++i) {
    Window window{kernel[i], strides[i], dilations[i], x.sizes[2 + i], zero, zero, zero};
    if (attributes->same()) {
      OpFoldResult stride = l.plan.index(strides[i]);
      window.count = l.plan.ceilDiv(window.input, stride);
      OpFoldResult last = l.plan.mul(l.plan.sub(window.count, one), stride);
      OpFoldResult size = l.plan.add(reach(l, window), one);
      padSame(l, window, l.plan.max(l.plan.sub(l.plan.add(last, size), window.input), zero),
              autoPad);
    } else {
      if (autoPad == "NOTSET") {
        window.before = l.plan.index(pads[i]);
        window.after = l.plan.index(pads[spatial + i]);
      }
      if (failed(countWindows(l, op, window)))
        return failure();
    }
    windows.push_back(window);
  }
  return windows;
}

namespace {
/// What ConvTranspose says of its result beside the windows' attributes, checked.
struct ResultAttributes {
  SmallVector<int64_t> padding; // output_padding
  SmallVector<int64_t> shape;   // output_shape without N and C; empty where it is not given
};
} // namespace

static FailureOr<ResultAttributes> resultAttributes(Lowering &l, Operation *op, int64_t spatial,
                                                    const WindowAttributes &windows) {
  ResultAttributes result{intsAttribute(op, "output_padding", spatial, 0),
                          intsAttribute(op, "output_shape", 0, 0)};
  auto &[extra, shape] = result;
  if (static_cast<int64_t>(shape.size()) == spatial + 2)
    shape.erase(shape.begin(), shape.begin() + 2);
  for (auto &[name, values] :
       {std::pair("output_padding", &extra), std::pair("output_shape", &shape)}) {
    if (!values->empty() && static_cast<int64_t>(values->size()) != spatial)
      return l.unsupported(op, Twine(name) + " holds " + Twine(values->size()) + " numbers for " +
                                   Twine(spatial) + " spatial dimensions");
    for (int64_t value : *values)
      if (value > std::numeric_limits<int32_t>::max())
        return l.unsupported(op, Twine(name) + " has a value of " + Twine(value) +
                                     "; at most 2147483647 is supported");
  }
  for (auto [more, stride, dilation] : llvm::zip(extra, windows.strides, windows.dilations))
    if (more >= std::max(stride, dilation))
      return l.unsupported(op, "output_padding has a value of " + Twine(more) +
                                   "; it must be less than the stride of " + Twine(stride) +
                                   " or the dilation of " + Twine(dilation));
  return result;
}

FailureOr<Windows> transposedWindows(Lowering &l, Operation *op, const Lowered &x,
                                     ArrayRef<OpFoldResult> kernel) {
  int64_t spatial = x.rank() - 2;
  FailureOr<WindowAttributes> attributes = windowAttributes(l, op, spatial);
  if (failed(attributes) || failed(checkKernelShape(l, op, kernel)))
    return failure();
  FailureOr<ResultAttributes> asked = resultAttributes(l, op, spatial, *attributes);
  if (failed(asked))
    return failure();
  auto &[strides, dilations, pads, autoPad] = *attributes;
  auto &[extra, shape] = *asked;
  bool padded = autoPad == "NOTSET";

  Windows windows;
  OpFoldResult zero = l.plan.index(0), one = l.plan.index(1);
  for (int64_t i = 0; i < spatial; ++i) {
    Window window{kernel[i], strides[i], dilations[i], zero, zero, zero, x.sizes[2 + i]};
    OpFoldResult stride = l.plan.index(strides[i]), taps = reach(l, window);
    OpFoldResult full =
        l.plan.add(l.plan.add(l.plan.mul(l.plan.sub(window.count, one), stride), taps),
                   l.plan.index(1 + extra[i]));
    if (!shape.empty() || attributes->same()) {
      window.input = shape.empty() ? l.plan.mul(window.count, stride) : l.plan.index(shape[i]);
      // What no window reaches is less than a stride, as between windows.
      OpFoldResult most = l.plan.add(full, stride);
      if (!shape.empty() &&
          failed(l.plan.check(op, l.plan.less(window.input, most),
                              "output_shape has a size of {0}; it must be less than {1}",
                              window.input, most)))
        return failure();
      padSame(l, window, l.plan.max(l.plan.sub(full, window.input), zero), autoPad);
    } else {
      window.before = l.plan.index(padded ? pads[i] : 0);
      window.after = l.plan.index(padded ? pads[spatial + i] : 0);
      OpFoldResult removed = l.plan.add(window.before, window.after);
      window.input = l.plan.max(l.plan.sub(full, removed), zero);
      if (removed != zero &&
          failed(l.plan.check(op, l.plan.less(removed, full), "pads take away {0} elements of {1}",
                              removed, full)))
        return failure();
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
