// Pools: MaxPool, AveragePool, LpPool and their global forms.
//
//   onnx.MaxPool(%x)  ==>  kernel.dispatch { linalg.generic reducing over the taps of a window }
//
// Padding is not materialised: a tap outside the input contributes the neutral element.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"
#include "passes/linalg/WindowTaps.h"

using namespace mlir;

namespace cameo {

namespace {
enum class Pool { Max, Average, Lp };

/// A pool over x [N, C, spatial...]; its loops are N, C, the positions and the taps.
struct PoolLoops {
  Lowered x;
  Windows windows;
  Sizes result, loops;
  SmallVector<bool> reduced;
};
} // namespace

static FailureOr<PoolLoops> poolLoops(Lowering &l, Operation *op) {
  PoolLoops pool;
  pool.x = l.operand(op, 0);
  FailureOr<onnx::WindowShape> shape = onnx::inferPool(l.plan, op, pool.x.sizes);
  if (failed(shape))
    return failure();
  pool.windows = shape->windows;
  pool.result = pool.loops = shape->result;
  for (const Window &window : pool.windows)
    pool.loops.push_back(window.kernel);
  pool.reduced.assign(pool.result.size(), false);
  pool.reduced.resize(pool.loops.size(), true);
  return pool;
}

namespace {
/// A tap inside a body: its indices into x and whether it is inside (null: always).
struct Tap {
  SmallVector<Value> indices;
  Value inside;
};
} // namespace

static Tap tapOf(OpBuilder &b, Location loc, const PoolLoops &pool) {
  Tap tap;
  int64_t rank = pool.x.rank();
  for (int64_t i = 0; i < 2; ++i)
    tap.indices.push_back(b.create<linalg::IndexOp>(loc, i));
  for (auto [i, window] : llvm::enumerate(pool.windows)) {
    Value o = b.create<linalg::IndexOp>(loc, 2 + i), k = b.create<linalg::IndexOp>(loc, rank + i);
    Value index = tapIndex(b, loc, window, o, k);
    tap.indices.push_back(index);
    if (alwaysInside(window))
      continue;
    Value inside = isInside(b, loc, index, bodyValue(b, loc, window.input));
    tap.inside = tap.inside ? b.create<arith::AndIOp>(loc, tap.inside, inside) : inside;
  }
  return tap;
}

/// The element at the tap, `otherwise` outside.
static Value loadTap(OpBuilder &b, Location loc, const PoolLoops &pool, const Tap &tap,
                     Value otherwise) {
  auto load = [&](OpBuilder &then, Location at) -> Value {
    return then.create<tensor::ExtractOp>(at, pool.x.tensor, tap.indices);
  };
  return tap.inside ? guarded(b, loc, tap.inside, otherwise, load) : load(b, loc);
}

static Value powerOf(OpBuilder &b, Location loc, Value x, double exponent) {
  if (exponent == 1)
    return x;
  if (exponent == 0.5)
    return b.create<math::SqrtOp>(loc, x);
  return b.create<math::PowFOp>(loc, x, scalarConstant(b, loc, x.getType(), exponent));
}

/// accumulator + |x| ^ p
static Value addPower(OpBuilder &b, Location loc, Value accumulator, Value x, int64_t p) {
  if (p == 2)
    return b.create<math::FmaOp>(loc, x, x, accumulator);
  Value absolute = b.create<math::AbsFOp>(loc, x);
  return b.create<arith::AddFOp>(loc, accumulator, powerOf(b, loc, absolute, p));
}

/// x as windows slide over it: padded where a tap can be outside, read at o * stride + k *
/// dilation.
static Read windowRead(Lowering &l, OpBuilder &b, Location loc, const PoolLoops &pool,
                       function_ref<Value()> padding) {
  int64_t rank = pool.x.rank(), loops = pool.loops.size();
  Sizes low(2, l.plan.index(0)), high(low), sizes(pool.x.sizes);
  SmallVector<AffineExpr> place{b.getAffineDimExpr(0), b.getAffineDimExpr(1)};
  bool pads = false;
  for (auto [i, window] : llvm::enumerate(pool.windows)) {
    place.push_back(b.getAffineDimExpr(2 + i) * window.stride +
                    b.getAffineDimExpr(rank + i) * window.dilation);
    low.push_back(window.before);
    high.push_back(l.plan.index(0));
    if (alwaysInside(window))
      continue;
    // Rounding the count up may leave the padding, too.
    OpFoldResult reach = l.plan.add(
        l.plan.add(
            l.plan.mul(l.plan.sub(window.count, l.plan.index(1)), l.plan.index(window.stride)),
            l.plan.mul(l.plan.sub(window.kernel, l.plan.index(1)), l.plan.index(window.dilation))),
        l.plan.index(1));
    OpFoldResult before = l.plan.add(window.input, window.before);
    high.back() = l.plan.max(l.plan.sub(reach, before), l.plan.index(0));
    sizes[2 + i] = l.plan.add(before, high.back());
    pads = true;
  }
  Value tensor = pool.x.tensor;
  if (pads)
    tensor = b.create<tensor::PadOp>(loc, tensorType(sizes, pool.x.elementType), tensor, low, high,
                                     padding());
  return {tensor, AffineMap::get(loops, 0, place, b.getContext())};
}

//===-- MaxPool -------------------------------------------------------------------------------===//

/// The position of a tap in x flattened, the spatial part by rows or by columns.
static Value flatPosition(OpBuilder &b, Location loc, const PoolLoops &pool, const Tap &tap,
                          bool columns) {
  int64_t rank = pool.x.rank();
  SmallVector<int64_t> order = {0, 1};
  for (int64_t i = 2; i < rank; ++i)
    order.push_back(columns ? rank + 1 - i : i);
  Value flat = tap.indices[0];
  for (int64_t dim : llvm::drop_begin(order)) {
    Value size = bodyValue(b, loc, pool.x.sizes[dim]);
    flat = b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, flat, size), tap.indices[dim]);
  }
  return fromIndex(b, loc, flat, b.getI64Type());
}

