// Shapes of Slice, Split and Pad.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Slicing.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/ShapeRules.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace cameo::onnx {

/// All of `x`.
static Bounds wholeOf(SizeBuilder &s, const Sizes &x) {
  return {Sizes(x.size(), s.index(0)), Sizes(x.size(), s.index(1)), x};
}

/// The values of a window of host values.
static FailureOr<Sizes> hostWindow(const HostArray &data, const Bounds &window) {
  FailureOr<SmallVector<int64_t>> shape = hostShape(window.result);
  std::optional<SmallVector<int64_t>> starts = knownIntegers(window.starts),
                                      steps = knownIntegers(window.steps);
  if (failed(shape) || !starts || !steps)
    return failure();
  return hostElements(*shape, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> source;
    for (size_t i = 0; i < at.size(); ++i)
      source.push_back((*starts)[i] + at[i] * (*steps)[i]);
    return data.at(source);
  });
}

//===-- Slice ---------------------------------------------------------------------------------===//

/// Bounds beyond any size stand for the ends; adding a size to them could overflow.
static constexpr int64_t kFar = int64_t(1) << 48;

/// A bound as Slice gives it, counted from the start and moved into [low, high].
static OpFoldResult sliceBound(SizeBuilder &s, OpFoldResult bound, OpFoldResult size,
                               OpFoldResult low, OpFoldResult high) {
  if (std::optional<int64_t> known = getConstantIntValue(bound)) {
    if (*known >= kFar)
      return high;
    if (*known <= -kFar)
      return low;
    if (*known < 0)
      return s.max(s.min(s.add(size, bound), high), CAMEO_MUTANT(15, low, s.add(size, bound)));
    // 0 is in the range of a size that is not known, unless the range ends before it.
    if (*known == 0 && high == size)
      return low;
    return s.max(s.min(bound, high), low);
  }
  if (!s.isNonNegative(bound)) {
    bound = s.max(bound, s.index(-kFar));
    // Not a choice of sums, both of which are computed: that of the greatest end would overflow.
    bound = s.add(bound, s.select(s.less(bound, s.index(0)), size, s.index(0)));
  } else if (isConstantIntValue(low, 0) && bound == high) {
    return bound;
  }
  OpFoldResult top = s.min(bound, high);
  return isConstantIntValue(low, 0) ? s.atLeastZero(top) : s.max(top, low);
}

namespace {
/// What Slice gives, with its defaults.
struct SliceOperands {
  Sizes starts, ends, axes, steps;
};
} // namespace

/// Failure with the reason in `problem`, or where a value is not on the host.
static FailureOr<SliceOperands> sliceOperands(Shapes &shapes, Operation *op, std::string &problem) {
  SliceOperands given;
  unsigned next = 1;
  for (Sizes *list : {&given.starts, &given.ends, &given.axes, &given.steps}) {
    unsigned operand = next++;
    if (isAbsent(op, operand))
      continue;
    FailureOr<Sizes> values = shapes.host.tryValues(op->getOperand(operand));
    if (failed(values))
      return failure();
    *list = *values;
  }
  auto &[starts, ends, axes, steps] = given;
  if (isAbsent(op, 3))
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(shapes.sizes.index(i));
  if (isAbsent(op, 4))
    steps.assign(starts.size(), shapes.sizes.index(1));
  if (ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size())
    return given;
  problem = llvm::formatv("starts, ends, axes and steps hold {0}, {1}, {2} and {3} numbers; all "
                          "need as many",
                          starts.size(), ends.size(), axes.size(), steps.size());
  return failure();
}

/// Whether the bounds are those of a whole dimension from its last element to its first.
static bool isReversal(OpFoldResult first, OpFoldResult behind, OpFoldResult step) {
  std::optional<int64_t> from = getConstantIntValue(first), to = getConstantIntValue(behind);
  return isConstantIntValue(step, -1) && from && (*from == -1 || *from >= kFar) && to &&
         *to <= -kFar;
}

