// ConvTranspose in gather form: each element of the result sums the taps that reach it.
//
//   "onnx.ConvTranspose"(%x, %w)   ==>   kernel.dispatch { linalg.generic over channels and taps }
//
// Tap k reaches position o from input i where i * stride = o + before - k * dilation.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Windows.h"

using namespace mlir;

namespace cameo {

namespace {
/// One spatial dimension.
struct Axis {
  int64_t stride, dilation;
  OpFoldResult kernel, input, before, result;
};
} // namespace

/// Sizes and padding; with a given result size the padding follows from it.
static FailureOr<SmallVector<Axis>> spatialAxes(Lowering &l, Operation *op, const Lowered &x,
                                                const Lowered &w) {
  int64_t spatial = x.rank() - 2;
  FailureOr<WindowAttributes> attributes = windowAttributes(l, op, spatial);
  if (failed(attributes) ||
      failed(checkKernelShape(l, op, ArrayRef<OpFoldResult>(w.sizes).drop_front(2))))
    return failure();
  auto &[strides, dilations, pads, autoPad] = *attributes;
  bool same = attributes->same();
  SmallVector<int64_t> extra = intsAttribute(op, "output_padding", spatial, 0);
  SmallVector<int64_t> shape = intsAttribute(op, "output_shape", 0, 0);
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

  for (int64_t i = 0; i < spatial; ++i)
    if (extra[i] >= std::max(strides[i], dilations[i]))
      return l.unsupported(op, "output_padding has a value of " + Twine(extra[i]) +
                                   "; it must be less than the stride of " + Twine(strides[i]) +
                                   " or the dilation of " + Twine(dilations[i]));

  SmallVector<Axis> axes;
  OpFoldResult zero = l.index(0), one = l.index(1);
  for (int64_t i = 0; i < spatial; ++i) {
    Axis axis{strides[i], dilations[i], w.sizes[2 + i], x.sizes[2 + i], zero, zero};
    OpFoldResult reach = l.mul(l.sub(axis.kernel, one), l.index(dilations[i]));
    OpFoldResult full = l.mul(l.sub(axis.input, one), l.index(strides[i]));
    full = l.add(l.add(full, reach), l.index(1 + extra[i]));
    if (!shape.empty() || same) {
      axis.result = shape.empty() ? l.mul(axis.input, l.index(strides[i])) : l.index(shape[i]);
      // What no window reaches is less than a stride, as between windows.
      OpFoldResult most = l.add(full, l.index(strides[i]));
      if (!shape.empty() &&
          failed(l.check(op, l.less(axis.result, most),
                         "output_shape has a size of {0}; it must be less than {1}", axis.result,
                         most)))
        return failure();
      OpFoldResult total = l.max(l.sub(full, axis.result), zero);
      OpFoldResult less = l.floorDiv(total, l.index(2));
      axis.before = autoPad == "SAME_UPPER" ? less : l.sub(total, less);
    } else {
      bool padded = autoPad == "NOTSET";
      axis.before = l.index(padded ? pads[i] : 0);
      int64_t removed = padded ? pads[i] + pads[spatial + i] : 0;
      axis.result = l.max(l.sub(full, l.index(removed)), zero);
      if (removed && failed(l.check(op, l.less(l.index(removed), full),
                                    "pads take away {0} elements of {1}", l.index(removed), full)))
        return failure();
    }
    axes.push_back(axis);
  }
  return axes;
}

/// The input index that tap `k` reaches position `o` from; clears `inside` where there is none.
static Value sourceIndex(OpBuilder &b, Location loc, const Axis &axis, Value o, Value k,
                         Value &inside) {
  Value position = b.create<arith::AddIOp>(loc, o, bodyValue(b, loc, axis.before));
  Value tap =
      axis.dilation == 1
          ? k
          : b.create<arith::MulIOp>(loc, k, indexConstant(b, loc, axis.dilation)).getResult();
  Value distance = b.create<arith::SubIOp>(loc, position, tap), index = distance;
  auto require = [&](Value condition) {
    inside = inside ? b.create<arith::AndIOp>(loc, inside, condition) : condition;
  };
  if (axis.stride != 1) {
    // The unsigned remainder of a negative distance does not matter.
    Value stride = indexConstant(b, loc, axis.stride), zero = indexConstant(b, loc, 0);
    require(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, distance, zero));
    Value remainder = b.create<arith::RemUIOp>(loc, distance, stride);
    require(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, remainder, zero));
    index = b.create<arith::DivUIOp>(loc, distance, stride);
  }
  require(isInside(b, loc, index, bodyValue(b, loc, axis.input)));
  return index;
}

