// Counting what is chosen of a line.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Counts.h"

#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/Sorting.h"

using namespace mlir;

namespace cameo {

Value indexAt(OpBuilder &b, Location loc, const Lowered &indices, ValueRange at) {
  IndexMath math(b, loc);
  return math.toIndex(math.element(indices, at), indices.elementType);
}

Choice::Choice(Lowering &l, Location loc, OpFoldResult length, Condition isChosen)
    : l(l), loc(loc), length(length),
      totals(runningTotals(
          l, loc, kernel::CombineKind::Add, {l.plan.index(1), length, l.plan.index(1)},
          l.builder().getI32Type(), [&](OpBuilder &b, Location loc, ValueRange at) {
            return b.create<arith::ExtUIOp>(loc, b.getI32Type(), isChosen(b, loc, at[1]));
          })) {}

Value Choice::countAt(OpBuilder &b, Location loc, Value place) const {
  Value zero = indexConstant(b, loc, 0);
  Value count = totals.at(b, loc, ValueRange{zero, place, zero});
  return b.create<arith::IndexCastUIOp>(loc, b.getIndexType(), count);
}

Value Choice::placeOf(OpBuilder &b, Location loc, Value number) const {
  Value zero = indexConstant(b, loc, 0), all = IndexMath(b, loc).of(length);
  return searchIndex(b, loc, zero, all, [&](OpBuilder &b, Location loc, Value index) -> Value {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, countAt(b, loc, index), number);
  });
}

void Choice::count(Operation *op) {
  Type i64 = l.builder().getI64Type();
  Value count =
      l.build.compute(loc, {l.plan.index(1)}, i64, [&](OpBuilder &b, Location loc, ValueRange) {
        IndexMath math(b, loc);
        return math.choose(
            math.compare(arith::CmpIPredicate::sgt, math.of(length), b.getIndexAttr(0)),
            [&](OpBuilder &b, Location loc) {
              IndexMath math(b, loc);
              Value last = math.sub(math.of(length), b.getIndexAttr(1));
              return fromIndex(b, loc, countAt(b, loc, last), i64);
            },
            [&](OpBuilder &b, Location loc) { return scalarConstant(b, loc, i64, 0); });
      });
  l.plan.setCount(op, count);
}

Lowered Choice::places(OpFoldResult count) const {
  Type type = l.builder().getI32Type();
  Value found = l.build.compute(loc, {count}, type, [&](OpBuilder &b, Location loc, ValueRange at) {
    return fromIndex(b, loc, placeOf(b, loc, at[0]), type);
  });
  return {found, {count}, type};
}

} // namespace cameo
