// Shapes of reductions and scans.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Reductions.h"

#include "dialects/onnx/shape/Attributes.h"
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/HostIntegers.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

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

/// Of a list of host values, as in products of sizes.
template <HostReduction kind>
static FailureOr<Sizes> hostReduce(Shapes &shapes, Operation *op, unsigned) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || type.getRank() > 1)
    return failure();
  FailureOr<Sizes> values = shapes.host.tryValues(op->getOperand(0));
  if (failed(values))
    return failure();
  bool axesGiven = false;
  if (!isAbsent(op, 1)) {
    FailureOr<Sizes> axes = shapes.host.tryValues(op->getOperand(1));
    if (failed(axes))
      return failure();
    axesGiven = !axes->empty();
  }
  if (!axesGiven && intAttribute(op, "noop_with_empty_axes", 0) != 0)
    return values;
  SizeBuilder &s = shapes.sizes;
  bool real = isa<FloatType>(type.getElementType());
  if ((kind == HostReduction::Max || kind == HostReduction::Min) && (real || values->empty()))
    return failure();
  HostIntegers integers(s, op, type.getElementType());
  double start = kind == HostReduction::Prod ? 1 : 0;
  OpFoldResult result = real ? s.floating(start) : s.index(static_cast<int64_t>(start));
  for (auto [number, value] : llvm::enumerate(*values)) {
    if (kind == HostReduction::Prod)
      result = real ? s.fmul(result, value) : integers.mul(result, value);
    else if (kind == HostReduction::Sum)
      result = real ? s.fadd(result, value) : integers.add(result, value);
    else if (number == 0)
      result = value;
    else
      result =
          kind == HostReduction::Max ? integers.max(result, value) : integers.min(result, value);
    if (type.getElementType().isF32())
      result = s.fround(result);
  }
  return Sizes{result};
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
