// ConvTranspose in gather form: each element of the result sums the taps that reach it.
//
//   "onnx.ConvTranspose"(%x, %w)   ==>   kernel.dispatch { linalg.generic over channels and taps }
//
// Tap k reaches position o from input i where i * stride = o + before - k * dilation.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Convolution.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"

using namespace mlir;

namespace cameo {

/// The input index that tap `k` reaches position `o` from; clears `inside` where there is none.
static Value sourceIndex(OpBuilder &b, Location loc, const Window &window, Value o, Value k,
                         Value &inside) {
  Value position = b.create<arith::AddIOp>(loc, o, bodyValue(b, loc, window.before));
  Value tap =
      window.dilation == 1
          ? k
          : b.create<arith::MulIOp>(loc, k, indexConstant(b, loc, window.dilation)).getResult();
  Value distance = b.create<arith::SubIOp>(loc, position, tap), index = distance;
  auto require = [&](Value condition) {
    inside = inside ? b.create<arith::AndIOp>(loc, inside, condition) : condition;
  };
  if (window.stride != 1) {
    // The unsigned remainder of a negative distance does not matter.
    Value stride = indexConstant(b, loc, window.stride), zero = indexConstant(b, loc, 0);
    require(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, distance, zero));
    Value remainder = b.create<arith::RemUIOp>(loc, distance, stride);
    require(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, remainder, zero));
    index = b.create<arith::DivUIOp>(loc, distance, stride);
  }
  require(isInside(b, loc, index, bodyValue(b, loc, window.count)));
  return index;
}

namespace {
struct TransposedConvolution : Convolution {
  OpFoldResult channelsIn, channelsOut; // of a group
};
} // namespace

static FailureOr<TransposedConvolution> readTransposed(Operation *op, Lowering &l) {
  FailureOr<Convolution> conv = readConvolution(op, l, onnx::inferConvTranspose);
  if (failed(conv))
    return failure();
  OpFoldResult channels = l.plan.floorDiv(conv->x.sizes[1], l.plan.index(conv->groups));
  return TransposedConvolution{*conv, channels, conv->w.sizes[1]};
}

/// accumulator + the product of a tap with what it reaches, 0 where that is nothing. The loops are
/// the result's dimensions, the channels of a group and the taps.
static Value addTap(OpBuilder &b, Location loc, const TransposedConvolution &conv,
                    Value accumulator) {
  int64_t rank = conv.x.rank();
  auto loop = [&](int64_t i) -> Value { return b.create<linalg::IndexOp>(loc, i); };
  Value channel = loop(rank), out = loop(1);
  if (conv.groups != 1) {
    Value perGroup = bodyValue(b, loc, conv.channelsOut);
    Value first = b.create<arith::MulIOp>(loc, b.create<arith::DivUIOp>(loc, out, perGroup),
                                          bodyValue(b, loc, conv.channelsIn));
    channel = b.create<arith::AddIOp>(loc, first, channel);
    out = b.create<arith::RemUIOp>(loc, out, perGroup);
  }
  SmallVector<Value> from = {loop(0), channel}, weight = {channel, out};
  Value inside;
  for (auto [i, window] : llvm::enumerate(conv.windows)) {
    Value k = loop(rank + 1 + i);
    from.push_back(sourceIndex(b, loc, window, loop(2 + i), k, inside));
    weight.push_back(k);
  }
  // Both are guarded: a weight that is not finite must not reach a position without its input.
  Type type = conv.x.elementType;
  auto read = [&](Value tensor, ValueRange indices) {
    Value zero = scalarConstant(b, loc, type, 0);
    Value element = guarded(b, loc, inside, zero, [&](OpBuilder &then, Location in) -> Value {
      return then.create<tensor::ExtractOp>(in, tensor, indices);
    });
    return widen(b, loc, element, type, accumulatorType(type));
  };
  Value element = read(conv.x.tensor, from), factor = read(conv.w.tensor, weight);
  return b.create<math::FmaOp>(loc, element, factor, accumulator);
}

static LogicalResult lowerConvTranspose(Operation *op, Lowering &l) {
  FailureOr<TransposedConvolution> conv = readTransposed(op, l);
  if (failed(conv))
    return failure();
  int64_t rank = conv->x.rank();
  Sizes loops = conv->result;
  loops.push_back(conv->channelsIn);
  for (const Window &window : conv->windows)
    loops.push_back(window.kernel);
  SmallVector<bool> reduced(rank, false);
  reduced.resize(loops.size(), true);
  Type type = conv->x.elementType, compute = accumulatorType(type);
  bool plain = !conv->bias && compute == type;
  OutputSpec output{conv->result, type};
  Value value =
      l.build.dispatch(op->getLoc(), output, [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto step = [&](OpBuilder &nested, Location at, Value accumulator, ValueRange) {
          return addTap(nested, at, *conv, accumulator);
        };
        Value sum = reduceGeneric(l, b, loc, loops, reduced, Combine::Add, compute, {}, step,
                                  plain ? inits[0] : Value());
        if (plain)
          return SmallVector<Value>{sum};
        SmallVector<Read> reads = {{sum, identityMap(b.getContext(), rank)}};
        if (conv->bias)
          reads.push_back({conv->bias->tensor, selectDims(b.getContext(), rank, {1})});
        auto finish = [&](OpBuilder &nested, Location at, ValueRange scalars) {
          Value total = scalars[0];
          if (conv->bias)
            total = nested.create<arith::AddFOp>(at, total,
                                                 widen(nested, at, scalars[1], type, compute));
          return widen(nested, at, total, compute, type);
        };
        return SmallVector<Value>{
            mapGeneric(l, b, loc, conv->result, type, reads, finish, inits[0])};
      })[0];
  l.define(op, 0, value, conv->result, type);
  return success();
}

void registerConvTranspose(OperatorTable &table) { table["ConvTranspose"] = {lowerConvTranspose}; }

} // namespace cameo
