// Windows: result sizes and padding.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Windows.h"

#include "dialects/onnx/shape/Attributes.h"
#include "dialects/onnx/shape/ShapeRules.h"
#include "runtime/mutant.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace cameo::onnx {

/// From the first to the last tap.
static OpFoldResult reach(SizeBuilder &s, const Window &window) {
  return s.mul(s.sub(window.kernel, s.index(1)), s.index(window.dilation));
}

namespace {
/// What pools and convolutions say of their windows, checked.
struct WindowAttributes {
  SmallVector<int64_t> strides, dilations; // one a spatial dimension, 1 to kMostStep
  SmallVector<int64_t> pads;               // two a dimension, all the first ones first
  StringRef autoPad;                       // NOTSET, VALID, SAME_UPPER or SAME_LOWER
  bool same() const { return autoPad.starts_with("SAME"); }
};
} // namespace

static FailureOr<WindowAttributes> windowAttributes(SizeBuilder &s, Operation *op,
                                                    int64_t spatial) {
  // Far beyond any tensor, and products with a size still fit 64 bits.
  constexpr int64_t kMostStep = std::numeric_limits<int32_t>::max();
  auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  WindowAttributes result{
      intsAttribute(op, "strides", spatial, 1), intsAttribute(op, "dilations", spatial, 1),
      intsAttribute(op, "pads", 2 * spatial, 0), mode ? mode.getValue() : "NOTSET"};
  auto problem = [&](StringRef name, ArrayRef<int64_t> values, int64_t count) {
    if (static_cast<int64_t>(values.size()) != count)
      return failed(s.refuse(op, name + " holds " + Twine(values.size()) + " numbers for " +
                                     Twine(spatial) + " spatial dimensions; " + Twine(count) +
                                     " are needed"));
    for (int64_t value : values)
      if (value > kMostStep)
        return failed(s.refuse(op, name + " has a value of " + Twine(value) + "; at most " +
                                       Twine(kMostStep) + " is supported"));
    return false;
  };
  if (problem("strides", result.strides, spatial) ||
      problem("dilations", result.dilations, spatial) || problem("pads", result.pads, 2 * spatial))
    return failure();
  return result;
}

/// Reports or checks a kernel_shape that contradicts the weights' sizes.
static LogicalResult checkKernelShape(SizeBuilder &s, Operation *op,
                                      ArrayRef<OpFoldResult> kernel) {
  SmallVector<int64_t> said = intsAttribute(op, "kernel_shape", 0, 0);
  if (said.empty())
    return success();
  if (said.size() != kernel.size())
    return s.refuse(op, "kernel_shape holds " + Twine(said.size()) + " numbers, the weights " +
                            "have " + Twine(kernel.size()) + " spatial dimensions");
  for (auto [size, known] : llvm::zip(said, kernel))
    if (failed(s.check(op, s.equal(s.index(size), known),
                       "kernel_shape has a size of {0}, the weights one of {1}", s.index(size),
                       known)))
      return failure();
  return success();
}

/// Shares `total` elements of padding between both ends as auto_pad has it.
static void padSame(SizeBuilder &s, Window &window, OpFoldResult total, StringRef autoPad) {
  OpFoldResult less = s.floorDiv(total, s.index(2)), more = s.sub(total, less);
  window.before = autoPad == "SAME_UPPER" ? less : more;
  window.after = autoPad == "SAME_UPPER" ? more : less;
}