/// Narrows the window along one axis, which may be any of them at run time.
static void narrow(SizeBuilder &s, const Sizes &x, OpFoldResult axis, OpFoldResult first,
                   OpFoldResult behind, OpFoldResult step, Bounds &window) {
  OpFoldResult backward = s.less(step, s.index(0));
  for (auto [i, size] : llvm::enumerate(x)) {
    OpFoldResult here = s.equal(axis, s.index(i));
    if (isConstantIntValue(here, 0))
      continue;
    OpFoldResult last = s.sub(size, s.index(1));
    OpFoldResult high = s.select(backward, last, size);
    OpFoldResult start = sliceBound(s, first, size, s.index(0), high);
    OpFoldResult end =
        sliceBound(s, behind, size, s.select(backward, s.index(-1), s.index(0)), high);
    OpFoldResult count = s.atLeastZero(s.ceilDiv(s.sub(end, start), step));
    if (isReversal(first, behind, step))
      count = size;
    else if (!isConstantIntValue(backward, 0))
      // Backward through no elements: the start has been moved to 0, which is one too many.
      count = s.min(count, size);
    window.starts[i] = s.select(here, start, window.starts[i]);
    window.steps[i] = s.select(here, step, window.steps[i]);
    window.result[i] = s.select(here, count, window.result[i]);
  }
}

/// The window of a Slice, or why there is none.
static FailureOr<Bounds> sliceWindow(Shapes &shapes, Operation *op, std::string &problem) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  int64_t rank = x.size();
  FailureOr<SliceOperands> given = sliceOperands(shapes, op, problem);
  if (failed(given))
    return failure();
  Bounds window = wholeOf(s, x);
  for (auto [start, end, axis, step] :
       llvm::zip(given->starts, given->ends, given->axes, given->steps)) {
    std::optional<int64_t> known = getConstantIntValue(axis);
    if (known && !normalizedAxis(*known, rank)) {
      problem = outsideText(*known, rank);
      return failure();
    }
    OpFoldResult at = fromStart(s, axis, rank), by = step;
    if (isConstantIntValue(by, 0)) {
      problem = "a step of 0; steps must not be 0";
      return failure();
    }
    // 0 is found by a check; nothing may be divided by it before that.
    if (!getConstantIntValue(by))
      by = s.select(s.equal(by, s.index(0)), s.index(1), by);
    narrow(s, x, at, start, end, by, window);
  }
  return window;
}

FailureOr<Bounds> inferSlice(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  for (unsigned i = 1; i <= 4; ++i)
    if (!isAbsent(op, i) && failed(shapes.host.values(op, i)))
      return failure();
  if (!isAbsent(op, 3) &&
      failed(checkAxes(s, op, *shapes.host.values(op, 3), shapes.of(op, 0).size())))
    return failure();
  std::string problem;
  FailureOr<Bounds> window = sliceWindow(shapes, op, problem);
  if (failed(window))
    return s.refuse(op, problem);
  if (isAbsent(op, 4))
    return window;
  Sizes steps = *shapes.host.values(op, 4);
  for (OpFoldResult step : steps)
    if (failed(s.check(op, s.equal(s.equal(step, s.index(0)), s.index(0)),
                       "a step of {0}; steps must not be 0", step)))
      return failure();
  return window;
}

static FailureOr<Sizes> hostSlice(Shapes &shapes, Operation *op, unsigned) {
  std::string problem;
  FailureOr<HostArray> data = hostArray(shapes, op, 0);
  if (failed(data))
    return failure();
  FailureOr<Bounds> window = sliceWindow(shapes, op, problem);
  if (failed(window))
    return failure();
  return hostWindow(*data, *window);
}

//===-- Split ---------------------------------------------------------------------------------===//

/// The sizes of a Split's parts of `whole` elements.
static FailureOr<Sizes> splitSizes(Shapes &shapes, Operation *op, OpFoldResult whole) {
  SizeBuilder &s = shapes.sizes;
  int64_t count = op->getNumResults();
  if (!isAbsent(op, 1)) {
    FailureOr<Sizes> given = shapes.host.tryValues(op->getOperand(1));
    if (failed(given) || static_cast<int64_t>(given->size()) != count)
      return failure();
    return *given;
  }
  // Equal parts, the last one smaller where they do not divide the size.
  Sizes parts;
  OpFoldResult part = s.ceilDiv(whole, s.index(count));
  for (int64_t i = 0; i < count; ++i) {
    std::optional<int64_t> known = getConstantIntValue(whole);
    OpFoldResult rest = s.sub(whole, s.mul(part, s.index(i)));
    bool even = known && *known % count == 0;
    parts.push_back(even ? part : s.atLeastZero(s.min(part, rest)));
  }
  return parts;
}

