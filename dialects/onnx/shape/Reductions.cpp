// Shapes of reductions and scans.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Reductions.h"

#include "dialects/onnx/shape/Attributes.h"
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/HostIntegers.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;

namespace cameo::onnx {

//===-- Reduce* -------------------------------------------------------------------------------===//

/// The result of a reduction over dimensions that are known.
static ReductionShape knownReduction(SizeBuilder &s, const Sizes &x, ArrayRef<bool> reduced,
                                     bool keep) {
  ReductionShape shape{{}, true, {}};
  for (auto [size, isReduced] : llvm::zip(x, reduced)) {
    shape.reduced.push_back(s.index(isReduced));
    if (!isReduced)
      shape.result.push_back(size);
    else if (keep)
      shape.result.push_back(s.index(1));
  }
  return shape;
}

/// Over dimensions that are known at run time.
static FailureOr<ReductionShape> openReduction(SizeBuilder &s, Operation *op, const Sizes &x,
                                               ArrayRef<OpFoldResult> axes, bool keep) {
  int64_t rank = x.size();
  FailureOr<Sizes> reduced = amongAxes(s, op, axes, rank);
  if (failed(reduced))
    return failure();
  ReductionShape shape{*reduced, false, {}};
  if (!keep) {
    shape.result = remainingSizes(s, x, *reduced, rank - static_cast<int64_t>(axes.size()));
    return shape;
  }
  for (auto [size, isReduced] : llvm::zip(x, *reduced))
    shape.result.push_back(s.select(isReduced, s.index(1), size));
  return shape;
}

FailureOr<ReductionShape> inferReduce(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0), axes;
  if (!isAbsent(op, 1)) {
    FailureOr<Sizes> values = shapes.host.values(op, 1);
    if (failed(values))
      return failure();
    axes = *values;
  }
  bool keep = intAttribute(op, "keepdims", 1) != 0;
  bool none = axes.empty() && intAttribute(op, "noop_with_empty_axes", 0) != 0;
  SmallVector<bool> reduced(x.size(), axes.empty() && !none);
  for (OpFoldResult axis : axes) {
    std::optional<int64_t> known = getConstantIntValue(axis);
    if (!known)
      return openReduction(s, op, x, axes, keep);
    FailureOr<int64_t> normal = normalizedAxis(s, op, *known, x.size());
    if (failed(normal))
      return failure();
    reduced[*normal] = true;
  }
  return knownReduction(s, x, reduced, keep);
}

namespace {
enum class HostReduction { Prod, Sum, Max, Min };
} // namespace

/// A host float is what another one is not less (or greater) than; NaN, which comes to no such end, stays.
static OpFoldResult extremeReal(SizeBuilder &s, HostReduction kind, OpFoldResult result,
                                OpFoldResult next) {
  OpFoldResult isBetter = kind == HostReduction::Max ? s.less(result, next) : s.less(next, result);
  OpFoldResult isNumber = s.max(s.less(next, s.floating(1)), s.less(s.floating(0), next));
  return s.select(isNumber, s.select(isBetter, next, result), next);
}

static OpFoldResult reduceTwo(SizeBuilder &s, const HostIntegers &integers, HostReduction kind,
                              bool isReal, OpFoldResult a, OpFoldResult b) {
  switch (kind) {
  case HostReduction::Prod:
    return isReal ? s.fmul(a, b) : integers.mul(a, b);
  case HostReduction::Sum:
    return isReal ? s.fadd(a, b) : integers.add(a, b);
  case HostReduction::Max:
    return isReal ? extremeReal(s, kind, a, b) : integers.max(a, b);
  case HostReduction::Min:
    return isReal ? extremeReal(s, kind, a, b) : integers.min(a, b);
  }
  llvm_unreachable("unknown reduction");
}

/// The dimensions that are reduced, of host values; failure where they are not known.
static FailureOr<SmallVector<bool>> hostAxes(Shapes &shapes, Operation *op, int64_t rank) {
  Sizes axes;
  if (!isAbsent(op, 1)) {
    FailureOr<Sizes> given = shapes.host.tryValues(op->getOperand(1));
    if (failed(given))
      return failure();
    axes = *given;
  }
  bool isNone = axes.empty() && intAttribute(op, "noop_with_empty_axes", 0) != 0;
  SmallVector<bool> reduced(rank, axes.empty() && !isNone);
  for (OpFoldResult axis : axes) {
    std::optional<int64_t> known = getConstantIntValue(axis);
    if (!known || *known < -rank || *known >= rank)
      return failure();
    reduced[*known < 0 ? *known + rank : *known] = true;
  }
  return reduced;
}

