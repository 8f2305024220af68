// Updates at computed places: ScatterND, ScatterElements, TensorScatter.
//
//   onnx.ScatterND  ==>  the numbers of the updates, sorted by the rows that they go to
//                   ==>  kernel.insert: of the updates of a row the last one
//                   or   linalg.generic: each row finds its updates in them by a search, and combines them
//
// Equal rows keep the order of their updates: the last one wins, and sums are in that order, without atomic operations
// and the same in each run. Indices are moved into their range as those of Gather are.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Axes.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/Sorting.h"

using namespace mlir;

namespace cameo {
namespace {

/// Rows of data, and rows that are written to some of them.
struct Updates {
  Lowered data, given; // [rows, width], [count, width]
  OpFoldResult rows, width, count;
  std::optional<Combine> combine; // nothing: the last one is taken
};

/// The row that update `number` goes to, inside of a body.
using TargetFunction = llvm::function_ref<Value(OpBuilder &, Location, Value number)>;

class Scatterer {
public:
  Scatterer(Lowering &l, Location loc, const Updates &updates)
      : l(l), loc(loc), updates(updates), type(updates.data.elementType) {}

  Lowered scatter(TargetFunction target) {
    return updates.combine ? combineAll(target) : insertLast(target);
  }

private:
  void sort(TargetFunction target) {
    order = sortLines(l, loc, l.plan.index(1), updates.count, updates.count,
                      [&](OpBuilder &b, Location loc, Value, Value number) {
                        return packKey(b, loc, rowOf(b, loc, target, number), number);
                      });
  }

  static Value rowOf(OpBuilder &b, Location loc, TargetFunction target, Value number) {
    return b.create<arith::IndexCastUIOp>(loc, b.getI64Type(), target(b, loc, number));
  }

  Value sorted(OpBuilder &b, Location loc, Value index) {
    return order.at(b, loc, indexConstant(b, loc, 0), index);
  }

  /// Of the updates of a row the last one is written over the data.
  Lowered insertLast(TargetFunction target) {
    OpFoldResult one = l.plan.index(1);
    bool isOne = isConstantIntValue(updates.count, 1);
    if (!isOne)
      sort(target);
    Sizes lines{one, updates.count}, rows{one, updates.count, updates.width};
    Value places = l.build.compute(
        loc, lines, l.builder().getI64Type(), [&](OpBuilder &b, Location loc, ValueRange at) {
          return isOne ? rowOf(b, loc, target, at[1]) : placeOfSorted(b, loc, at[1]);
        });
    Lowered values = l.build.reshape(loc, updates.given, rows);
    if (!isOne)
      values.tensor =
          l.build.compute(loc, rows, type, [&](OpBuilder &b, Location loc, ValueRange at) {
            return update(b, loc, sorted(b, loc, at[1]), at.drop_front());
          });
    Lowered data = l.build.reshape(loc, updates.data, {one, updates.rows, updates.width});
    data.tensor = l.build.update(loc, data, [&](OpBuilder &b, Location loc, Value init) {
      return b.create<kernel::InsertOp>(loc, init.getType(), values.tensor, places, init, 1)
          .getResult();
    });
    return data;
  }

  /// The row of a sorted update; nowhere, where the next one is of the same row.
  Value placeOfSorted(OpBuilder &b, Location loc, Value index) {
    IndexMath math(b, loc);
    Value row = keyOf(b, loc, sorted(b, loc, index)), next = math.add(index, b.getIndexAttr(1));
    Value nowhere = scalarConstant(b, loc, b.getI64Type(), -1);
    Value after = math.choose(
        math.compare(arith::CmpIPredicate::slt, next, updates.count),
        [&](OpBuilder &b, Location loc) { return keyOf(b, loc, sorted(b, loc, next)); },
        [&](OpBuilder &, Location) { return nowhere; });
    Value isLast = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, row, after);
    return b.create<arith::SelectOp>(loc, isLast, row, nowhere);
  }

  Lowered combineAll(TargetFunction target) {
    sort(target);
    // Rows of several elements are sought once.
    if (!isConstantIntValue(updates.width, 1)) {
      Sizes sizes{updates.rows};
      Type count = l.builder().getI32Type();
      Value found =
          l.build.compute(loc, sizes, count, [&](OpBuilder &b, Location loc, ValueRange at) {
            Value end = search(b, loc, at[0], IndexMath(b, loc).of(updates.count), true);
            return fromIndex(b, loc, end, count);
          });
      ends = Lowered{found, sizes, count};
    }
    Sizes sizes{updates.rows, updates.width};
    Value result =
        l.build.compute(loc, sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) {
          return combined(b, loc, at);
        });
    return {result, sizes, type};
  }

  /// How many updates of the sorted ones up to `limit` go to rows before `row`, or to it, too.
  Value search(OpBuilder &b, Location loc, Value row, Value limit, bool withRow) {
    Value zero = indexConstant(b, loc, 0);
    return searchIndex(b, loc, zero, limit, [&](OpBuilder &b, Location loc, Value index) -> Value {
      Value wide = b.create<arith::IndexCastUIOp>(loc, b.getI64Type(), row);
      Value other = keyOf(b, loc, sorted(b, loc, index));
      return b.create<arith::CmpIOp>(
          loc, withRow ? arith::CmpIPredicate::sle : arith::CmpIPredicate::slt, other, wide);
    });
  }

