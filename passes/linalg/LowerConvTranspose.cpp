// ConvTranspose as matrix products. Tap k of a window reaches position o of the result from element
// i of the input where o + before = i * stride + k * dilation.
//
// Where the stride divides the kernel, one product has all of it (ConvTransposePhases.cpp).
// Elsewhere all products of an element of the input and a tap are one dispatch, and a second one
// adds up those that reach an element of the result:
//
//   "onnx.ConvTranspose"(%x, %w)  ==>  kernel.dispatch { product }, kernel.dispatch { sums }
//     [n, g, f, k..., i..., c] -> X[n, g, c, i...], W[g, c, f, k...]
//     Y[n, f, o...] = sum over t of P[n, f, k..., i...]
//
// Where neither fills the tiles of a product, one dispatch sums what reaches an element, over
// channels and taps.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Contraction.h"
#include "passes/linalg/ConvTranspose.h"
#include "passes/linalg/Families.h"

using namespace mlir;

namespace cameo {
static FailureOr<TransposedConvolution> readTransposed(Operation *op, Lowering &l) {
  FailureOr<Convolution> conv = readConvolution(op, l, onnx::inferConvTranspose);
  if (failed(conv))
    return failure();
  OpFoldResult groups = l.plan.index(conv->groups);
  OpFoldResult channels = l.plan.floorDiv(conv->x.sizes[1], groups);
  TransposedConvolution result{*conv, channels, conv->w.sizes[1], conv->x, conv->w};
  if (result.isGrouped()) {
    Location loc = op->getLoc();
    result.groupedX = l.build.reshape(loc, conv->x, splitSizes(conv->x.sizes, 1, groups, channels));
    result.groupedW = l.build.reshape(loc, conv->w, splitSizes(conv->w.sizes, 0, groups, channels));
  }
  return result;
}

//===-- Sums of what reaches an element -------------------------------------------------------===//

static bool isStrideApart(const Window &window) {
  return window.stride != 1 && window.dilation == 1;
}

/// How many taps may reach one position.
static OpFoldResult tapsOf(const Window &window, Lowering &l) {
  return isStrideApart(window) ? l.plan.ceilDiv(window.kernel, l.plan.index(window.stride))
                               : window.kernel;
}

/// The tap, number `t` of those of position `o`, and the input index that it reaches that from;
/// clears `inside` where there is none.
static std::pair<Value, Value> tapAt(OpBuilder &b, Location loc, const Window &window, Value o,
                                     Value t, Value &inside) {
  auto require = [&](Value condition) {
    inside = inside ? b.create<arith::AndIOp>(loc, inside, condition) : condition;
  };
  Value position = b.create<arith::AddIOp>(loc, o, bodyValue(b, loc, window.before));
  Value stride = indexConstant(b, loc, window.stride), tap = t, index;
  if (isStrideApart(window)) {
    Value first = b.create<arith::RemUIOp>(loc, position, stride);
    tap = b.create<arith::AddIOp>(loc, first, b.create<arith::MulIOp>(loc, t, stride));
    index = b.create<arith::SubIOp>(loc, b.create<arith::DivUIOp>(loc, position, stride), t);
    std::optional<int64_t> kernel = getConstantIntValue(window.kernel);
    if (!kernel || *kernel % window.stride != 0)
      require(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, tap,
                                      bodyValue(b, loc, window.kernel)));
  } else {
    Value distance = tap;
    if (window.dilation != 1)
      distance = b.create<arith::MulIOp>(loc, tap, indexConstant(b, loc, window.dilation));
    index = b.create<arith::SubIOp>(loc, position, distance);
    if (window.stride != 1) {
      // The unsigned remainder of a negative distance does not matter.
      Value zero = indexConstant(b, loc, 0), at = index;
      require(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, at, zero));
      Value remainder = b.create<arith::RemUIOp>(loc, at, stride);
      require(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, remainder, zero));
      index = b.create<arith::DivUIOp>(loc, at, stride);
    }
  }
  require(isInside(b, loc, index, bodyValue(b, loc, window.count)));
  return {tap, index};
}

