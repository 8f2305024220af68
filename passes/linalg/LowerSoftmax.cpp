// Softmax, LogSoftmax and Hardmax along one axis.
//
//   "onnx.Softmax"(%x)   ==>   kernel.dispatch { row maximum; row sum of exp(x - maximum); quotient
//   }
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Axes.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"

using namespace mlir;

namespace cameo {

namespace {
/// The rows of a tensor along an axis.
struct Rows {
  Lowered x;
  int64_t axis;
  SmallVector<bool> reduced;
  AffineMap element, row; // from the tensor's loops to its and the rows' dimensions
};
} // namespace

static FailureOr<Rows> rowsOf(Lowering &l, Operation *op) {
  Rows rows{l.operand(op, 0), 0, {}, {}, {}};
  FailureOr<int64_t> axis = onnx::axisAttribute(l.plan, op, -1, rows.x.rank());
  if (failed(axis))
    return failure();
  rows.axis = *axis;
  rows.reduced.assign(rows.x.rank(), false);
  rows.reduced[*axis] = true;
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < rows.x.rank(); ++i)
    if (i != *axis)
      kept.push_back(i);
  rows.element = identityMap(op->getContext(), rows.x.rank());
  rows.row = selectDims(op->getContext(), rows.x.rank(), kept);
  return rows;
}

template <bool isLog> static LogicalResult lowerSoftmax(Operation *op, Lowering &l) {
  FailureOr<Rows> rows = rowsOf(l, op);
  if (failed(rows))
    return failure();
  const Lowered &x = rows->x;
  Type type = x.elementType, compute = accumulatorType(type);
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{x.sizes, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        Read element{x.tensor, rows->element};
        Value largest = reduceGeneric(
            l, b, loc, x.sizes, rows->reduced, Combine::Max, compute, element,
            [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
              return combine(nested, at, Combine::Max, compute, accumulator,
                             widen(nested, at, scalars[0], type, compute));
            });
        auto shifted = [&](OpBuilder &nested, Location at, ValueRange scalars) -> Value {
          return nested.create<arith::SubFOp>(at, widen(nested, at, scalars[0], type, compute),
                                              scalars[1]);
        };
        Value sum = reduceGeneric(
            l, b, loc, x.sizes, rows->reduced, Combine::Add, compute,
            {element, Read{largest, rows->row}},
            [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
              Value power = nested.create<math::ExpOp>(at, shifted(nested, at, scalars));
              return combine(nested, at, Combine::Add, compute, accumulator, power);
            });
        return SmallVector<Value>{mapGeneric(
            l, b, loc, x.sizes, type, {element, Read{largest, rows->row}, Read{sum, rows->row}},
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              Value value = shifted(nested, at, scalars);
              if (isLog)
                value = nested.create<arith::SubFOp>(at, value,
                                                     nested.create<math::LogOp>(at, scalars[2]));
              else
                value = nested.create<arith::DivFOp>(at, nested.create<math::ExpOp>(at, value),
                                                     scalars[2]);
              return widen(nested, at, value, compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, result, x.sizes, type);
  return success();
}

/// 1 at the first maximum of a row, 0 elsewhere.
static LogicalResult lowerHardmax(Operation *op, Lowering &l) {
  FailureOr<Rows> rows = rowsOf(l, op);
  if (failed(rows))
    return failure();
  const Lowered &x = rows->x;
  Type type = x.elementType;
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{x.sizes, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto here = [&](OpBuilder &nested, Location at) {
          return fromIndex(nested, at, nested.create<linalg::IndexOp>(at, rows->axis),
                           nested.getI64Type());
        };
        auto search = [&](OpBuilder &nested, Location at, Value best, Value position,
                          ValueRange scalars) -> std::pair<Value, Value> {
          Value better =
              isBetter(nested, at, scalars[0], best, type, /*isMax=*/true, /*last=*/false);
          return {nested.create<arith::SelectOp>(at, better, scalars[0], best),
                  nested.create<arith::SelectOp>(at, better, here(nested, at), position)};
        };
        Value first = searchGeneric(l, b, loc, x.sizes, rows->reduced, Combine::Max, type, 0,
                                    Read{x.tensor, rows->element}, search)
                          .second;
        return SmallVector<Value>{mapGeneric(
            l, b, loc, x.sizes, type, Read{first, rows->row},
            [&](OpBuilder &nested, Location at, ValueRange scalars) -> Value {
              Value chosen = nested.create<arith::CmpIOp>(at, arith::CmpIPredicate::eq, scalars[0],
                                                          here(nested, at));
              return nested.create<arith::SelectOp>(at, chosen, scalarConstant(nested, at, type, 1),
                                                    scalarConstant(nested, at, type, 0));
            },
            inits[0])};
      })[0];
  l.define(op, 0, result, x.sizes, type);
  return success();
}

void registerSoftmaxOperators(OperatorTable &table) {
  table["Softmax"] = {lowerSoftmax<false>};
  table["LogSoftmax"] = {lowerSoftmax<true>};
  table["Hardmax"] = {lowerHardmax};
}

} // namespace cameo