/// How often the window fits, beginning with the first tap at -before; reported or checked to be
/// once at least.
static LogicalResult countWindows(SizeBuilder &s, Operation *op, Window &window) {
  OpFoldResult stride = s.index(window.stride), one = s.index(1);
  OpFoldResult size = s.add(reach(s, window), one);
  OpFoldResult padded = s.add(window.input, s.add(window.before, window.after));
  OpFoldResult room = s.sub(padded, size), steps;
  if (intAttribute(op, "ceil_mode", 0) != 0) {
    steps = s.ceilDiv(room, stride);
    // No window begins in the padding after the input.
    OpFoldResult begin = s.mul(steps, stride);
    OpFoldResult fits = s.less(begin, s.add(window.input, window.before));
    steps = CAMEO_MUTANT(12, s.select(fits, steps, s.sub(steps, one)), steps);
  } else {
    steps = s.floorDiv(room, stride);
  }
  if (failed(s.check(op, s.less(s.index(-1), steps),
                     "a window of {0} elements is larger than the padded input of {1}", size,
                     padded)))
    return failure();
  window.count = s.add(steps, one);
  return success();
}

/// The windows of a pool or convolution over `x` [N, C, spatial...].
static FailureOr<Windows> slidingWindows(SizeBuilder &s, Operation *op, const Sizes &x,
                                         ArrayRef<OpFoldResult> kernel) {
  int64_t spatial = x.size() - 2;
  if (spatial < 1 || static_cast<int64_t>(kernel.size()) != spatial)
    return s.refuse(op, "kernel_shape holds " + Twine(kernel.size()) +
                            " numbers for an input of rank " + Twine(x.size()) +
                            "; rank 3 or more and a number for each dimension after the "
                            "second are needed");
  FailureOr<WindowAttributes> attributes = windowAttributes(s, op, spatial);
  if (failed(attributes))
    return failure();
  auto &[strides, dilations, pads, autoPad] = *attributes;

  Windows windows;
  OpFoldResult zero = s.index(0), one = s.index(1);
  for (int64_t i = 0; i < spatial; ++i) {
    Window window{kernel[i], strides[i], dilations[i], x[2 + i], zero, zero, zero};
    if (attributes->same()) {
      OpFoldResult stride = s.index(strides[i]);
      window.count = s.ceilDiv(window.input, stride);
      OpFoldResult last = s.mul(s.sub(window.count, one), stride);
      OpFoldResult size = s.add(reach(s, window), one);
      OpFoldResult total = s.sub(s.add(last, size), window.input);
      padSame(s, window, CAMEO_MUTANT(13, s.max(total, zero), total), autoPad);
    } else {
      if (autoPad == "NOTSET") {
        window.before = s.index(pads[i]);
        window.after = s.index(pads[spatial + i]);
      }
      if (failed(countWindows(s, op, window)))
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

static FailureOr<ResultAttributes> resultAttributes(SizeBuilder &s, Operation *op, int64_t spatial,
                                                    const WindowAttributes &windows) {
  ResultAttributes result{intsAttribute(op, "output_padding", spatial, 0),
                          intsAttribute(op, "output_shape", 0, 0)};
  auto &[extra, shape] = result;
  if (static_cast<int64_t>(shape.size()) == spatial + 2)
    shape.erase(shape.begin(), shape.begin() + 2);
  for (auto &[name, values] :
       {std::pair("output_padding", &extra), std::pair("output_shape", &shape)}) {
    if (!values->empty() && static_cast<int64_t>(values->size()) != spatial)
      return s.refuse(op, Twine(name) + " holds " + Twine(values->size()) + " numbers for " +
                              Twine(spatial) + " spatial dimensions");
    for (int64_t value : *values)
      if (value > std::numeric_limits<int32_t>::max())
        return s.refuse(op, Twine(name) + " has a value of " + Twine(value) +
                                "; at most 2147483647 is supported");
  }
  for (auto [more, stride, dilation] : llvm::zip(extra, windows.strides, windows.dilations))
    if (more >= std::max(stride, dilation))
      return s.refuse(op, "output_padding has a value of " + Twine(more) +
                              "; it must be less than the stride of " + Twine(stride) +
                              " or the dilation of " + Twine(dilation));
  return result;
}

/// The windows that slide over the result of a ConvTranspose of `x`.
static FailureOr<Windows> transposedWindows(SizeBuilder &s, Operation *op, const Sizes &x,
                                            ArrayRef<OpFoldResult> kernel) {
  int64_t spatial = x.size() - 2;
  FailureOr<WindowAttributes> attributes = windowAttributes(s, op, spatial);
  if (failed(attributes) || failed(checkKernelShape(s, op, kernel)))
    return failure();
  FailureOr<ResultAttributes> asked = resultAttributes(s, op, spatial, *attributes);
  if (failed(asked))
    return failure();
  auto &[strides, dilations, pads, autoPad] = *attributes;
  auto &[extra, shape] = *asked;
  bool padded = autoPad == "NOTSET";

  Windows windows;
  OpFoldResult zero = s.index(0), one = s.index(1);
  for (int64_t i = 0; i < spatial; ++i) {
    Window window{kernel[i], strides[i], dilations[i], zero, zero, zero, x[2 + i]};
    OpFoldResult stride = s.index(strides[i]), taps = reach(s, window);
    OpFoldResult full =
        s.add(s.add(s.mul(s.sub(window.count, one), stride), taps), s.index(1 + extra[i]));
    if (!shape.empty() || attributes->same()) {
      window.input = shape.empty() ? s.mul(window.count, stride) : s.index(shape[i]);
      // What no window reaches is less than a stride, as between windows.
      OpFoldResult most = s.add(full, stride);
      if (!shape.empty() &&
          failed(s.check(op, s.less(window.input, most),
                         "output_shape has a size of {0}; it must be less than {1}", window.input,
                         most)))
        return failure();
      if (shape.empty())
        window.more = 0;
      padSame(s, window, s.max(s.sub(full, window.input), zero), autoPad);
    } else {
      window.before = s.index(padded ? pads[i] : 0);
      window.after = s.index(padded ? pads[spatial + i] : 0);
      OpFoldResult removed = s.add(window.before, window.after);
      window.input = s.max(s.sub(full, removed), zero);
      if (removed != zero && failed(s.check(op, s.less(removed, full),
                                            "pads take away {0} elements of {1}", removed, full)))
        return failure();
      // The check makes `input` of a known kernel linear in `count`.
      if (std::optional<int64_t> last = getConstantIntValue(taps))
        window.more = *last + 1 + extra[i] - strides[i] - *getConstantIntValue(removed);
    }
    std::optional<int64_t> input = getConstantIntValue(window.input);
    std::optional<int64_t> count = getConstantIntValue(window.count);
    if (input && count)
      window.more = *input - *count * strides[i];
    windows.push_back(window);
  }
  return windows;
}

//===-- Convolutions --------------------------------------------------------------------------===//

static LogicalResult checkBias(SizeBuilder &s, Operation *op, const Sizes &bias, OpFoldResult count,
                               StringRef what) {
  if (bias.size() != 1)
    return s.refuse(op, "the bias has rank " + Twine(bias.size()) + ", needs 1");
  return s.check(op, s.equal(bias[0], count), "the bias has {0} values for {1} " + what, bias[0],
                 count);
}

/// Reports or checks channels, filters and groups that do not go together.
static LogicalResult checkConvChannels(SizeBuilder &s, Operation *op, const Sizes &x,
                                       const Sizes &w, int64_t group) {
  OpFoldResult groups = s.index(group), channels = s.mul(w[1], groups);
  if (channels != x[1] &&
      failed(s.check(op, s.equal(channels, x[1]),
                     group > 1 ? "the weights and group take {0} channels, the input has {1}"
                               : "the weights take {0} channels, the input has {1}",
                     channels, x[1])))
    return failure();
  return s.check(op, s.equal(s.rem(w[0], groups), s.index(0)),
                 "{0} filters are not a multiple of group {1}", w[0], groups);
}

FailureOr<WindowShape> inferConv(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0], &w = operands[1];
  if (x.size() < 3 || w.size() != x.size())
    return s.refuse(op, "X of rank " + Twine(x.size()) + ", W of rank " + Twine(w.size()) +
                            "; both need one rank of 3 or more");
  ArrayRef<OpFoldResult> kernel = ArrayRef(w).drop_front(2);
  if (failed(checkKernelShape(s, op, kernel)) ||
      failed(checkConvChannels(s, op, x, w, intAttribute(op, "group", 1))) ||
      (operands.size() > 2 && failed(checkBias(s, op, operands[2], w[0], "filters"))))
    return failure();
  FailureOr<Windows> windows = slidingWindows(s, op, x, kernel);
  if (failed(windows))
    return failure();
  Sizes result{x[0], w[0]};
  for (const Window &window : *windows)
    result.push_back(window.count);
  return WindowShape{*windows, result};
}

/// Reports or checks sizes of a DeformConv's offsets or mask, `perTap` channels of which are of one
/// tap in one group.
static LogicalResult checkPerTap(SizeBuilder &s, Operation *op, const Sizes &sizes,
                                 const WindowShape &shape, ArrayRef<OpFoldResult> kernel,
                                 int64_t perTap, StringRef what) {
  if (sizes.size() != shape.result.size())
    return s.refuse(op, "the " + what + " has rank " + Twine(sizes.size()) + ", X rank " +
                            Twine(shape.result.size()) + "; both need one rank");
  int64_t groups = intAttribute(op, "offset_group", 1);
  OpFoldResult channels = s.mul(s.product(kernel), s.index(groups * perTap));
  if (failed(s.check(op, s.equal(sizes[0], shape.result[0]),
                     "batch sizes {0} and {1} of the " + what + " and X differ", sizes[0],
                     shape.result[0])) ||
      failed(s.check(op, s.equal(sizes[1], channels),
                     "the " + what + " has {0} channels; kernel and offset_group need {1}",
                     sizes[1], channels)))
    return failure();
  for (auto [size, count] :
       llvm::zip(ArrayRef(sizes).drop_front(2), ArrayRef(shape.result).drop_front(2)))
    if (failed(s.check(op, s.equal(size, count),
                       "the " + what + " has a size of {0} for {1} positions of the window", size,
                       count)))
      return failure();
  return success();
}

FailureOr<WindowShape> inferDeformConv(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0], &w = operands[1];
  if (x.size() < 3 || w.size() != x.size())
    return s.refuse(op, "X of rank " + Twine(x.size()) + ", W of rank " + Twine(w.size()) +
                            "; both need one rank of 3 or more");
  ArrayRef<OpFoldResult> kernel = ArrayRef(w).drop_front(2);
  OpFoldResult groups = s.index(intAttribute(op, "offset_group", 1));
  if (failed(checkKernelShape(s, op, kernel)) ||
      failed(checkConvChannels(s, op, x, w, intAttribute(op, "group", 1))) ||
      failed(s.check(op, s.equal(s.rem(x[1], groups), s.index(0)),
                     "{0} channels are not a multiple of offset_group {1}", x[1], groups)) ||
      (!isAbsent(op, 3) && failed(checkBias(s, op, operands[3], w[0], "filters"))))
    return failure();
  FailureOr<Windows> windows = slidingWindows(s, op, x, kernel);
  if (failed(windows))
    return failure();
  WindowShape shape{*windows, {x[0], w[0]}};
  for (const Window &window : *windows)
    shape.result.push_back(window.count);
  for (OpFoldResult size : ArrayRef(x).drop_front(2))
    if (failed(s.check(op, s.less(s.index(0), size),
                       "the input has a spatial size of {0}; it must be 1 or more", size)))
      return failure();
  if (failed(checkPerTap(s, op, operands[2], shape, kernel, windows->size(), "offset")) ||
      (!isAbsent(op, 4) && failed(checkPerTap(s, op, operands[4], shape, kernel, 1, "mask"))))
    return failure();
  return shape;
}

FailureOr<WindowShape> inferConvTranspose(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0], &w = operands[1];
  if (x.size() < 3 || w.size() != x.size())
    return s.refuse(op, "X of rank " + Twine(x.size()) + ", W of rank " + Twine(w.size()) +
                            "; one rank of 3 or more is needed");
  OpFoldResult group = s.index(intAttribute(op, "group", 1));
  if (failed(s.check(op, s.equal(x[1], w[0]), "the input has {0} channels, the weights {1}", x[1],
                     w[0])) ||
      failed(s.check(op, s.equal(s.rem(x[1], group), s.index(0)),
                     "{0} channels are not a multiple of group {1}", x[1], group)))
    return failure();
  FailureOr<Windows> windows = transposedWindows(s, op, x, ArrayRef(w).drop_front(2));
  if (failed(windows))
    return failure();
  Sizes result{x[0], s.mul(w[1], group)};
  for (const Window &window : *windows)
    result.push_back(window.input);
  if (operands.size() > 2 && failed(checkBias(s, op, operands[2], result[1], "channels")))
    return failure();
  return WindowShape{*windows, result};
}

