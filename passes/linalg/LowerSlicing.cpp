// Slice, Split and Pad: windows into a tensor, and a tensor inside a larger one.
//
//   onnx.Slice  ==>  linalg.generic with start + step * d as the input's map where the bounds are
//                    known; a body that computes the index otherwise
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Slicing.h"

#include "passes/linalg/Generics.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace cameo {

/// Where a part lies: element i of a dimension is element start + i * step of the input's.
struct Bounds {
  Sizes starts, steps, sizes;
};

static Lowered windowed(Location loc, Lowering &l, const Lowered &data, const Bounds &window) {
  int64_t rank = data.rank();
  // As an affine map, whose linalg op must not take its loop bounds from the input: a dimension by
  // itself stands only for a whole one.
  bool affine = true, whole = true;
  for (int64_t i = 0; i < rank; ++i) {
    std::optional<int64_t> start = getConstantIntValue(window.starts[i]);
    std::optional<int64_t> step = getConstantIntValue(window.steps[i]);
    bool all = start == 0 && step == 1 && window.sizes[i] == data.sizes[i];
    whole &= all;
    affine &= all || (start && step && *step > 0 && *start >= 0 && (*start > 0 || *step > 1) &&
                      isa<Attribute>(window.sizes[i]));
    // What has no elements may start beyond the input.
    affine &= !isConstantIntValue(window.sizes[i], 0);
  }
  if (whole)
    return data;
  Type type = data.elementType;
  if (!affine) {
    Value result = l.build.compute(
        loc, window.sizes, type, [&](OpBuilder &b, Location at, ValueRange indices) {
          IndexMath math(b, at);
          SmallVector<Value> source;
          for (int64_t i = 0; i < rank; ++i)
            source.push_back(math.add(math.mul(indices[i], window.steps[i]), window.starts[i]));
          return math.element(data, source);
        });
    return {result, window.sizes, type};
  }
  SmallVector<AffineExpr> source;
  for (int64_t i = 0; i < rank; ++i)
    source.push_back(getAffineDimExpr(i, loc.getContext()) * *getConstantIntValue(window.steps[i]) +
                     *getConstantIntValue(window.starts[i]));
  Value result = readThrough(l, loc, data, source, window.sizes);
  return {result, window.sizes, type};
}

//===-- Slice ---------------------------------------------------------------------------------===//

/// A bound as Slice gives it, counted from the start and moved into [low, high].
static OpFoldResult sliceBound(Lowering &l, OpFoldResult bound, OpFoldResult size, OpFoldResult low,
                               OpFoldResult high) {
  // Bounds beyond any size stand for the ends; adding a size to them could overflow.
  constexpr int64_t kFar = int64_t(1) << 48;
  if (std::optional<int64_t> known = getConstantIntValue(bound)) {
    if (*known >= kFar)
      return high;
    if (*known <= -kFar)
      return low;
    if (*known < 0)
      return l.plan.max(l.plan.min(l.plan.add(size, bound), high), low);
    // 0 is in the range of a size that is not known, unless the range ends before it.
    if (*known == 0 && high == size)
      return low;
    return l.plan.max(l.plan.min(bound, high), low);
  }
  if (!l.plan.isNonNegative(bound)) {
    bound = l.plan.max(bound, l.plan.index(-kFar));
    bound = l.plan.select(l.plan.less(bound, l.plan.index(0)), l.plan.add(bound, size), bound);
  } else if (isConstantIntValue(low, 0) && bound == high) {
    return bound;
  }
  OpFoldResult top = l.plan.min(bound, high);
  return isConstantIntValue(low, 0) ? l.plan.atLeastZero(top) : l.plan.max(top, low);
}