/// A sum for each element of the result of what `step` adds to it, over `reduced` loops and the
/// taps; and the bias.
static Lowered sumTaps(Operation *op, const TransposedConvolution &conv, const Sizes &reduced,
                       Lowering &l,
                       function_ref<Value(OpBuilder &, Location, Value accumulator)> step) {
  int64_t rank = conv.x.rank();
  Sizes loops = conv.result;
  llvm::append_range(loops, reduced);
  for (const Window &window : conv.windows)
    loops.push_back(tapsOf(window, l));
  SmallVector<bool> isReduced(rank, false);
  isReduced.resize(loops.size(), true);
  Type type = conv.x.elementType, compute = accumulatorType(type);
  bool plain = !conv.bias && compute == type;
  OutputSpec output{conv.result, type};
  Value value =
      l.build.dispatch(op->getLoc(), output, [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto add = [&](OpBuilder &nested, Location at, Value accumulator, ValueRange) {
          return step(nested, at, accumulator);
        };
        Value sum = reduceGeneric(l, b, loc, loops, isReduced, Combine::Add, compute, {}, add,
                                  plain ? inits[0] : Value());
        if (plain)
          return SmallVector<Value>{sum};
        SmallVector<Read> reads = {{sum, identityMap(b.getContext(), rank)}};
        if (conv.bias)
          reads.push_back({conv.bias->tensor, selectDims(b.getContext(), rank, {1})});
        auto finish = [&](OpBuilder &nested, Location at, ValueRange scalars) {
          Value total = scalars[0];
          if (conv.bias)
            total = nested.create<arith::AddFOp>(at, total,
                                                 widen(nested, at, scalars[1], type, compute));
          return widen(nested, at, total, compute, type);
        };
        return SmallVector<Value>{
            mapGeneric(l, b, loc, conv.result, type, reads, finish, inits[0])};
      })[0];
  return {value, conv.result, type};
}

/// All products of an element of the input and a tap, as [n, channel, k..., i...], in the type of
/// sums.
static Lowered productsOfTaps(Operation *op, const TransposedConvolution &conv, Lowering &l) {
  MLIRContext *context = op->getContext();
  unsigned dims = 0;
  auto next = [&] { return getAffineDimExpr(dims++, context); };
  SmallVector<AffineExpr> input{next()}, weight, out(input);
  if (conv.isGrouped()) {
    AffineExpr group = next();
    for (auto *exprs : {&input, &weight, &out})
      exprs->push_back(group);
  }
  AffineExpr filter = next(),
             channel = getAffineDimExpr(conv.lead() + 1 + 2 * conv.spatial(), context);
  out.push_back(filter);
  weight.append({channel, filter});
  input.push_back(channel);
  for (auto *exprs : {&weight, &input})
    for (int64_t i = 0; i < conv.spatial(); ++i) {
      out.push_back(next());
      exprs->push_back(out.back());
    }
  SmallVector<utils::IteratorType> iterators(dims++, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(dims, 0, exprs, context); };

  Location loc = op->getLoc();
  Sizes sizes(conv.groupedX.sizes), joined(conv.result);
  sizes.truncate(conv.lead());
  joined.truncate(2);
  sizes.push_back(conv.channelsOut);
  for (const Lowered *operand : {&conv.w, &conv.x})
    for (OpFoldResult size : ArrayRef(operand->sizes).drop_front(2)) {
      sizes.push_back(size);
      joined.push_back(size);
    }
  Type type = sumTypeOf(conv.x.elementType, l);
  Value value =
      l.build.dispatch(loc, OutputSpec{sizes, type}, [&](OpBuilder &b, Location at, ValueRange) {
        return SmallVector<Value>{contract(b, at, conv.groupedX.tensor, map(input),
                                           conv.groupedW.tensor, map(weight), sizes, map(out),
                                           conv.x.elementType, iterators, l)};
      })[0];
  return l.build.reshape(loc, Lowered{value, sizes, type}, joined);
}

