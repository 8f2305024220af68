// Operators that put elements into order or choose among them: TopK, NonZero, Compress, Unique.
//
//   onnx.TopK     ==>  places in the order of elements, of which the first k are read through
//   onnx.NonZero  ==>  running counts of what is not 0; the last one is read back; the place of each by a search in them
//
// Elements that are equal keep their order.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/Selections.h"
#include "passes/linalg/Counts.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/Sorting.h"

using namespace mlir;

namespace cameo {

/// `x` as [outer, size along the axis, inner].
static Lowered aroundAxis(Lowering &l, Location loc, const Lowered &x, int64_t axis) {
  ArrayRef<OpFoldResult> sizes(x.sizes);
  return l.build.reshape(loc, x,
                         {l.plan.product(sizes.take_front(axis)), sizes[axis],
                          l.plan.product(sizes.drop_front(axis + 1))});
}

static bool hasWideKeys(Type type) { return type.getIntOrFloatBitWidth() == 64; }

/// The part of a place in a row-major tensor that is its number along a dimension, given the sizes behind that.
static Value coordinate(OpBuilder &b, Location loc, Value place, OpFoldResult size,
                        OpFoldResult behind) {
  IndexMath math(b, loc);
  Value row = isConstantIntValue(behind, 1)
                  ? place
                  : b.create<arith::DivUIOp>(loc, place, math.of(behind)).getResult();
  return b.create<arith::RemUIOp>(loc, row, math.of(size));
}

//===-- TopK ----------------------------------------------------------------------------------===//

static LogicalResult lowerTopK(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Location loc = op->getLoc();
  auto node = cast<onnx::TopKOp>(op);
  Lowered input = l.operand(op, 0);
  int64_t axis = *onnx::normalizedAxis(node.getAxis(), input.rank());
  Lowered x = aroundAxis(l, loc, input, axis);
  Type type = x.elementType, i64 = l.builder().getI64Type();
  OpFoldResult kept = (*sizes)[axis], inner = x.sizes[2];
  bool isLargest = node.getLargest() != 0;
  auto read = [&](OpBuilder &b, Location loc, Value row, Value place, Value column) {
    return IndexMath(b, loc).element(x, ValueRange{row, place, column});
  };
  LineOrder order =
      orderLines(l, loc, l.plan.mul(x.sizes[0], inner), x.sizes[1], kept, hasWideKeys(type),
                 [&](OpBuilder &b, Location loc, Value line, Value place) {
                   Value columns = IndexMath(b, loc).of(inner);
                   Value row = b.create<arith::DivUIOp>(loc, line, columns);
                   Value column = b.create<arith::RemUIOp>(loc, line, columns);
                   return sortKey(b, loc, read(b, loc, row, place, column), type, isLargest);
                 });
  auto placeAt = [&](OpBuilder &b, Location loc, ValueRange at) {
    IndexMath math(b, loc);
    return order.at(b, loc, math.add(math.mul(at[0], inner), at[2]), at[1]);
  };
  Sizes found{x.sizes[0], kept, inner};
  Value values = l.build.compute(loc, found, type, [&](OpBuilder &b, Location loc, ValueRange at) {
    return read(b, loc, at[0], placeAt(b, loc, at), at[2]);
  });
  Value indices = l.build.compute(loc, found, i64, [&](OpBuilder &b, Location loc, ValueRange at) {
    return fromIndex(b, loc, placeAt(b, loc, at), i64);
  });
  l.define(op, 0, l.build.reshape(loc, {values, found, type}, *sizes));
  l.define(op, 1, l.build.reshape(loc, {indices, found, i64}, *sizes));
  return success();
}

//===-- NonZero, Compress ---------------------------------------------------------------------===//

static LogicalResult lowerNonZero(Operation *op, Lowering &l) {
  Location loc = op->getLoc();
  Lowered input = l.operand(op, 0);
  OpFoldResult all = l.plan.product(input.sizes);
  Lowered x = l.build.reshape(loc, input, {all});
  Type type = x.elementType, i64 = l.builder().getI64Type();
  Choice choice(l, loc, all, [&](OpBuilder &b, Location loc, Value place) -> Value {
    Value element = IndexMath(b, loc).element(x, place);
    Value zero = scalarConstant(b, loc, signless(type), 0);
    if (isa<FloatType>(type))
      return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE, element, zero);
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, element, zero);
  });
  choice.count(op);
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Lowered places = choice.places((*sizes)[1]);
  Sizes behind(input.rank(), l.plan.index(1)); // of each dimension
  for (int64_t dim = input.rank() - 1; dim-- > 0;)
    behind[dim] = l.plan.mul(behind[dim + 1], input.sizes[dim + 1]);
  Value result =
      l.build.compute(loc, *sizes, i64, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        IndexMath math(b, loc);
        Value place = indexAt(b, loc, places, at[1]), found;
        for (int64_t dim = 0; dim < input.rank(); ++dim) {
          Value number = coordinate(b, loc, place, input.sizes[dim], behind[dim]);
          Value isThis = math.compare(arith::CmpIPredicate::eq, at[0], b.getIndexAttr(dim));
          found = found ? math.select(isThis, number, found) : number;
        }
        if (!found) // of a scalar, whose places have no dimension: nothing is computed
          found = place;
        return fromIndex(b, loc, found, i64);
      });
  l.define(op, 0, result, *sizes, i64);
  return success();
}