/// The window of a Slice, or why there is none.
static FailureOr<Bounds> sliceWindow(Operation *op, Lowering &l, std::string &problem) {
  Lowered data = l.operand(op, 0);
  int64_t rank = data.rank();
  Sizes given[4]; // starts, ends, axes, steps
  for (unsigned i = 0; i < 4; ++i) {
    if (l.absent(op, i + 1))
      continue;
    FailureOr<Sizes> values = l.host.tryValues(op->getOperand(i + 1));
    if (failed(values))
      return failure();
    given[i] = *values;
  }
  auto &[starts, ends, axes, steps] = given;
  if (l.absent(op, 3))
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(l.plan.index(i));
  if (l.absent(op, 4))
    steps.assign(starts.size(), l.plan.index(1));
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    problem = llvm::formatv("starts, ends, axes and steps hold {0}, {1}, {2} and {3} numbers; all "
                            "need as many",
                            starts.size(), ends.size(), axes.size(), steps.size());
    return failure();
  }
  Bounds window{Sizes(rank, l.plan.index(0)), Sizes(rank, l.plan.index(1)), data.sizes};
  for (size_t k = 0; k < axes.size(); ++k) {
    OpFoldResult axis = axes[k], step = steps[k];
    if (std::optional<int64_t> known = getConstantIntValue(axis)) {
      std::optional<int64_t> normalized = normalizedAxis(*known, rank);
      if (!normalized) {
        problem = outsideText(*known, rank);
        return failure();
      }
      axis = l.plan.index(*normalized);
    } else {
      axis = l.plan.select(l.plan.less(axis, l.plan.index(0)), l.plan.add(axis, l.plan.index(rank)),
                           axis);
    }
    if (isConstantIntValue(step, 0)) {
      problem = "a step of 0; steps must not be 0";
      return failure();
    }
    if (!isa<Attribute>(step)) // 0 is found by a check; nothing may be divided by it before that
      step = l.plan.select(l.plan.equal(step, l.plan.index(0)), l.plan.index(1), step);
    OpFoldResult backward = l.plan.less(step, l.plan.index(0));
    for (int64_t i = 0; i < rank; ++i) {
      OpFoldResult here = l.plan.equal(axis, l.plan.index(i));
      if (isConstantIntValue(here, 0))
        continue;
      OpFoldResult size = data.sizes[i], last = l.plan.sub(size, l.plan.index(1));
      OpFoldResult high = l.plan.select(backward, last, size);
      OpFoldResult start = sliceBound(l, starts[k], size, l.plan.index(0), high);
      OpFoldResult end = sliceBound(
          l, ends[k], size, l.plan.select(backward, l.plan.index(-1), l.plan.index(0)), high);
      OpFoldResult count = l.plan.atLeastZero(l.plan.ceilDiv(l.plan.sub(end, start), step));
      window.starts[i] = l.plan.select(here, start, window.starts[i]);
      window.steps[i] = l.plan.select(here, step, window.steps[i]);
      window.sizes[i] = l.plan.select(here, count, window.sizes[i]);
    }
  }
  return window;
}

static LogicalResult lowerSlice(Operation *op, Lowering &l) {
  for (unsigned i = 1; i <= 4; ++i)
    if (!l.absent(op, i) && failed(l.host.values(op, i)))
      return failure();
  if (!l.absent(op, 3) && failed(checkAxes(op, l, *l.host.values(op, 3), l.operand(op, 0).rank())))
    return failure();
  std::string problem;
  FailureOr<Bounds> window = sliceWindow(op, l, problem);
  if (failed(window))
    return l.unsupported(op, problem);
  if (!l.absent(op, 4)) {
    Sizes steps = *l.host.values(op, 4);
    for (OpFoldResult step : steps)
      if (failed(l.plan.check(op,
                              l.plan.equal(l.plan.equal(step, l.plan.index(0)), l.plan.index(0)),
                              "a step of {0}; steps must not be 0", step)))
        return failure();
  }
  l.define(op, 0, windowed(op->getLoc(), l, l.operand(op, 0), *window));
  return success();
}

/// The values of a window of host values.
static FailureOr<Sizes> hostWindow(const HostArray &data, const Bounds &window) {
  FailureOr<SmallVector<int64_t>> shape = hostShape(window.sizes);
  if (failed(shape))
    return failure();
  SmallVector<int64_t> starts, steps;
  for (auto [start, step] : llvm::zip(window.starts, window.steps)) {
    std::optional<int64_t> knownStart = getConstantIntValue(start);
    std::optional<int64_t> knownStep = getConstantIntValue(step);
    if (!knownStart || !knownStep)
      return failure();
    starts.push_back(*knownStart);
    steps.push_back(*knownStep);
  }
  return hostElements(*shape, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> source;
    for (size_t i = 0; i < at.size(); ++i)
      source.push_back(starts[i] + at[i] * steps[i]);
    return data.at(source);
  });
}