/// Reduces few host values, as products of sizes and the largest of them are made.
template <HostReduction kind>
static FailureOr<Sizes> hostReduce(Shapes &shapes, Operation *op, unsigned) {
  FailureOr<HostArray> x = hostArray(shapes, op, 0);
  if (failed(x))
    return failure();
  FailureOr<SmallVector<bool>> reduced = hostAxes(shapes, op, x->shape.size());
  if (failed(reduced))
    return failure();
  SizeBuilder &s = shapes.sizes;
  Type type = elementType(op->getOperand(0));
  bool isReal = isa<FloatType>(type),
       isOrder = kind == HostReduction::Max || kind == HostReduction::Min;
  HostIntegers integers(s, op, type);
  SmallVector<int64_t> kept(x->shape);
  for (auto [size, isReduced] : llvm::zip(kept, *reduced))
    size = isReduced ? 1 : size;
  if (isOrder && x->values.empty())
    return failure();
  // Results in row-major order; sums and products begin with what changes nothing.
  double start = kind == HostReduction::Prod ? 1 : 0;
  OpFoldResult neutral = isReal ? s.floating(start) : s.index(static_cast<int64_t>(start));
  int64_t count = std::accumulate(kept.begin(), kept.end(), int64_t(1), std::multiplies<>());
  Sizes results(count, isOrder ? OpFoldResult() : neutral);
  int64_t position = 0;
  hostElements(x->shape, [&](ArrayRef<int64_t> indices) {
    int64_t at = 0;
    for (auto [size, index, isReduced] : llvm::zip(kept, indices, *reduced))
      at = at * size + (isReduced ? 0 : index);
    OpFoldResult value = x->values[position++], &result = results[at];
    result = result ? reduceTwo(s, integers, kind, isReal, result, value) : value;
    if (type.isF32())
      result = s.fround(result);
    return value;
  });
  return results;
}

//===-- ArgMax, CumSum ------------------------------------------------------------------------===//

/// ArgMax and ArgMin.
static FailureOr<Sizes> inferArg(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0];
  FailureOr<int64_t> axis = axisAttribute(s, op, 0, x.size());
  if (failed(axis))
    return failure();
  SmallVector<bool> reduced(x.size(), false);
  reduced[*axis] = true;
  return knownReduction(s, x, reduced, intAttribute(op, "keepdims", 1) != 0).result;
}

FailureOr<ScanShape> inferScan(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  int64_t rank = x.size();
  FailureOr<Sizes> given = shapes.host.values(op, 1, 1);
  if (failed(given))
    return failure();
  if (given->size() != 1 || rank == 0)
    return s.refuse(op, "has " + Twine(given->size()) + " axes for an input of rank " +
                            Twine(rank) + "; one axis and rank 1 or more are needed");
  OpFoldResult axis = (*given)[0];
  if (std::optional<int64_t> known = getConstantIntValue(axis)) {
    if (failed(normalizedAxis(s, op, *known, rank)))
      return failure();
  } else if (failed(amongAxes(s, op, axis, rank))) {
    return failure();
  }
  return ScanShape{fromStart(s, axis, rank), x};
}

void registerReductionRules(ShapeRows &rows) {
  rows.add<ReduceL1Op, ReduceL2Op, ReduceLogSumOp, ReduceLogSumExpOp, ReduceMeanOp,
           ReduceSumSquareOp>(fromShapes<inferReduce>);
  rows.add<ReduceMaxOp>(fromShapes<inferReduce>, hostReduce<HostReduction::Max>);
  rows.add<ReduceMinOp>(fromShapes<inferReduce>, hostReduce<HostReduction::Min>);
  rows.add<ReduceProdOp>(fromShapes<inferReduce>, hostReduce<HostReduction::Prod>);
  rows.add<ReduceSumOp>(fromShapes<inferReduce>, hostReduce<HostReduction::Sum>);
  rows.add<ArgMaxOp, ArgMinOp>(fromSizes<inferArg>);
  rows.add<CumSumOp, CumProdOp>(fromShapes<inferScan>);
}

} // namespace cameo::onnx
