// Losses: what was chosen of logarithms of probabilities, weighted and reduced.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/expand/Expander.h"

using namespace mlir;

namespace cameo {

/// Logarithms [N, C, ...], classes [N, ...] and perhaps a weight for each class.
static FailureOr<Value> loss(Expander &e, Value logs, unsigned classes, unsigned weights) {
  int64_t rank = e.rank(0);
  if (rank < 2 || e.rank(classes) != rank - 1) {
    (void)e.refuse("there are " + Twine(rank) + " dimensions of scores and " +
                   Twine(e.rank(classes)) + " of classes; those are 2 or more, these one less");
    return failure();
  }
  StringRef reduction = e.text("reduction", "mean");
  Type element = e.elementType(0), integer = e.elementType(classes);
  Value target = e.operand(classes), isIgnored;
  if (e.op->hasAttr("ignore_index")) {
    // A class that is not counted may be no class at all, and is not looked up.
    isIgnored = e.emit("Equal", {target, e.scalar(double(e.integer("ignore_index", 0)), integer)});
    target = e.emit("Where", {isIgnored, e.scalar(0, integer), target});
  }
  Value chosen = e.emit("GatherElements", {logs, e.unsqueeze(target, {1})}, {e.with("axis", 1)});
  Value result = e.emit("Neg", {e.squeeze(chosen, 1)});
  Value weight;
  if (e.has(weights)) {
    weight = e.emit("Gather", {e.operand(weights), target}, {e.with("axis", int64_t(0))});
    result = e.emit("Mul", {result, weight});
  }
  if (isIgnored) {
    Value zero = e.scalar(0, element);
    result = e.emit("Where", {isIgnored, zero, result});
    weight = e.emit("Where", {isIgnored, zero, weight ? weight : e.scalar(1, element)});
  }
  if (reduction == "none")
    return result;
  auto reduce = [&](StringRef name, Value value) {
    return e.emit(name, {value}, {e.with("keepdims", int64_t(0))});
  };
  if (reduction == "sum")
    return reduce("ReduceSum", result);
  if (!weight)
    return reduce("ReduceMean", result);
  return e.emit("Div", {reduce("ReduceSum", result), reduce("ReduceSum", weight)});
}

static LogicalResult expandNegativeLogLikelihoodLoss(Expander &e) {
  FailureOr<Value> result = loss(e, e.operand(0), 1, 2);
  if (failed(result))
    return failure();
  e.give(0, *result);
  return success();
}

static LogicalResult expandSoftmaxCrossEntropyLoss(Expander &e) {
  Value logs = e.emit("LogSoftmax", {e.operand(0)}, {e.with("axis", 1)});
  FailureOr<Value> result = loss(e, logs, 1, 2);
  if (failed(result))
    return failure();
  e.give(0, *result);
  if (e.op->getNumResults() > 1)
    e.give(1, logs);
  return success();
}

void registerLossExpansions(ExpansionRows &rows) {
  rows.add<onnx::NegativeLogLikelihoodLossOp>({expandNegativeLogLikelihoodLoss});
  rows.add<onnx::SoftmaxCrossEntropyLossOp>({expandSoftmaxCrossEntropyLoss});
}

} // namespace cameo