static FailureOr<Sizes> hostSlice(Operation *op, unsigned, Lowering &l) {
  std::string problem;
  FailureOr<HostArray> data = hostArray(op, 0, l);
  if (failed(data))
    return failure();
  FailureOr<Bounds> window = sliceWindow(op, l, problem);
  if (failed(window))
    return failure();
  return hostWindow(*data, *window);
}

//===-- Split ---------------------------------------------------------------------------------===//

/// The sizes of a Split's parts; `axis` is normalized.
static FailureOr<Sizes> splitSizes(Operation *op, Lowering &l, int64_t axis) {
  OpFoldResult whole = l.operand(op, 0).sizes[axis];
  int64_t count = op->getNumResults();
  Sizes parts;
  if (!l.absent(op, 1)) {
    FailureOr<Sizes> given = l.host.tryValues(op->getOperand(1));
    if (failed(given) || static_cast<int64_t>(given->size()) != count)
      return failure();
    return *given;
  }
  // Equal parts, the last one smaller where they do not divide the size.
  OpFoldResult part = l.plan.ceilDiv(whole, l.plan.index(count));
  for (int64_t i = 0; i < count; ++i) {
    std::optional<int64_t> known = getConstantIntValue(whole);
    OpFoldResult rest = l.plan.sub(whole, l.plan.mul(part, l.plan.index(i)));
    bool even = known && *known % count == 0;
    parts.push_back(even ? part : l.plan.atLeastZero(l.plan.min(part, rest)));
  }
  return parts;
}

static Bounds splitWindow(Lowering &l, const Lowered &data, int64_t axis,
                          ArrayRef<OpFoldResult> parts, size_t number) {
  Bounds window{Sizes(data.rank(), l.plan.index(0)), Sizes(data.rank(), l.plan.index(1)),
                data.sizes};
  for (OpFoldResult before : parts.take_front(number))
    window.starts[axis] = l.plan.add(window.starts[axis], before);
  window.sizes[axis] = parts[number];
  return window;
}

/// Parts that no list gives: as many as there are outputs, none of them empty.
static LogicalResult checkPartCount(onnx::SplitOp op, Lowering &l, OpFoldResult whole) {
  int64_t count = op->getNumResults();
  if (op->hasAttr(onnx::kEvenSplitAttr))
    return l.plan.check(op, l.plan.equal(l.plan.rem(whole, l.plan.index(count)), l.plan.index(0)),
                        "a size of {0} does not split into {1} equal parts", whole,
                        l.plan.index(count));
  std::optional<int64_t> given = op.getNumOutputs();
  if (!given)
    return l.unsupported(op, "has neither split nor num_outputs; one of them is needed");
  if (*given != count)
    return l.unsupported(op, "num_outputs is " + Twine(*given) + "; the node has " + Twine(count) +
                                 " outputs");
  OpFoldResult part = l.plan.ceilDiv(whole, l.plan.index(count));
  OpFoldResult last = l.plan.sub(whole, l.plan.mul(part, l.plan.index(count - 1)));
  return l.plan.check(
      op, l.plan.less(l.plan.sub(l.plan.min(part, l.plan.index(1)), l.plan.index(1)), last),
      "a size of {0} does not split into {1} parts of which only the last is smaller", whole,
      l.plan.index(count));
}