static LogicalResult lowerCompress(Operation *op, Lowering &l) {
  Location loc = op->getLoc();
  Lowered x = l.operand(op, 0), condition = l.operand(op, 1);
  auto given = cast<onnx::CompressOp>(op).getAxis();
  int64_t axis = given ? *onnx::normalizedAxis(*given, x.rank()) : 0;
  if (!given)
    x = l.build.reshape(loc, x, {l.plan.product(x.sizes)});
  Choice choice(l, loc, condition.sizes[0], [&](OpBuilder &b, Location loc, Value place) {
    return IndexMath(b, loc).element(condition, place);
  });
  choice.count(op);
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Lowered places = choice.places((*sizes)[axis]);
  Value result =
      l.build.compute(loc, *sizes, x.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        SmallVector<Value> source(at);
        source[axis] = indexAt(b, loc, places, at[axis]);
        return IndexMath(b, loc).element(x, source);
      });
  l.define(op, 0, result, *sizes, x.elementType);
  return success();
}

//===-- Unique --------------------------------------------------------------------------------===//

namespace {
/// Slices of a tensor in order, and in groups of equal ones.
class UniqueSlices {
public:
  UniqueSlices(Operation *op, Lowering &l, const Lowered &x, int64_t axis)
      : op(op), l(l), loc(op->getLoc()), x(aroundAxis(l, loc, x, axis)), all(x.sizes[axis]),
        one(l.plan.index(1)), isSorted(cast<onnx::UniqueOp>(op).getSorted() != 0) {
    keys = *getConstantIntValue(l.plan.mul(this->x.sizes[0], this->x.sizes[2]));
    columns = *getConstantIntValue(this->x.sizes[2]);
  }

  /// Puts slices into order, and lets shape rules have how many differ.
  void find() {
    // By the last of their elements first: sorting by another one leaves equal ones in that order.
    for (int64_t key = keys; key-- > 0;) {
      LineOrder next = orderLines(l, loc, one, all, all, hasWideKeys(x.elementType),
                                  [&](OpBuilder &b, Location loc, Value, Value place) {
                                    return keyAt(b, loc, sliceAt(b, loc, place), key);
                                  });
      order = inMemory([&](OpBuilder &b, Location loc, Value place) {
        return sliceAt(b, loc, next.at(b, loc, indexConstant(b, loc, 0), place));
      });
    }
    groups.emplace(l, loc, all,
                   [&](OpBuilder &b, Location loc, Value place) { return isFirst(b, loc, place); });
    groups->count(op);
    bool needsPlaces = !isSorted || !op->getResult(2).use_empty();
    if (!needsPlaces)
      return;
    LineOrder inverse = orderLines(l, loc, one, all, all, /*hasWideKeys=*/false,
                                   [&](OpBuilder &b, Location loc, Value, Value place) -> Value {
                                     return b.create<arith::IndexCastUIOp>(loc, b.getI64Type(),
                                                                           sliceAt(b, loc, place));
                                   });
    placeOfSlice = inMemory([&](OpBuilder &b, Location loc, Value slice) {
      return inverse.at(b, loc, indexConstant(b, loc, 0), slice);
    });
    if (!isSorted)
      firsts.emplace(l, loc, all, [&](OpBuilder &b, Location loc, Value slice) {
        return isFirst(b, loc, indexAt(b, loc, placeOfSlice, slice));
      });
  }

  void define(ArrayRef<Sizes> sizes) {
    OpFoldResult count = sizes[1][0];
    // Where each group begins in the order.
    Lowered begins = groups->places(count);
    if (!isSorted)
      begins = inMemory(count, [&](OpBuilder &b, Location loc, Value number) {
        return indexAt(b, loc, placeOfSlice, firsts->placeOf(b, loc, number));
      });
    auto firstSlice = [&](OpBuilder &b, Location loc, Value number) {
      return sliceAt(b, loc, indexAt(b, loc, begins, number));
    };
    Sizes found{x.sizes[0], count, x.sizes[2]};
    Value values =
        l.build.compute(loc, found, x.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
          return IndexMath(b, loc).element(x, ValueRange{at[0], firstSlice(b, loc, at[1]), at[2]});
        });
    l.define(op, 0, l.build.reshape(loc, {values, found, x.elementType}, sizes[0]));
    defineIndices(1, sizes[1], firstSlice);
    defineIndices(2, sizes[2], [&](OpBuilder &b, Location loc, Value slice) {
      Value place = indexAt(b, loc, placeOfSlice, slice);
      Value number = groups->countAt(b, loc, place);
      IndexMath math(b, loc);
      if (!isSorted) {
        Value begin = groups->placeOf(b, loc, math.sub(number, b.getIndexAttr(1)));
        number = firsts->countAt(b, loc, sliceAt(b, loc, begin));
      }
      return math.sub(number, b.getIndexAttr(1));
    });
    defineIndices(3, sizes[3], [&](OpBuilder &b, Location loc, Value number) -> Value {
      Value begin = indexAt(b, loc, begins, number);
      Value end = groups->placeOf(b, loc, groups->countAt(b, loc, begin));
      return b.create<arith::SubIOp>(loc, end, begin);
    });
  }

private:
  using IndexFunction = llvm::function_ref<Value(OpBuilder &, Location, Value)>;

