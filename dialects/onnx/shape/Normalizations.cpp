// Shapes of Softmax and its relatives, and of the normalizations: those of the input.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Attributes.h"
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

/// Softmax, LogSoftmax, Hardmax and LpNormalization.
static FailureOr<Sizes> inferAlongAxis(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  if (failed(axisAttribute(s, op, -1, operands[0].size())))
    return failure();
  return operands[0];
}

/// Refuses or checks operands `first` and on, `count` of them, that are not lists of a value for
/// each channel of `x`.
static LogicalResult checkChannelLists(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands,
                                       unsigned first, unsigned count) {
  const Sizes &x = operands[0];
  OpFoldResult channels = x.size() > 1 ? x[1] : s.index(1);
  for (unsigned i = first; i < first + count; ++i) {
    const Sizes &list = operands[i];
    if (list.size() != 1)
      return s.refuse(op, "operand " + Twine(i) + " has rank " + Twine(list.size()) +
                              ", needs one value per channel");
    if (failed(s.check(op, s.equal(list[0], channels),
                       "operand " + Twine(i) + " has {0} values for {1} channels", list[0],
                       channels)))
      return failure();
  }
  return success();
}

/// The output and, in training mode, the running statistics.
static FailureOr<SmallVector<Sizes>> inferBatchNormalization(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  SmallVector<Sizes> operands = shapes.operands(op);
  const Sizes &x = operands[0];
  if (x.empty())
    return s.refuse(op, "the input has rank 0; it must have 1 or more");
  if (failed(checkChannelLists(s, op, operands, 1, 4)))
    return failure();
  if (intAttribute(op, "training_mode", 0) == 0)
    return SmallVector<Sizes>{x};
  if (x.size() < 2)
    return s.refuse(op, "training mode on an input of rank " + Twine(x.size()) +
                            "; it must have 2 or more");
  Sizes channels{x[1]};
  return SmallVector<Sizes>{x, channels, channels};
}

static FailureOr<Sizes> inferInstanceNormalization(SizeBuilder &s, Operation *op,
                                                   ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0];
  if (x.size() < 3)
    return s.refuse(op, "has rank " + Twine(x.size()) + ", needs 3 or more");
  if (failed(checkChannelLists(s, op, operands, 1, 2)))
    return failure();
  return x;
}

static FailureOr<Sizes> inferGroupNormalization(SizeBuilder &s, Operation *op,
                                                ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0];
  if (x.size() < 2)
    return s.refuse(op, "the input has rank " + Twine(x.size()) + "; it must have 2 or more");
  OpFoldResult channels = x[1], group = s.index(intAttribute(op, "num_groups", 0));
  if (failed(s.check(op, s.equal(s.rem(channels, group), s.index(0)),
                     "{0} channels are not a multiple of num_groups {1}", channels, group)) ||
      failed(checkChannelLists(s, op, operands, 1, 2)))
    return failure();
  return x;
}

/// Refuses or checks sizes that do not broadcast to those of the input.
static LogicalResult checkAffine(SizeBuilder &s, Operation *op, const Sizes &operand,
                                 const Sizes &x) {
  if (operand.size() > x.size())
    return s.refuse(op, "an operand of rank " + Twine(operand.size()) +
                            " does not broadcast to rank " + Twine(x.size()));
  for (auto [size, whole] : llvm::zip(operand, ArrayRef(x).take_back(operand.size())))
    if (failed(s.checkBroadcast(op, size, whole, "size {0} does not broadcast to {1}")))
      return failure();
  return success();
}

/// LayerNormalization and RMSNormalization: the output and the statistics of rows.
static FailureOr<SmallVector<Sizes>> inferRowNormalization(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  SmallVector<Sizes> operands = shapes.operands(op);
  const Sizes &x = operands[0];
  FailureOr<int64_t> axis = axisAttribute(s, op, -1, x.size());
  if (failed(axis))
    return failure();
  for (const Sizes &operand : ArrayRef(operands).drop_front())
    if (failed(checkAffine(s, op, operand, x)))
      return failure();
  Sizes statistics(x);
  std::fill(statistics.begin() + *axis, statistics.end(), s.index(1));
  SmallVector<Sizes> results(op->getNumResults(), statistics);
  results[0] = x;
  return results;
}

static FailureOr<Sizes> inferMeanVarianceNormalization(SizeBuilder &s, Operation *op,
                                                       ArrayRef<Sizes> operands) {
  auto given = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  int64_t standard[] = {0, 2, 3};
  for (int64_t axis : given ? given.asArrayRef() : ArrayRef(standard))
    if (failed(normalizedAxis(s, op, axis, operands[0].size())))
      return failure();
  return operands[0];
}

static FailureOr<Sizes> inferLrn(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  if (operands[0].size() < 2)
    return s.refuse(op,
                    "the input has rank " + Twine(operands[0].size()) + "; it must have 2 or more");
  return operands[0];
}

void registerNormalizationRules(ShapeRows &rows) {
  rows.add<SoftmaxOp, LogSoftmaxOp, HardmaxOp, LpNormalizationOp>(fromSizes<inferAlongAxis>);
  rows.add<BatchNormalizationOp>(inferBatchNormalization);
  rows.add<InstanceNormalizationOp>(fromSizes<inferInstanceNormalization>);
  rows.add<GroupNormalizationOp>(fromSizes<inferGroupNormalization>);
  rows.add<LayerNormalizationOp, RMSNormalizationOp>(inferRowNormalization);
  rows.add<MeanVarianceNormalizationOp>(fromSizes<inferMeanVarianceNormalization>);
  rows.add<LRNOp>(fromSizes<inferLrn>);
}

} // namespace cameo::onnx