static LogicalResult lowerMaxPoolWithIndices(Operation *op, Lowering &l, const PoolLoops &pool) {
  Type type = pool.x.elementType, i64 = l.builder().getI64Type();
  bool columns = intAttribute(op, "storage_order", 0) != 0;
  SmallVector<Value> results = l.build.dispatch(
      op->getLoc(), {OutputSpec{pool.result, type}, OutputSpec{pool.result, i64}},
      [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto search = [&](OpBuilder &nested, Location at, Value best, Value position,
                          ValueRange) -> std::pair<Value, Value> {
          Tap tap = tapOf(nested, at, pool);
          Value element = loadTap(nested, at, pool, tap, best);
          Value better = isBetter(nested, at, element, best, type, true, false);
          // The first tap inside counts even where it is the least value.
          Value none = nested.create<arith::CmpIOp>(at, arith::CmpIPredicate::slt, position,
                                                    scalarConstant(nested, at, i64, 0));
          better = nested.create<arith::OrIOp>(at, better, none);
          if (tap.inside)
            better = nested.create<arith::AndIOp>(at, better, tap.inside);
          Value here = flatPosition(nested, at, pool, tap, columns);
          return {nested.create<arith::SelectOp>(at, better, element, best),
                  nested.create<arith::SelectOp>(at, better, here, position)};
        };
        auto [best, position] = searchGeneric(l, b, loc, pool.loops, pool.reduced, Combine::Max,
                                              type, -1, {}, search, inits[0], inits[1]);
        return SmallVector<Value>{best, position};
      });
  l.define(op, 0, results[0], pool.result, type);
  l.define(op, 1, results[1], pool.result, i64);
  return success();
}

static LogicalResult lowerMaxPool(Operation *op, Lowering &l) {
  FailureOr<PoolLoops> pool = poolLoops(l, op);
  if (failed(pool))
    return failure();
  if (op->getNumResults() > 1 && !op->getResult(1).use_empty())
    return lowerMaxPoolWithIndices(op, l, *pool);
  Type type = pool->x.elementType;
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{pool->result, type},
      [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto step = [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
          return combine(nested, at, Combine::Max, type, accumulator, scalars[0]);
        };
        Read read =
            windowRead(l, b, loc, *pool, [&] { return neutral(b, loc, Combine::Max, type); });
        return SmallVector<Value>{reduceGeneric(l, b, loc, pool->loops, pool->reduced, Combine::Max,
                                                type, read, step, inits[0])};
      })[0];
  l.define(op, 0, result, pool->result, type);
  return success();
}

//===-- AveragePool, LpPool -------------------------------------------------------------------===//

/// How many taps a position averages over.
static Value averagedTaps(OpBuilder &b, Location loc, const PoolLoops &pool, bool padding) {
  Value taps;
  for (auto [i, window] : llvm::enumerate(pool.windows)) {
    Value o = b.create<linalg::IndexOp>(loc, 2 + i);
    OpFoldResult zero = b.getIndexAttr(0);
    Value here = alwaysInside(window)
                     ? bodyValue(b, loc, window.kernel)
                     : tapsInside(b, loc, window, o, padding ? window.before : zero,
                                  padding ? window.after : zero);
    taps = taps ? b.create<arith::MulIOp>(loc, taps, here) : here;
  }
  return taps;
}