//===-- Pools ---------------------------------------------------------------------------------===//

FailureOr<WindowShape> inferPool(SizeBuilder &s, Operation *op, const Sizes &x) {
  Sizes kernel;
  SmallVector<int64_t> sizes = intsAttribute(op, "kernel_shape", 0, 1);
  for (int64_t size : sizes)
    kernel.push_back(s.index(size));
  // Else a window would have nothing of the input.
  for (auto [i, pad] : llvm::enumerate(intsAttribute(op, "pads", 0, 0)))
    if (!sizes.empty() && pad >= sizes[i % sizes.size()])
      return s.refuse(op, "pads has a value of " + Twine(pad) +
                              "; it must be less than the size of " +
                              Twine(sizes[i % sizes.size()]) + " in kernel_shape");
  FailureOr<Windows> windows = slidingWindows(s, op, x, kernel);
  if (failed(windows))
    return failure();
  Sizes result{x[0], x[1]};
  for (const Window &window : *windows)
    result.push_back(window.count);
  return WindowShape{*windows, result};
}

FailureOr<Sizes> inferGlobalPool(SizeBuilder &s, Operation *op, const Sizes &x) {
  if (x.size() < 3)
    return s.refuse(op, "has rank " + Twine(x.size()) + ", needs 3 or more");
  Sizes result{x[0], x[1]};
  result.resize(x.size(), s.index(1));
  return result;
}