Bounds boundsOf(SizeBuilder &s, const Sizes &x, const SplitShape &split, size_t number) {
  Bounds window = wholeOf(s, x);
  for (OpFoldResult before : ArrayRef(split.parts).take_front(number))
    window.starts[split.axis] = s.add(window.starts[split.axis], before);
  window.result[split.axis] = split.parts[number];
  return window;
}

/// Parts that no list gives: as many as there are outputs, none of them empty.
static LogicalResult checkPartCount(SizeBuilder &s, SplitOp op, OpFoldResult whole) {
  int64_t count = op->getNumResults();
  if (op->hasAttr(kEvenSplitAttr))
    return s.check(op, s.equal(s.rem(whole, s.index(count)), s.index(0)),
                   "a size of {0} does not split into {1} equal parts", whole, s.index(count));
  std::optional<int64_t> given = op.getNumOutputs();
  if (!given)
    return s.refuse(op, "has neither split nor num_outputs; one of them is needed");
  if (*given != count)
    return s.refuse(op, "num_outputs is " + Twine(*given) + "; the node has " + Twine(count) +
                            " outputs");
  OpFoldResult part = s.ceilDiv(whole, s.index(count));
  OpFoldResult last = s.sub(whole, s.mul(part, s.index(count - 1)));
  return s.check(op, s.less(s.sub(s.min(part, s.index(1)), s.index(1)), last),
                 "a size of {0} does not split into {1} parts of which only the last is smaller",
                 whole, s.index(count));
}

/// A list of parts that there is: as many as outputs.
static LogicalResult checkPartList(Shapes &shapes, SplitOp op) {
  if (op.getNumOutputs())
    return shapes.sizes.refuse(op, "has both split and num_outputs; only one of them may be given");
  FailureOr<Sizes> given = shapes.host.values(op, 1);
  if (failed(given))
    return failure();
  if (given->size() != op->getNumResults())
    return shapes.sizes.refuse(op, "split holds " + Twine(given->size()) + " numbers for " +
                                       Twine(op->getNumResults()) + " outputs");
  return success();
}

/// Refuses or checks given parts that are not the whole.
static LogicalResult checkPartSum(SizeBuilder &s, Operation *op, const Sizes &parts,
                                  OpFoldResult whole) {
  OpFoldResult sum = s.index(0);
  for (OpFoldResult part : parts) {
    if (!s.isNonNegative(part) &&
        failed(s.check(op, s.less(s.index(-1), part),
                       "split has a size of {0}; it must be 0 or more", part)))
      return failure();
    sum = s.add(sum, part);
  }
  return s.check(op, s.equal(sum, whole), "the parts add up to {0}; the input has {1}", sum, whole);
}

FailureOr<SplitShape> inferSplit(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  auto split = cast<SplitOp>(op);
  Sizes x = shapes.of(op, 0);
  FailureOr<int64_t> axis = normalizedAxis(s, op, split.getAxis(), x.size());
  if (failed(axis))
    return failure();
  OpFoldResult whole = x[*axis];
  bool listed = !isAbsent(op, 1);
  if (failed(listed ? checkPartList(shapes, split) : checkPartCount(s, split, whole)))
    return failure();
  FailureOr<Sizes> parts = splitSizes(shapes, op, whole);
  if (failed(parts) || (listed && failed(checkPartSum(s, op, *parts, whole))))
    return failure();
  return SplitShape{*axis, *parts};
}

static FailureOr<SmallVector<Sizes>> inferSplitResults(Shapes &shapes, Operation *op) {
  FailureOr<SplitShape> split = inferSplit(shapes, op);
  if (failed(split))
    return failure();
  SmallVector<Sizes> results(split->parts.size(), shapes.of(op, 0));
  for (auto [result, part] : llvm::zip(results, split->parts))
    result[split->axis] = part;
  return results;
}

static FailureOr<Sizes> hostSplit(Shapes &shapes, Operation *op, unsigned result) {
  FailureOr<HostArray> data = hostArray(shapes, op, 0);
  if (failed(data))
    return failure();
  std::optional<int64_t> axis = normalizedAxis(cast<SplitOp>(op).getAxis(), data->shape.size());
  if (!axis)
    return failure();
  Sizes x = shapes.of(op, 0);
  FailureOr<Sizes> parts = splitSizes(shapes, op, x[*axis]);
  if (failed(parts))
    return failure();
  return hostWindow(*data, boundsOf(shapes.sizes, x, {*axis, *parts}, result));
}