template <Pool kind> static LogicalResult lowerSumPool(Operation *op, Lowering &l) {
  FailureOr<PoolLoops> pool = poolLoops(l, op);
  if (failed(pool))
    return failure();
  int64_t p = intAttribute(op, "p", 2);
  bool padding = intAttribute(op, "count_include_pad", 0) != 0;
  Type type = pool->x.elementType, compute = accumulatorType(type);
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{pool->result, type},
      [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto step = [&](OpBuilder &nested, Location at, Value accumulator,
                        ValueRange scalars) -> Value {
          Value element = widen(nested, at, scalars[0], type, compute);
          if (kind == Pool::Lp)
            return addPower(nested, at, accumulator, element, p);
          return nested.create<arith::AddFOp>(at, accumulator, element);
        };
        Value sum = reduceGeneric(
            l, b, loc, pool->loops, pool->reduced, Combine::Add, compute,
            windowRead(l, b, loc, *pool, [&] { return scalarConstant(b, loc, signless(type), 0); }),
            step);
        return SmallVector<Value>{mapGeneric(
            l, b, loc, pool->result, type, Read{sum, identityMap(b.getContext(), pool->x.rank())},
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              Value value = scalars[0];
              if (kind == Pool::Lp)
                value = powerOf(nested, at, value, 1.0 / p);
              else
                value = nested.create<arith::DivFOp>(
                    at, value,
                    fromIndex(nested, at, averagedTaps(nested, at, *pool, padding), compute));
              return widen(nested, at, value, compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, result, pool->result, type);
  return success();
}

//===-- Global pools --------------------------------------------------------------------------===//

template <Pool kind> static LogicalResult lowerGlobalPool(Operation *op, Lowering &l) {
  Lowered x = l.operand(op, 0);
  FailureOr<Sizes> sizes = onnx::inferGlobalPool(l.plan, op, x.sizes);
  if (failed(sizes))
    return failure();
  int64_t p = intAttribute(op, "p", 2);
  Type type = x.elementType, compute = kind == Pool::Max ? type : accumulatorType(type);
  Sizes rows = {x.sizes[0], x.sizes[1]};
  OpFoldResult count = l.plan.product(ArrayRef(x.sizes).drop_front(2));
  Lowered lines = l.build.reshape(op->getLoc(), x, {rows[0], rows[1], count});
  Combine combination = kind == Pool::Max ? Combine::Max : Combine::Add;
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{rows, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        Read element{lines.tensor, identityMap(b.getContext(), 3)};
        auto step = [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
          Value wide = widen(nested, at, scalars[0], type, compute);
          if (kind == Pool::Lp)
            return addPower(nested, at, accumulator, wide, p);
          return combine(nested, at, combination, compute, accumulator, wide);
        };
        Value row = reduceGeneric(l, b, loc, lines.sizes, {false, false, true}, combination,
                                  compute, element, step, kind == Pool::Max ? inits[0] : Value());
        if (kind == Pool::Max)
          return SmallVector<Value>{row};
        return SmallVector<Value>{mapGeneric(
            l, b, loc, rows, type, Read{row, identityMap(b.getContext(), 2)},
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              Value value = scalars[0];
              if (kind == Pool::Lp)
                value = powerOf(nested, at, value, 1.0 / p);
              else
                value = nested.create<arith::DivFOp>(
                    at, value, fromIndex(nested, at, bodyValue(nested, at, count), compute));
              return widen(nested, at, value, compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, l.build.reshape(op->getLoc(), Lowered{result, rows, type}, *sizes));
  return success();
}

void registerPoolingOperators(LoweringRows &rows) {
  rows.add<onnx::MaxPoolOp>({lowerMaxPool});
  rows.add<onnx::AveragePoolOp>({lowerSumPool<Pool::Average>});
  rows.add<onnx::LpPoolOp>({lowerSumPool<Pool::Lp>});
  rows.add<onnx::GlobalMaxPoolOp>({lowerGlobalPool<Pool::Max>});
  rows.add<onnx::GlobalAveragePoolOp>({lowerGlobalPool<Pool::Average>});
  rows.add<onnx::GlobalLpPoolOp>({lowerGlobalPool<Pool::Lp>});
}

} // namespace cameo