  Value endOf(OpBuilder &b, Location loc, Value row) {
    IndexMath math(b, loc);
    if (!ends.tensor)
      return search(b, loc, row, math.of(updates.count), true);
    return math.toIndex(math.element(ends, row), ends.elementType);
  }

  Value beginOf(OpBuilder &b, Location loc, Value row, Value end) {
    if (!ends.tensor)
      return search(b, loc, row, end, false);
    IndexMath math(b, loc);
    Value isFirst = math.compare(arith::CmpIPredicate::eq, row, b.getIndexAttr(0));
    return math.choose(
        isFirst, [](OpBuilder &b, Location loc) { return indexConstant(b, loc, 0); },
        [&](OpBuilder &b, Location loc) {
          return endOf(b, loc, IndexMath(b, loc).sub(row, b.getIndexAttr(1)));
        });
  }

  /// The update's element in the column of `at`.
  Value update(OpBuilder &b, Location loc, Value packed, ValueRange at) {
    return IndexMath(b, loc).element(updates.given, ValueRange{placeOf(b, loc, packed), at[1]});
  }

  /// The element with all updates, each of which rounds as an operator of its own would.
  Value combined(OpBuilder &b, Location loc, ValueRange at) {
    Type compute = accumulatorType(type);
    Value end = endOf(b, loc, at[0]), begin = beginOf(b, loc, at[0], end);
    Value start = IndexMath(b, loc).element(updates.data, at);
    auto loop =
        b.create<scf::ForOp>(loc, begin, end, indexConstant(b, loc, 1), ValueRange{start},
                             [&](OpBuilder &b, Location loc, Value index, ValueRange carried) {
                               Value packed = sorted(b, loc, index);
                               Value more =
                                   widen(b, loc, update(b, loc, packed, at), type, compute);
                               Value sofar = widen(b, loc, carried[0], type, compute);
                               Value next = combine(b, loc, compute, sofar, more);
                               b.create<scf::YieldOp>(loc, widen(b, loc, next, compute, type));
                             });
    return loop.getResult(0);
  }

  /// Of booleans one that is true makes a sum or a maximum true, and one that is false a product or a
  /// minimum false.
  Value combine(OpBuilder &b, Location loc, Type compute, Value sofar, Value more) {
    if (!type.isInteger(1))
      return cameo::combine(b, loc, *updates.combine, compute, sofar, more);
    bool isAny = *updates.combine == Combine::Add || *updates.combine == Combine::Max;
    return isAny ? b.create<arith::OrIOp>(loc, sofar, more).getResult()
                 : b.create<arith::AndIOp>(loc, sofar, more).getResult();
  }

  Lowering &l;
  Location loc;
  const Updates &updates;
  Type type;
  SortedLines order;
  Lowered ends; // of each row's updates; nothing where each element seeks them
};

std::optional<Combine> combineOf(StringRef reduction) {
  return llvm::StringSwitch<std::optional<Combine>>(reduction)
      .Case("add", Combine::Add)
      .Case("mul", Combine::Mul)
      .Case("max", Combine::Max)
      .Case("min", Combine::Min)
      .Default(std::nullopt);
}

/// Defines the result, with the sizes of the data.
void define(Lowering &l, Operation *op, const Updates &updates, const Sizes &sizes,
            TargetFunction target) {
  if (isConstantIntValue(updates.count, 0))
    return l.define(op, 0, l.operand(op, 0));
  Lowered result = Scatterer(l, op->getLoc(), updates).scatter(target);
  l.define(op, 0, l.build.reshape(op->getLoc(), result, sizes));
}

LogicalResult lowerScatterND(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Lowered data = l.operand(op, 0), indices = l.operand(op, 1), given = l.operand(op, 2);
  int64_t depth = *getConstantIntValue(indices.sizes.back());
  ArrayRef<OpFoldResult> all(data.sizes), lists(indices.sizes);
  Updates updates;
  updates.rows = l.plan.product(all.take_front(depth));
  updates.width = l.plan.product(all.drop_front(depth));
  updates.count = l.plan.product(lists.drop_back());
  updates.combine = combineOf(cast<onnx::ScatterNDOp>(op).getReduction());
  updates.data = l.build.reshape(op->getLoc(), data, {updates.rows, updates.width});
  updates.given = l.build.reshape(op->getLoc(), given, {updates.count, updates.width});
  Lowered places = l.build.reshape(op->getLoc(), indices, {updates.count, lists.back()});
  define(l, op, updates, *sizes, [&](OpBuilder &b, Location loc, Value number) {
    IndexMath math(b, loc);
    Value row;
    for (int64_t i = 0; i < depth; ++i) {
      Value index = math.element(places, ValueRange{number, indexConstant(b, loc, i)});
      index = math.wrapNegative(math.toIndex(index, places.elementType), data.sizes[i]);
      row = row ? math.add(math.mul(row, data.sizes[i]), index) : index;
    }
    return row;
  });
  return success();
}