static LogicalResult lowerConvTranspose(Operation *op, Lowering &l) {
  Lowered x = l.operand(op, 0), w = l.operand(op, 1);
  int64_t rank = x.rank(), groups = intAttribute(op, "group", 1);
  if (rank < 3 || w.rank() != rank)
    return l.unsupported(op, "X of rank " + Twine(x.rank()) + ", W of rank " + Twine(w.rank()) +
                                 "; one rank of 3 or more is needed");
  OpFoldResult group = l.index(groups), zero = l.index(0);
  if (failed(l.check(op, l.equal(x.sizes[1], w.sizes[0]),
                     "the input has {0} channels, the weights {1}", x.sizes[1], w.sizes[0])) ||
      failed(l.check(op, l.equal(l.rem(x.sizes[1], group), zero),
                     "{0} channels are not a multiple of group {1}", x.sizes[1], group)))
    return failure();
  FailureOr<SmallVector<Axis>> axes = spatialAxes(l, op, x, w);
  if (failed(axes))
    return failure();
  OpFoldResult channelsIn = l.floorDiv(x.sizes[1], group), channelsOut = w.sizes[1];
  Sizes result = {x.sizes[0], l.mul(channelsOut, group)};
  for (const Axis &axis : *axes)
    result.push_back(axis.result);
  bool hasBias = !l.absent(op, 2);
  Lowered bias;
  if (hasBias) {
    bias = l.operand(op, 2);
    if (bias.rank() != 1)
      return l.unsupported(op, "the bias has rank " + Twine(bias.rank()) + ", needs 1");
    if (failed(l.check(op, l.equal(bias.sizes[0], result[1]),
                       "the bias has {0} values for {1} channels", bias.sizes[0], result[1])))
      return failure();
  }

  // Loops: the result's dimensions, the channels of a group, the taps.
  Sizes loops = result;
  loops.push_back(channelsIn);
  for (const Axis &axis : *axes)
    loops.push_back(axis.kernel);
  SmallVector<bool> reduced(rank, false);
  reduced.resize(loops.size(), true);
  Type type = x.elementType, compute = accumulatorType(type);
  bool plain = !hasBias && compute == type;
  Value value = l.dispatch(
      op->getLoc(), OutputSpec{result, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto step = [&](OpBuilder &nested, Location at, Value accumulator, ValueRange) -> Value {
          auto loop = [&](int64_t i) -> Value { return nested.create<linalg::IndexOp>(at, i); };
          Value channel = loop(rank), out = loop(1);
          if (groups != 1) {
            Value perGroup = bodyValue(nested, at, channelsOut);
            Value first =
                nested.create<arith::MulIOp>(at, nested.create<arith::DivUIOp>(at, out, perGroup),
                                             bodyValue(nested, at, channelsIn));
            channel = nested.create<arith::AddIOp>(at, first, channel);
            out = nested.create<arith::RemUIOp>(at, out, perGroup);
          }
          SmallVector<Value> from = {loop(0), channel}, weight = {channel, out};
          Value inside;
          for (auto [i, axis] : llvm::enumerate(*axes)) {
            Value k = loop(rank + 1 + i);
            from.push_back(sourceIndex(nested, at, axis, loop(2 + i), k, inside));
            weight.push_back(k);
          }
          // Both are guarded: a weight that is not finite must not reach a position without its
          // input.
          auto read = [&](Value tensor, ValueRange indices) {
            Value zero = scalarConstant(nested, at, type, 0);
            Value element =
                guarded(nested, at, inside, zero, [&](OpBuilder &then, Location in) -> Value {
                  return then.create<tensor::ExtractOp>(in, tensor, indices);
                });
            return widen(nested, at, element, type, compute);
          };
          Value element = read(x.tensor, from), factor = read(w.tensor, weight);
          return nested.create<math::FmaOp>(at, element, factor, accumulator);
        };
        Value sum = reduceGeneric(l, b, loc, loops, reduced, Combine::Add, compute, {}, step,
                                  plain ? inits[0] : Value());
        if (plain)
          return SmallVector<Value>{sum};
        SmallVector<Read> reads = {{sum, identityMap(b.getContext(), rank)}};
        if (hasBias)
          reads.push_back({bias.tensor, selectDims(b.getContext(), rank, {1})});
        return SmallVector<Value>{mapGeneric(
            l, b, loc, result, type, reads,
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              Value total = scalars[0];
              if (hasBias)
                total = nested.create<arith::AddFOp>(at, total,
                                                     widen(nested, at, scalars[1], type, compute));
              return widen(nested, at, total, compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, value, result, type);
  return success();
}

void registerConvTranspose(OperatorTable &table) { table["ConvTranspose"] = {lowerConvTranspose}; }

} // namespace cameo