static LogicalResult lowerSplit(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  auto split = cast<onnx::SplitOp>(op);
  std::optional<int64_t> axis = normalizedAxis(split.getAxis(), data.rank());
  if (!axis)
    return l.unsupported(op, outsideText(split.getAxis(), data.rank()));
  if (l.absent(op, 1)) {
    if (failed(checkPartCount(split, l, data.sizes[*axis])))
      return failure();
  } else {
    if (split.getNumOutputs())
      return l.unsupported(op, "has both split and num_outputs; only one of them may be given");
    FailureOr<Sizes> given = l.host.values(op, 1);
    if (failed(given))
      return failure();
    if (given->size() != op->getNumResults())
      return l.unsupported(op, "split holds " + Twine(given->size()) + " numbers for " +
                                   Twine(op->getNumResults()) + " outputs");
  }
  FailureOr<Sizes> parts = splitSizes(op, l, *axis);
  if (failed(parts))
    return failure();
  if (!l.absent(op, 1)) {
    OpFoldResult sum = l.plan.index(0);
    for (OpFoldResult part : *parts) {
      if (!l.plan.isNonNegative(part) &&
          failed(l.plan.check(op, l.plan.less(l.plan.index(-1), part),
                              "split has a size of {0}; it must be 0 or more", part)))
        return failure();
      sum = l.plan.add(sum, part);
    }
    if (failed(l.plan.check(op, l.plan.equal(sum, data.sizes[*axis]),
                            "the parts add up to {0}; the input has {1}", sum, data.sizes[*axis])))
      return failure();
  }
  for (size_t i = 0; i < parts->size(); ++i)
    l.define(op, i, windowed(op->getLoc(), l, data, splitWindow(l, data, *axis, *parts, i)));
  return success();
}

static FailureOr<Sizes> hostSplit(Operation *op, unsigned result, Lowering &l) {
  FailureOr<HostArray> data = hostArray(op, 0, l);
  if (failed(data))
    return failure();
  std::optional<int64_t> axis =
      normalizedAxis(cast<onnx::SplitOp>(op).getAxis(), data->shape.size());
  if (!axis)
    return failure();
  FailureOr<Sizes> parts = splitSizes(op, l, *axis);
  if (failed(parts))
    return failure();
  return hostWindow(*data, splitWindow(l, l.operand(op, 0), *axis, *parts, result));
}

//===-- Pad -----------------------------------------------------------------------------------===//

/// What Pad adds (or, negative, takes away) before and after each dimension.
static LogicalResult padAmounts(Operation *op, Lowering &l, int64_t rank, Sizes &before,
                                Sizes &after) {
  FailureOr<Sizes> pads = l.host.values(op, 1);
  if (failed(pads))
    return failure();
  Sizes axes;
  if (!l.absent(op, 3)) {
    FailureOr<Sizes> given = l.host.values(op, 3);
    if (failed(given))
      return failure();
    axes = *given;
    if (failed(checkAxes(op, l, axes, rank)))
      return failure();
  } else {
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(l.plan.index(i));
  }
  if (pads->size() != 2 * axes.size())
    return l.unsupported(op, "pads holds " + Twine(pads->size()) + " numbers for " +
                                 Twine(axes.size()) + " axes; two an axis are needed");
  before.assign(rank, l.plan.index(0));
  after.assign(rank, l.plan.index(0));
  for (size_t k = 0; k < axes.size(); ++k) {
    OpFoldResult axis = axes[k];
    if (std::optional<int64_t> known = getConstantIntValue(axis)) {
      axis = l.plan.index(*normalizedAxis(*known, rank));
    } else {
      axis = l.plan.select(l.plan.less(axis, l.plan.index(0)), l.plan.add(axis, l.plan.index(rank)),
                           axis);
    }
    for (int64_t i = 0; i < rank; ++i) {
      OpFoldResult here = l.plan.equal(axis, l.plan.index(i));
      before[i] = l.plan.select(here, (*pads)[k], before[i]);
      after[i] = l.plan.select(here, (*pads)[k + axes.size()], after[i]);
    }
  }
  return success();
}

enum class PadMode { constant, reflect, edge, wrap };

/// The index into `size` elements that stands at `x`, which may be outside of them.
static Value paddedIndex(IndexMath &math, Lowering &l, Value x, OpFoldResult size, PadMode mode) {
  if (mode == PadMode::edge)
    return math.clamp(x, size);
  if (mode == PadMode::wrap)
    return math.modulo(x, size);
  // Back and forth between the first element and the last.
  OpFoldResult period = l.plan.mul(l.plan.index(2), l.plan.sub(size, l.plan.index(1)));
  period = l.plan.max(period, l.plan.index(1)); // one element: always itself
  Value turn = math.modulo(x, period);
  Value forth = math.compare(arith::CmpIPredicate::slt, turn, size);
  return math.select(forth, turn, math.sub(math.of(period), turn));
}

