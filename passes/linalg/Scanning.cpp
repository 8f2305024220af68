// Scans of runs of a line, and of what these come to.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Scanning.h"

#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"

using namespace mlir;

namespace cameo {

/// Elements that one block scans, four rounds of its threads.
static constexpr int64_t kRun = 1024;

static Value combined(OpBuilder &b, Location loc, kernel::CombineKind kind, Value x, Value y) {
  return combine(b, loc, kind == kernel::CombineKind::Mul ? Combine::Mul : Combine::Add,
                 x.getType(), x, y);
}

Value RunningTotals::at(OpBuilder &b, Location loc, ValueRange at) const {
  Value run = indexConstant(b, loc, kRun), number = b.create<arith::DivUIOp>(loc, at[1], run);
  Value rest = b.create<arith::RemUIOp>(loc, at[1], run);
  IndexMath math(b, loc);
  return combined(b, loc, kind, math.element(before, ValueRange{at[0], number, at[2]}),
                  math.element(within, ValueRange{at[0], number, rest, at[2]}));
}

RunningTotals runningTotals(Lowering &l, Location loc, kernel::CombineKind kind, const Sizes &sizes,
                            Type type, DispatchBuilder::IndexFunction element) {
  RunningTotals totals;
  totals.kind = kind;
  OpFoldResult length = sizes[1], runs = l.plan.ceilDiv(length, l.plan.index(kRun));
  bool isProduct = kind == kernel::CombineKind::Mul;
  auto scan = [&](const Sizes &sizes, int64_t axis, bool exclusive,
                  DispatchBuilder::IndexFunction source) {
    Value result = l.build.dispatch(
        loc, OutputSpec{sizes, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
          Value elements =
              mapGeneric(l, b, loc, sizes, type, {}, [&](OpBuilder &b, Location loc, ValueRange) {
                SmallVector<Value> at;
                for (size_t dim = 0; dim < sizes.size(); ++dim)
                  at.push_back(b.create<linalg::IndexOp>(loc, dim));
                return source(b, loc, at);
              });
          Value scanned = b.create<kernel::ScanOp>(loc, inits[0].getType(), kind, elements,
                                                   inits[0], axis, exclusive, /*reverse=*/false);
          return SmallVector<Value>{scanned};
        })[0];
    return Lowered{result, sizes, type};
  };
  totals.within = scan({sizes[0], runs, l.plan.index(kRun), sizes[2]}, 2, /*exclusive=*/false,
                       [&](OpBuilder &b, Location loc, ValueRange at) {
                         IndexMath math(b, loc);
                         Value place = math.add(math.mul(at[1], b.getIndexAttr(kRun)), at[2]);
                         return math.choose(
                             math.compare(arith::CmpIPredicate::slt, place, length),
                             [&](OpBuilder &b, Location loc) {
                               return element(b, loc, ValueRange{at[0], place, at[3]});
                             },
                             [&](OpBuilder &b, Location loc) {
                               return scalarConstant(b, loc, type, isProduct ? 1 : 0);
                             });
                       });
  totals.before =
      scan({sizes[0], runs, sizes[2]}, 1, /*exclusive=*/true,
           [&](OpBuilder &b, Location loc, ValueRange at) {
             Value last = indexConstant(b, loc, kRun - 1);
             return IndexMath(b, loc).element(totals.within, ValueRange{at[0], at[1], last, at[2]});
           });
  return totals;
}

} // namespace cameo