  void defineIndices(unsigned result, const Sizes &sizes, IndexFunction index) {
    if (op->getResult(result).use_empty())
      return;
    Type i64 = l.builder().getI64Type();
    Value numbers =
        l.build.compute(loc, sizes, i64, [&](OpBuilder &b, Location loc, ValueRange at) {
          return fromIndex(b, loc, index(b, loc, at[0]), i64);
        });
    l.define(op, result, numbers, sizes, i64);
  }

  Lowered inMemory(OpFoldResult count, IndexFunction index) {
    Type type = l.builder().getI32Type();
    Value numbers =
        l.build.compute(loc, {count}, type, [&](OpBuilder &b, Location loc, ValueRange at) {
          return fromIndex(b, loc, index(b, loc, at[0]), type);
        });
    return {numbers, {count}, type};
  }
  Lowered inMemory(IndexFunction index) { return inMemory(all, index); }

  /// The slice at a place in the order so far.
  Value sliceAt(OpBuilder &b, Location loc, Value place) {
    return order.tensor ? indexAt(b, loc, order, place) : place;
  }

  Value keyAt(OpBuilder &b, Location loc, Value slice, int64_t key) {
    Value row = indexConstant(b, loc, key / columns), column = indexConstant(b, loc, key % columns);
    Value element = IndexMath(b, loc).element(x, ValueRange{row, slice, column});
    return sortKey(b, loc, element, x.elementType, /*isDescending=*/false);
  }

  /// Whether the slice at a place in order differs from the one before.
  Value isFirst(OpBuilder &b, Location loc, Value place) {
    IndexMath math(b, loc);
    return math.choose(
        math.compare(arith::CmpIPredicate::eq, place, b.getIndexAttr(0)),
        [](OpBuilder &b, Location loc) { return scalarConstant(b, loc, b.getI1Type(), 1); },
        [&](OpBuilder &b, Location loc) {
          Value slice = sliceAt(b, loc, place);
          Value before = sliceAt(b, loc, IndexMath(b, loc).sub(place, b.getIndexAttr(1)));
          Value differs;
          for (int64_t key = 0; key < keys; ++key) {
            Value other =
                b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, keyAt(b, loc, slice, key),
                                        keyAt(b, loc, before, key));
            differs = differs ? b.create<arith::OrIOp>(loc, differs, other).getResult() : other;
          }
          return differs;
        });
  }

  Operation *op;
  Lowering &l;
  Location loc;
  Lowered x; // [outer, slices, inner]
  OpFoldResult all, one;
  bool isSorted;
  int64_t keys, columns;
  Lowered order, placeOfSlice;  // slices by their place in order, and the other way round
  std::optional<Choice> groups; // by place in order: those that differ from the one before
  std::optional<Choice> firsts; // the same by slice
};
} // namespace

static LogicalResult lowerUnique(Operation *op, Lowering &l) {
  Lowered x = l.operand(op, 0);
  Sizes flat = x.sizes;
  FailureOr<int64_t> axis = onnx::uniqueAxis(l.plan, op, flat);
  if (failed(axis))
    return failure();
  if (flat.size() != x.sizes.size() || !cast<onnx::UniqueOp>(op).getAxis())
    x = l.build.reshape(op->getLoc(), x, flat);
  UniqueSlices slices(op, l, x, *axis);
  slices.find();
  FailureOr<SmallVector<Sizes>> sizes = onnx::inferSizes(l.shapes, op);
  if (failed(sizes))
    return failure();
  slices.define(*sizes);
  return success();
}

void registerSelectionOperators(LoweringRows &rows) {
  rows.add<onnx::TopKOp>({lowerTopK});
  rows.add<onnx::NonZeroOp>({lowerNonZero});
  rows.add<onnx::CompressOp>({lowerCompress});
  registerSuppression(rows);
  rows.add<onnx::UniqueOp>({lowerUnique, "slices of more than 64 elements"});
}

} // namespace cameo