static LogicalResult lowerPad(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  Type type = data.elementType;
  auto mode = llvm::StringSwitch<PadMode>(cast<onnx::PadOp>(op).getMode())
                  .Case("constant", PadMode::constant)
                  .Case("reflect", PadMode::reflect)
                  .Case("edge", PadMode::edge)
                  .Default(PadMode::wrap);
  Sizes before, after;
  if (failed(padAmounts(op, l, data.rank(), before, after)))
    return failure();
  // Negative amounts crop the input first; what is added is added to what is left.
  OpFoldResult zero = l.plan.index(0);
  Sizes crops, kept, sizes;
  for (int64_t i = 0; i < data.rank(); ++i) {
    OpFoldResult front = l.plan.max(l.plan.sub(zero, before[i]), zero);
    OpFoldResult back = l.plan.max(l.plan.sub(zero, after[i]), zero);
    bool crop = !l.plan.isNonNegative(before[i]) || !l.plan.isNonNegative(after[i]);
    crops.push_back(crop ? front : zero);
    OpFoldResult rest = data.sizes[i];
    if (crop) {
      OpFoldResult taken = l.plan.add(front, back);
      if (failed(l.plan.check(op, l.plan.less(l.plan.index(-1), l.plan.sub(rest, taken)),
                              "pads take away {0} elements of {1}", taken, rest)))
        return failure();
      rest = l.plan.atLeastZero(l.plan.sub(rest, taken));
    }
    kept.push_back(rest);
    before[i] = l.plan.atLeastZero(before[i]);
    after[i] = l.plan.atLeastZero(after[i]);
    sizes.push_back(l.plan.add(l.plan.add(rest, before[i]), after[i]));
    bool grows = !isConstantIntValue(before[i], 0) || !isConstantIntValue(after[i], 0);
    if (mode != PadMode::constant && grows &&
        failed(l.plan.check(
            op,
            l.plan.select(l.plan.equal(rest, zero), l.plan.equal(sizes[i], zero), l.plan.index(1)),
            "a dimension of size 0 has no elements to be padded with")))
      return failure();
  }
  if (sizes == data.sizes &&
      llvm::all_of(crops, [](OpFoldResult crop) { return isConstantIntValue(crop, 0); })) {
    l.define(op, 0, data);
    return success();
  }
  bool hasValue = mode == PadMode::constant && !l.absent(op, 2);
  Lowered fill = hasValue ? l.operand(op, 2) : Lowered();
  if (hasValue &&
      !llvm::all_of(fill.sizes, [](OpFoldResult size) { return isConstantIntValue(size, 1); }))
    return l.unsupported(op, "constant_value is " + onnx::typeText(op->getOperand(2).getType()) +
                                 "; it must hold one number");
  Value result =
      l.build.compute(op->getLoc(), sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        SmallVector<Value> source;
        Value valid;
        for (int64_t i = 0; i < data.rank(); ++i) {
          Value x = math.sub(at[i], before[i]);
          bool grows = !isConstantIntValue(before[i], 0) || !isConstantIntValue(after[i], 0);
          if (grows && mode == PadMode::constant)
            valid = math.both(valid, math.inside(x, kept[i]));
          else if (grows)
            x = paddedIndex(math, l, x, kept[i], mode);
          source.push_back(math.add(x, crops[i]));
        }
        if (!valid)
          return math.element(data, source);
        return math.choose(
            valid,
            [&](OpBuilder &inner, Location place) {
              return IndexMath(inner, place).element(data, source);
            },
            [&](OpBuilder &inner, Location place) -> Value {
              if (hasValue)
                return IndexMath(inner, place).only(fill);
              return scalarConstant(inner, place, signless(type), 0);
            });
      });
  l.define(op, 0, result, sizes, type);
  return success();
}

void registerSlicing(OperatorTable &table) {
  table["Slice"] = {lowerSlice, hostSlice, "starts, ends, axes, steps known on the host"};
  table["Split"] = {lowerSplit, hostSplit, "sizes known on the host"};
  table["Pad"] = {lowerPad, nullptr, "pads, axes known on the host"};
}

} // namespace cameo
