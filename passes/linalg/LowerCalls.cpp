// Calls of branches and bodies ==> rt.if and rt.loop on the tensors of the plan.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Calls.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Lowering.h"
#include "passes/linalg/PackedTensors.h"

using namespace mlir;

namespace cameo {

/// The type that a value has as an argument or a result of a function of the plan.
static RankedTensorType plainType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), signless(tensor.getElementType()));
}

/// Operands from `from` on, each in memory of its own.
static FailureOr<SmallVector<Value>> valuesOf(Lowering &l, Operation *op, unsigned from) {
  SmallVector<Value> values;
  for (unsigned i = from; i < op->getNumOperands(); ++i) {
    Lowered operand = l.operand(op, i);
    if (packedBits(operand.elementType))
      return l.plan.refuse(op, "a value of elements that share bytes goes into its graph; nearest "
                               "supported: elements of 8 bits");
    values.push_back(l.build.inMemory(operand.tensor));
  }
  return values;
}

static LogicalResult checkResults(Lowering &l, Operation *op) {
  for (Value result : op->getResults())
    if (packedBits(onnx::elementType(result)))
      return l.plan.refuse(op,
                           "elements that share bytes come out of its graph; nearest supported: "
                           "elements of 8 bits");
  return success();
}

static FailureOr<Value> conditionOf(Lowering &l, Operation *op, unsigned operand) {
  FailureOr<OpFoldResult> number = l.shapes.host.number(op, operand);
  if (failed(number))
    return failure();
  return l.plan.isTrue(*number);
}

/// Defines the results. Those of the plan may be of types that say less of their sizes.
static LogicalResult defineResults(Lowering &l, Operation *op, ValueRange tensors) {
  FailureOr<SmallVector<Sizes>> sizes = onnx::inferSizes(l.shapes, op);
  if (failed(sizes))
    return failure();
  for (auto [result, tensor, known] : llvm::zip(op->getResults(), tensors, *sizes))
    l.define(op, result.getResultNumber(), l.build.withSizes(tensor, known), known,
             l.elementType(result));
  return success();
}

static LogicalResult lowerIf(Operation *op, Lowering &l) {
  auto call = cast<onnx::CallIfOp>(op);
  FailureOr<Value> condition = conditionOf(l, op, 0);
  FailureOr<SmallVector<Value>> captures = valuesOf(l, op, 1);
  if (failed(condition) || failed(captures) || failed(checkResults(l, op)))
    return failure();
  OpBuilder &b = l.builder();
  SmallVector<Type> types;
  int64_t dims = 0;
  for (Type type : op->getResultTypes()) {
    types.push_back(plainType(type));
    dims += cast<RankedTensorType>(type).getRank();
  }
  types.append(dims, b.getIndexType());
  auto made = b.create<rt::IfOp>(l.plan.location(), types, *condition, *captures,
                                 call.getThenBranchAttr(), call.getElseBranchAttr());
  ValueRange sizes = made.getResults().drop_front(op->getNumResults());
  for (OpResult result : op->getResults())
    for (int64_t dim = 0; dim < cast<RankedTensorType>(result.getType()).getRank(); ++dim) {
      l.plan.decide(result, dim, sizes.front());
      sizes = sizes.drop_front();
    }
  return defineResults(l, op, made.getResults().take_front(op->getNumResults()));
}

static LogicalResult lowerLoop(Operation *op, Lowering &l) {
  auto call = cast<onnx::CallLoopOp>(op);
  Value count, condition;
  if (!l.absent(op, 0)) {
    FailureOr<OpFoldResult> number = l.shapes.host.number(op, 0);
    if (failed(number))
      return failure();
    if (op->getNumResults() > call.getCarried() &&
        failed(l.plan.check(op, l.plan.less(*number, l.plan.index(onnx::kMostParts + 1)),
                            "it collects a part in each of {0} trips; nearest supported: " +
                                Twine(onnx::kMostParts) + " trips",
                            *number)))
      return failure();
    count = l.plan.value(l.plan.atLeastZero(*number));
  }
  if (!l.absent(op, 1)) {
    FailureOr<Value> flag = conditionOf(l, op, 1);
    if (failed(flag))
      return failure();
    condition = *flag;
  }
  FailureOr<SmallVector<Value>> values = valuesOf(l, op, 2);
  if (failed(values) || failed(checkResults(l, op)))
    return failure();
  OpBuilder &b = l.builder();
  SmallVector<Type> types{b.getIndexType()}; // the number of trips
  for (Type type : op->getResultTypes())
    types.push_back(plainType(type));
  unsigned carried = call.getCarried();
  SmallVector<Value> sizes;
  SmallVector<int64_t> open; // of what is carried
  ArrayRef<int64_t> origins = call.getSizes();
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape())) {
      if (i >= carried && dim && ShapedType::isDynamic(size))
        sizes.push_back(l.plan.value(l.shapes.of(op, 2 + origins[0])[origins[1]]));
      if (i < carried && ShapedType::isDynamic(size) && origins[0] < 0)
        open.append({int64_t(i), int64_t(dim)});
      origins = origins.drop_front(2);
    }
  types.append(open.size() / 2, b.getIndexType());
  auto made = b.create<rt::LoopOp>(
      l.plan.location(), types, count, condition, ValueRange(*values).take_front(carried),
      ValueRange(*values).drop_front(carried), sizes, call.getBodyAttr(),
      b.getDenseI64ArrayAttr(open), call.getUnconditionalAttr());
  for (size_t i = 0; i < open.size(); i += 2)
    l.plan.decide(op->getResult(open[i]), open[i + 1],
                  made.getOutputs()[op->getNumResults() + i / 2]);
  for (OpResult result : op->getResults().drop_front(carried))
    l.plan.decide(result, 0, made.getTrips());
  return defineResults(l, op, made.getOutputs().take_front(op->getNumResults()));
}

void registerCallLowerings(LoweringRows &rows) {
  rows.add<onnx::CallIfOp>({lowerIf});
  rows.add<onnx::CallLoopOp>({lowerLoop});
}

} // namespace cameo