//===-- Pad -----------------------------------------------------------------------------------===//

/// What Pad adds (or, negative, takes away) before and after each dimension.
static FailureOr<std::pair<Sizes, Sizes>> padAmounts(Shapes &shapes, Operation *op, int64_t rank) {
  SizeBuilder &s = shapes.sizes;
  FailureOr<Sizes> pads = shapes.host.values(op, 1);
  if (failed(pads))
    return failure();
  Sizes axes;
  if (!isAbsent(op, 3)) {
    FailureOr<Sizes> given = shapes.host.values(op, 3);
    if (failed(given) || failed(checkAxes(s, op, *given, rank)))
      return failure();
    axes = *given;
  } else {
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(s.index(i));
  }
  if (pads->size() != 2 * axes.size())
    return s.refuse(op, "pads holds " + Twine(pads->size()) + " numbers for " + Twine(axes.size()) +
                            " axes; two an axis are needed");
  Sizes before(rank, s.index(0)), after(before);
  for (size_t k = 0; k < axes.size(); ++k) {
    OpFoldResult axis = fromStart(s, axes[k], rank);
    for (int64_t i = 0; i < rank; ++i) {
      OpFoldResult here = s.equal(axis, s.index(i));
      before[i] = s.select(here, (*pads)[k], before[i]);
      after[i] = s.select(here, (*pads)[k + axes.size()], after[i]);
    }
  }
  return std::pair(before, after);
}

/// Adds a dimension of `size` elements to the shape. Negative amounts crop it first; what is added
/// is added to what is left.
static LogicalResult padDimension(SizeBuilder &s, Operation *op, OpFoldResult size,
                                  OpFoldResult before, OpFoldResult after, PadShape &shape) {
  OpFoldResult zero = s.index(0), kept = size, crop = zero;
  OpFoldResult front = s.max(s.sub(zero, before), zero), back = s.max(s.sub(zero, after), zero);
  if (!s.isNonNegative(before) || !s.isNonNegative(after)) {
    crop = front;
    OpFoldResult taken = s.add(front, back);
    if (failed(s.check(op, s.less(s.index(-1), s.sub(size, taken)),
                       "pads take away {0} elements of {1}", taken, size)))
      return failure();
    kept = s.atLeastZero(s.sub(size, taken));
  }
  before = s.atLeastZero(before);
  after = s.atLeastZero(after);
  OpFoldResult result = s.add(s.add(kept, before), after);
  bool grows = !isConstantIntValue(before, 0) || !isConstantIntValue(after, 0);
  if (cast<PadOp>(op).getMode() != "constant" && grows &&
      failed(s.check(op, s.select(s.equal(kept, zero), s.equal(result, zero), s.index(1)),
                     "a dimension of size 0 has no elements to be padded with")))
    return failure();
  shape.crops.push_back(crop);
  shape.kept.push_back(kept);
  shape.before.push_back(before);
  shape.after.push_back(after);
  shape.result.push_back(result);
  return success();
}

FailureOr<PadShape> inferPad(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  FailureOr<std::pair<Sizes, Sizes>> amounts = padAmounts(shapes, op, x.size());
  if (failed(amounts))
    return failure();
  PadShape shape;
  for (auto [size, before, after] : llvm::zip(x, amounts->first, amounts->second))
    if (failed(padDimension(s, op, size, before, after, shape)))
      return failure();
  auto isZero = [](OpFoldResult amount) { return isConstantIntValue(amount, 0); };
  auto isOne = [](OpFoldResult size) { return isConstantIntValue(size, 1); };
  // Pads of 1 and -1 move elements within a result of the same size.
  shape.isIdentity =
      shape.result == x && llvm::all_of(shape.crops, isZero) && llvm::all_of(shape.before, isZero);
  if (!shape.isIdentity && cast<PadOp>(op).getMode() == "constant" && !isAbsent(op, 2) &&
      !llvm::all_of(shapes.of(op, 2), isOne))
    return s.refuse(op, "constant_value is " + typeText(op->getOperand(2).getType()) +
                            "; it must hold one number");
  return shape;
}

void registerSlicingRules(ShapeRows &rows) {
  rows.add<SliceOp>(fromShapes<inferSlice>, hostSlice);
  rows.add<SplitOp>(inferSplitResults, hostSplit);
  rows.add<PadOp>(fromShapes<inferPad>);
}

} // namespace cameo::onnx