LogicalResult lowerScatterElements(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Lowered data = l.operand(op, 0), indices = l.operand(op, 1), given = l.operand(op, 2);
  auto scatter = cast<onnx::ScatterElementsOp>(op);
  int64_t axis = *onnx::normalizedAxis(scatter.getAxis(), data.rank());
  OpFoldResult one = l.plan.index(1);
  Updates updates;
  updates.rows = l.plan.product(data.sizes);
  updates.width = one;
  updates.count = l.plan.product(indices.sizes);
  updates.combine = combineOf(scatter.getReduction());
  updates.data = l.build.reshape(op->getLoc(), data, {updates.rows, one});
  updates.given = l.build.reshape(op->getLoc(), given, {updates.count, one});
  Lowered places = l.build.reshape(op->getLoc(), indices, {updates.count});
  define(l, op, updates, *sizes, [&](OpBuilder &b, Location loc, Value number) {
    IndexMath math(b, loc);
    SmallVector<Value> at(data.rank());
    Value rest = number;
    for (int64_t dim = data.rank(); dim-- > 0;) {
      Value size = math.of(indices.sizes[dim]);
      at[dim] = dim ? b.create<arith::RemUIOp>(loc, rest, size).getResult() : rest;
      rest = dim ? b.create<arith::DivUIOp>(loc, rest, size).getResult() : rest;
    }
    Value index = math.toIndex(math.element(places, number), places.elementType);
    at[axis] = math.wrapNegative(index, data.sizes[axis]);
    Value row = at[0];
    for (int64_t dim = 1; dim < data.rank(); ++dim)
      row = math.add(math.mul(row, data.sizes[dim]), at[dim]);
    return row;
  });
  return success();
}

//===-- TensorScatter -------------------------------------------------------------------------===//

/// The place of each update along its axis, [batch, count], in 64 bits as they are given. One that another one would
/// be written over is outside.
Value placesOf(Lowering &l, Location loc, onnx::TensorScatterOp op, OpFoldResult count,
               OpFoldResult length) {
  std::optional<Lowered> starts;
  if (!l.absent(op, 2))
    starts = l.operand(op, 2);
  Sizes sizes{l.operand(op, 0).sizes[0], count};
  Type type = l.builder().getI64Type();
  bool isCircular = op.getMode() == "circular";
  return l.build.compute(loc, sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) {
    IndexMath math(b, loc);
    auto wide = [&](Value index) -> Value {
      return b.create<arith::IndexCastOp>(loc, type, index);
    };
    Value number = wide(at[1]), zero = scalarConstant(b, loc, type, 0);
    Value start =
        starts ? convertScalar(b, loc, math.element(*starts, at[0]), starts->elementType, type)
               : zero;
    if (!isCircular)
      return b.create<arith::AddIOp>(loc, start, number).getResult();
    Value around = wide(math.of(length));
    Value divisor = b.create<arith::MaxSIOp>(loc, around, scalarConstant(b, loc, type, 1));
    auto modulo = [&](Value value) -> Value {
      Value rest = b.create<arith::RemSIOp>(loc, value, divisor);
      Value isNegative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, rest, zero);
      Value moved = b.create<arith::AddIOp>(loc, rest, divisor);
      return b.create<arith::SelectOp>(loc, isNegative, moved, rest);
    };
    Value place = modulo(b.create<arith::AddIOp>(loc, modulo(start), number));
    Value left = b.create<arith::SubIOp>(loc, wide(math.of(count)), number);
    Value isLast = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, left, around);
    return b.create<arith::SelectOp>(loc, isLast, place, scalarConstant(b, loc, type, -1))
        .getResult();
  });
}

/// The cache with the update in its place: a kernel writes this and nothing else.
LogicalResult lowerTensorScatter(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  auto scatter = cast<onnx::TensorScatterOp>(op);
  Lowered cache = l.operand(op, 0), update = l.operand(op, 1);
  int64_t axis = *onnx::normalizedAxis(scatter.getAxis(), cache.rank());
  Value places = placesOf(l, op->getLoc(), scatter, update.sizes[axis], cache.sizes[axis]);
  Sizes sizes(cache.sizes);
  sizes[axis] = update.sizes[axis];
  Value values = l.build.withSizes(update.tensor, sizes);
  Value result = l.build.update(op->getLoc(), cache, [&](OpBuilder &b, Location loc, Value init) {
    return b.create<kernel::InsertOp>(loc, init.getType(), values, places, init, axis).getResult();
  });
  l.define(op, 0, result, cache.sizes, cache.elementType);
  return success();
}

} // namespace

void registerScatterOperators(LoweringRows &rows) {
  rows.add<onnx::ScatterNDOp>(
      {lowerScatterND, "last size of indices known at compile time; indices read at run time are "
                       "moved into range, not reported"});
  rows.add<onnx::ScatterElementsOp>(
      {lowerScatterElements, "indices read at run time are moved into range, not reported"});
  rows.add<onnx::TensorScatterOp>(
      {lowerTensorScatter, "updates beyond the cache are left out, not reported"});
}

} // namespace cameo
