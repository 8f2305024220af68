// Slice, Split and Pad: windows into a tensor, and a tensor inside a larger one.
//
//   onnx.Slice  ==>  tensor.extract_slice where the bounds are known;
//                    otherwise a body that computes the index
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Slicing.h"

#include "dialects/onnx/shape/Slicing.h"
#include "passes/linalg/Generics.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace cameo {

/// A window whose place is known, as a slice.
static Value sliced(Location loc, Lowering &l, const Lowered &data, const onnx::Bounds &window) {
  auto copy = [&](OpBuilder &b, Location at, ValueRange inits) {
    SmallVector<OpFoldResult> sizes;
    for (auto [dim, size] : llvm::enumerate(window.result))
      sizes.push_back(
          isa<Attribute>(size)
              ? size
              : OpFoldResult(b.create<tensor::DimOp>(at, data.tensor, dim).getResult()));
    Value slice =
        b.create<tensor::ExtractSliceOp>(at, data.tensor, window.starts, sizes, window.steps);
    auto same = [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; };
    AffineMap identity = b.getMultiDimIdentityMap(data.rank());
    return SmallVector<Value>{mapGeneric(l, b, at, window.result, data.elementType,
                                         {Read{slice, identity}}, same, inits[0])};
  };
  return l.build.dispatch(loc, OutputSpec{window.result, data.elementType}, copy)[0];
}

static Lowered windowed(Location loc, Lowering &l, const Lowered &data,
                        const onnx::Bounds &window) {
  int64_t rank = data.rank();
  bool isKnown = true, whole = true;
  for (int64_t i = 0; i < rank; ++i) {
    std::optional<int64_t> start = getConstantIntValue(window.starts[i]);
    std::optional<int64_t> step = getConstantIntValue(window.steps[i]);
    bool all = start == 0 && step == 1 && window.result[i] == data.sizes[i];
    whole &= all;
    isKnown &=
        all || (start && step && *step > 0 && *start >= 0 && isa<Attribute>(window.result[i]));
    // What has no elements may start beyond the input.
    isKnown &= !isConstantIntValue(window.result[i], 0);
  }
  if (whole)
    return data;
  Type type = data.elementType;
  if (isKnown)
    return {sliced(loc, l, data, window), window.result, type};
  Value result =
      l.build.compute(loc, window.result, type, [&](OpBuilder &b, Location at, ValueRange indices) {
        IndexMath math(b, at);
        SmallVector<Value> source;
        for (int64_t i = 0; i < rank; ++i)
          source.push_back(math.add(math.mul(indices[i], window.steps[i]), window.starts[i]));
        return math.element(data, source);
      });
  return {result, window.result, type};
}

//===-- Slice, Split --------------------------------------------------------------------------===//

static LogicalResult lowerSlice(Operation *op, Lowering &l) {
  FailureOr<onnx::Bounds> window = onnx::inferSlice(l.shapes, op);
  if (failed(window))
    return failure();
  l.define(op, 0, windowed(op->getLoc(), l, l.operand(op, 0), *window));
  return success();
}

static LogicalResult lowerSplit(Operation *op, Lowering &l) {
  FailureOr<onnx::SplitShape> split = onnx::inferSplit(l.shapes, op);
  if (failed(split))
    return failure();
  Lowered data = l.operand(op, 0);
  for (size_t i = 0; i < split->parts.size(); ++i)
    l.define(op, i, windowed(op->getLoc(), l, data, onnx::boundsOf(l.plan, data.sizes, *split, i)));
  return success();
}

//===-- Pad -----------------------------------------------------------------------------------===//

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

namespace {
/// A Pad that is lowered.
struct Padding {
  Lowered data;
  onnx::PadShape shape;
  PadMode mode;
  std::optional<Lowered> fill; // where it is not 0
  bool grows(int64_t i) const {
    return !isConstantIntValue(shape.before[i], 0) || !isConstantIntValue(shape.after[i], 0);
  }
};
} // namespace

/// The result's element `at`.
static Value paddedElement(OpBuilder &b, Location loc, Lowering &l, const Padding &pad,
                           ValueRange at) {
  IndexMath math(b, loc);
  const onnx::PadShape &shape = pad.shape;
  SmallVector<Value> source;
  Value valid;
  for (int64_t i = 0; i < pad.data.rank(); ++i) {
    Value x = math.sub(at[i], shape.before[i]);
    if (pad.grows(i) && pad.mode == PadMode::constant)
      valid = math.both(valid, math.inside(x, shape.kept[i]));
    else if (pad.grows(i))
      x = paddedIndex(math, l, x, shape.kept[i], pad.mode);
    source.push_back(math.add(x, shape.crops[i]));
  }
  if (!valid)
    return math.element(pad.data, source);
  return math.choose(
      valid,
      [&](OpBuilder &inner, Location place) {
        return IndexMath(inner, place).element(pad.data, source);
      },
      [&](OpBuilder &inner, Location place) -> Value {
        if (pad.fill)
          return IndexMath(inner, place).only(*pad.fill);
        return scalarConstant(inner, place, signless(pad.data.elementType), 0);
      });
}

static LogicalResult lowerPad(Operation *op, Lowering &l) {
  FailureOr<onnx::PadShape> shape = onnx::inferPad(l.shapes, op);
  if (failed(shape))
    return failure();
  Lowered data = l.operand(op, 0);
  if (shape->isIdentity) {
    l.define(op, 0, data);
    return success();
  }
  auto mode = llvm::StringSwitch<PadMode>(cast<onnx::PadOp>(op).getMode())
                  .Case("constant", PadMode::constant)
                  .Case("reflect", PadMode::reflect)
                  .Case("edge", PadMode::edge)
                  .Default(PadMode::wrap);
  Padding pad{data, *shape, mode, {}};
  if (mode == PadMode::constant && !l.absent(op, 2))
    pad.fill = l.operand(op, 2);
  Value result = l.build.compute(
      op->getLoc(), shape->result, data.elementType,
      [&](OpBuilder &b, Location loc, ValueRange at) { return paddedElement(b, loc, l, pad, at); });
  l.define(op, 0, result, shape->result, data.elementType);
  return success();
}

void registerSlicing(LoweringRows &rows) {
  rows.add<onnx::SliceOp>({lowerSlice, "starts, ends, axes, steps known on the host"});
  rows.add<onnx::SplitOp>({lowerSplit, "sizes known on the host"});
  rows.add<onnx::PadOp>({lowerPad, "pads, axes known on the host"});
}

} // namespace cameo