/// The sum of those products that reach an element. The loops are the result's and the taps.
static Lowered gatherProducts(Operation *op, const TransposedConvolution &conv, Lowering &l) {
  Lowered products = productsOfTaps(op, conv, l);
  int64_t rank = conv.x.rank();
  return sumTaps(op, conv, {}, l, [&](OpBuilder &b, Location loc, Value accumulator) -> Value {
    auto loop = [&](int64_t i) -> Value { return b.create<linalg::IndexOp>(loc, i); };
    SmallVector<Value> at{loop(0), loop(1)}, indices;
    Value inside;
    for (auto [i, window] : llvm::enumerate(conv.windows)) {
      auto [tap, index] = tapAt(b, loc, window, loop(2 + i), loop(rank + i), inside);
      at.push_back(tap);
      indices.push_back(index);
    }
    at.append(indices);
    Value zero = scalarConstant(b, loc, products.elementType, 0);
    Value element = guarded(b, loc, inside, zero, [&](OpBuilder &then, Location in) -> Value {
      return then.create<tensor::ExtractOp>(in, products.tensor, at);
    });
    element = widen(b, loc, element, products.elementType, accumulator.getType());
    return b.create<arith::AddFOp>(loc, accumulator, element);
  });
}

/// The sum over a group's channels and the taps. The loops are the result's, the channels' and the
/// taps'.
static Lowered gatherElements(Operation *op, const TransposedConvolution &conv, Lowering &l) {
  int64_t rank = conv.x.rank();
  return sumTaps(
      op, conv, {conv.channelsIn}, l, [&](OpBuilder &b, Location loc, Value accumulator) -> Value {
        auto loop = [&](int64_t i) -> Value { return b.create<linalg::IndexOp>(loc, i); };
        Value channel = loop(rank), out = loop(1);
        if (conv.isGrouped()) {
          Value perGroup = bodyValue(b, loc, conv.channelsOut);
          Value group = b.create<arith::DivUIOp>(loc, out, perGroup);
          Value first = b.create<arith::MulIOp>(loc, group, bodyValue(b, loc, conv.channelsIn));
          channel = b.create<arith::AddIOp>(loc, first, channel);
          out = b.create<arith::RemUIOp>(loc, out, perGroup);
        }
        SmallVector<Value> from = {loop(0), channel}, weight = {channel, out};
        Value inside;
        for (auto [i, window] : llvm::enumerate(conv.windows)) {
          auto [tap, index] = tapAt(b, loc, window, loop(2 + i), loop(rank + 1 + i), inside);
          from.push_back(index);
          weight.push_back(tap);
        }
        // Both are guarded: a weight that is not finite must not reach a position without its
        // input.
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
      });
}

//===-- The operator --------------------------------------------------------------------------===//

/// Whether the products of taps fill the tiles of a product.
static bool hasProductOfTaps(const TransposedConvolution &conv) {
  ArrayRef<OpFoldResult> taps = ArrayRef(conv.w.sizes).drop_front(2);
  Sizes rows(taps), columns(conv.x.sizes);
  rows.push_back(conv.channelsOut);
  columns.erase(columns.begin() + 1);
  return isEnough(rows) && isEnough(columns) && isEnough(conv.channelsIn);
}

static LogicalResult lowerConvTranspose(Operation *op, Lowering &l) {
  FailureOr<TransposedConvolution> conv = readTransposed(op, l);
  if (failed(conv))
    return failure();
  if (std::optional<Lowered> product = phasesAsProduct(op, *conv, l))
    l.define(op, 0, *product);
  else if (hasProductOfTaps(*conv))
    l.define(op, 0, gatherProducts(op, *conv, l));
  else
    l.define(op, 0, gatherElements(op, *conv, l));
  return success();
}

void registerConvTranspose(LoweringRows &rows) {
  rows.add<onnx::ConvTransposeOp>({lowerConvTranspose});
}

} // namespace cameo
