// Softmax, LogSoftmax and Hardmax along one axis.
//
//   onnx.Softmax(%x)
//     ==>  kernel.dispatch { row maximum; row sum of exp(x - maximum); quotient }
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Axes.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/ScalarMath.h"
#include "passes/linalg/Softmax.h"

#include <limits>

using namespace mlir;

namespace cameo {

namespace {
/// The rows of a tensor along an axis.
struct SoftmaxRows {
  SmallVector<bool> reduced;
  AffineMap element, row; // from the tensor's loops to its and the rows' dimensions
};
} // namespace

static SoftmaxRows softmaxRowsOf(MLIRContext *context, const Lowered &x, int64_t axis) {
  SoftmaxRows rows;
  rows.reduced.assign(x.rank(), false);
  rows.reduced[axis] = true;
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis)
      kept.push_back(i);
  rows.element = identityMap(context, x.rank());
  rows.row = selectDims(context, x.rank(), kept);
  return rows;
}

Lowered softmax(Lowering &l, Location loc, const Lowered &x, int64_t axis, bool isLog,
                Type precision, bool mayHideAll) {
  SoftmaxRows rows = softmaxRowsOf(loc.getContext(), x, axis);
  Type type = x.elementType, compute = precision ? precision : accumulatorType(type);
  Value result = l.build.dispatch(
      loc, OutputSpec{x.sizes, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Read element{x.tensor, rows.element};
        Value largest = reduceGeneric(
            l, b, at, x.sizes, rows.reduced, Combine::Max, compute, element,
            [&](OpBuilder &nested, Location place, Value accumulator, ValueRange scalars) {
              return combine(nested, place, Combine::Max, compute, accumulator,
                             widen(nested, place, scalars[0], type, compute));
            });
        auto shifted = [&](OpBuilder &nested, Location place, ValueRange scalars) -> Value {
          return nested.create<arith::SubFOp>(
              place, widen(nested, place, scalars[0], type, compute), scalars[1]);
        };
        Value sum = reduceGeneric(
            l, b, at, x.sizes, rows.reduced, Combine::Add, compute,
            {element, Read{largest, rows.row}},
            [&](OpBuilder &nested, Location place, Value accumulator, ValueRange scalars) {
              Value power = nested.create<math::ExpOp>(place, shifted(nested, place, scalars));
              return combine(nested, place, Combine::Add, compute, accumulator, power);
            });
        return SmallVector<Value>{mapGeneric(
            l, b, at, x.sizes, type, {element, Read{largest, rows.row}, Read{sum, rows.row}},
            [&](OpBuilder &nested, Location place, ValueRange scalars) {
              Value value = shifted(nested, place, scalars);
              if (isLog)
                value = nested.create<arith::SubFOp>(place, value,
                                                     nested.create<math::LogOp>(place, scalars[2]));
              else
                value = nested.create<arith::DivFOp>(
                    place, nested.create<math::ExpOp>(place, value), scalars[2]);
              if (mayHideAll) {
                ScalarMath m(nested, place, compute, /*isUnsigned=*/false);
                Value isHidden =
                    nested.create<arith::CmpFOp>(place, arith::CmpFPredicate::OEQ, scalars[1],
                                                 m.c(-std::numeric_limits<double>::infinity()));
                value = m.select(isHidden, m.c(0), value);
              }
              return widen(nested, place, value, compute, type);
            },
            inits[0])};
      })[0];
  return {result, x.sizes, type};
}

template <bool isLog> static LogicalResult lowerSoftmax(Operation *op, Lowering &l) {
  Lowered x = l.operand(op, 0);
  FailureOr<int64_t> axis = onnx::axisAttribute(l.plan, op, -1, x.rank());
  if (failed(axis))
    return failure();
  l.define(op, 0, softmax(l, op->getLoc(), x, *axis, isLog));
  return success();
}

/// 1 at the first maximum of a row, 0 elsewhere.
static LogicalResult lowerHardmax(Operation *op, Lowering &l) {
  Lowered x = l.operand(op, 0);
  FailureOr<int64_t> axis = onnx::axisAttribute(l.plan, op, -1, x.rank());
  if (failed(axis))
    return failure();
  SoftmaxRows rows = softmaxRowsOf(op->getContext(), x, *axis);
  Type type = x.elementType;
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{x.sizes, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto here = [&](OpBuilder &nested, Location at) {
          return fromIndex(nested, at, nested.create<linalg::IndexOp>(at, *axis),
                           nested.getI64Type());
        };
        auto search = [&](OpBuilder &nested, Location at, Value best, Value position,
                          ValueRange scalars) -> std::pair<Value, Value> {
          Value better =
              isBetter(nested, at, scalars[0], best, type, /*isMax=*/true, /*last=*/false);
          return {nested.create<arith::SelectOp>(at, better, scalars[0], best),
                  nested.create<arith::SelectOp>(at, better, here(nested, at), position)};
        };
        Value first = searchGeneric(l, b, loc, x.sizes, rows.reduced, Combine::Max, type, 0,
                                    Read{x.tensor, rows.element}, search)
                          .second;
        return SmallVector<Value>{mapGeneric(
            l, b, loc, x.sizes, type, Read{first, rows.row},
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

void registerSoftmaxOperators(LoweringRows &rows) {
  rows.add<onnx::SoftmaxOp>({lowerSoftmax<false>});
  rows.add<onnx::LogSoftmaxOp>({lowerSoftmax<true>});
  rows.add<onnx::HardmaxOp>({lowerHardmax});
}

} // namespace cameo