//===-- Table ---------------------------------------------------------------------------------===//

template <auto rule>
static FailureOr<SmallVector<Sizes>> inferConvolutionResult(Shapes &shapes, Operation *op) {
  FailureOr<WindowShape> shape = rule(shapes.sizes, op, shapes.operands(op));
  if (failed(shape))
    return failure();
  return SmallVector<Sizes>{shape->result};
}

/// MaxPool's indices have the shape of its output.
static FailureOr<SmallVector<Sizes>> inferPoolResults(Shapes &shapes, Operation *op) {
  FailureOr<WindowShape> shape = inferPool(shapes.sizes, op, shapes.of(op, 0));
  if (failed(shape))
    return failure();
  return SmallVector<Sizes>(op->getNumResults(), shape->result);
}

static FailureOr<Sizes> inferGlobalPoolResult(Shapes &shapes, Operation *op) {
  return inferGlobalPool(shapes.sizes, op, shapes.of(op, 0));
}

void registerWindowRules(ShapeRows &rows) {
  rows.add<ConvOp>(inferConvolutionResult<inferConv>);
  rows.add<ConvTransposeOp>(inferConvolutionResult<inferConvTranspose>);
  rows.add<DeformConvOp>(inferConvolutionResult<inferDeformConv>);
  rows.add<MaxPoolOp, AveragePoolOp, LpPoolOp>(inferPoolResults);
  rows.add<GlobalMaxPoolOp, GlobalAveragePoolOp, GlobalLpPoolOp>(fromShapes<inferGlobalPoolResult>);
}

} // namespace cameo::onnx
