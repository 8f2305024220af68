// If whose condition only a run knows: both branches are computed, and Where chooses.
//
//   %0 = onnx.If(%c) ({ onnx.Yield(%x) }, { %1 = onnx.Relu(%x); onnx.Yield(%1) })
//     ==>
//   %1 = onnx.Relu(%x)
//   %0 = onnx.Where(%c, %1, %x)
//
// Graphs have no effects, so that this is what the If computes as long as both branches make values of one shape and
// neither checks anything while it runs: such a check would speak of a branch that is not taken. The If is visited
// again when sizes in its branches are known, which decides; where it stays, it becomes what it was.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/NodeText.h"
#include "passes/Statistics.h"
#include "passes/graph/ControlFlow.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace cameo {

static constexpr StringLiteral kNearestIf =
    "branches of one shape, or Where on the results of both";

/// Copies the branches in front of the If, which gets what they yield behind its condition.
Operation *ControlFlow::select(onnx::IfOp op) {
  if (auto known = selections.find(op); known != selections.end())
    return finishSelection(op, known->second);
  if (isDeep(op)) {
    Captures captures;
    SmallVector<Formal> formals;
    if (describeBranches(op, captures, formals).empty())
      return callBranches(op, whyUnknown(op.getCond(), "its condition", kNearestIf));
  }
  int64_t nodes = countNodes(op.getThenBranch().front()) + countNodes(op.getElseBranch().front());
  if (unrolledNodes + nodes > kMostUnrolledNodes)
    return callBranches(op, "");
  Selection selection{op->getPrevNode(), unrolledNodes, made.size()};
  unrolledNodes += nodes;
  OpBuilder b(op);
  SmallVector<Value> operands{op.getCond()};
  for (Region *branch : {&op.getThenBranch(), &op.getElseBranch()}) {
    IRMapping map;
    for (Operation &inner : branch->front().without_terminator())
      inferTypes(b.clone(inner, map));
    for (Value value : branch->front().getTerminator()->getOperands())
      operands.push_back(map.lookupOrDefault(value));
  }
  op->setOperands(operands);
  Operation *first = behind(selection.before, op->getBlock());
  selections.try_emplace(op, selection);
  return first == op.getOperation() ? finishSelection(op, selection) : first;
}

/// Why Where cannot choose between the branches; an empty string where it can.
std::string ControlFlow::whyNotSelected(onnx::IfOp op, const Selection &selection) {
  std::string condition = whyUnknown(op.getCond(), "its condition", kNearestIf);
  for (Operation *inner = behind(selection.before, op->getBlock()); inner != op;
       inner = inner->getNextNode()) {
    // Sequences that are known are taken out in the end.
    if (walk.refusals.contains(inner) && !isKnownList(inner))
      return condition;
    if (walk.sizes.isCheckedAtRunTime(inner))
      return condition + "; node '" + onnx::nodeText(inner).str() +
             "' of a branch checks sizes while it runs, which the other one need not have";
  }
  unsigned count = op->getNumResults();
  for (unsigned i = 0; i < count; ++i) {
    Value taken = op->getOperand(1 + i), other = op->getOperand(1 + count + i);
    auto sizes = walk.shapes.find(taken), otherSizes = walk.shapes.find(other);
    if (!sizes || !otherSizes)
      return condition;
    if (*sizes != *otherSizes)
      return condition + "; its branches make output " + std::to_string(i) + " of shape " +
             onnx::typeText(inferredType(taken, *sizes)) + " and " +
             onnx::typeText(inferredType(other, *otherSizes));
  }
  return "";
}

Operation *ControlFlow::finishSelection(onnx::IfOp op, const Selection &selection) {
  if (std::string why = whyNotSelected(op, selection); !why.empty()) {
    op->setOperands(op.getCond());
    while (op->getPrevNode() != selection.before)
      bury(op->getPrevNode());
    unrolledNodes = selection.othersNodes;
    discardCallees(selection.othersCallees);
    return callBranches(op, whyUnknown(op.getCond(), "its condition", kNearestIf));
  }
  Operation *before = op->getPrevNode();
  Expander expander(op, walk.shapes, none);
  Value condition = op.getCond();
  if (!walk.shapes.find(condition)->empty())
    condition = expander.reshape(condition, {});
  SmallVector<Value> chosen;
  unsigned outputs = op->getNumResults();
  for (unsigned i = 0; i < outputs; ++i) {
    Value taken = op->getOperand(1 + i), other = op->getOperand(1 + outputs + i);
    chosen.push_back(taken == other ? taken : expander.emit("Where", {condition, taken, other}));
  }
  ledger.chosen(
      "fold", op.getLoc(),
      "both branches are computed, and Where chooses: the condition is known when the model runs");
  count(function.getContext(), pass, "selected");
  return replace(op, chosen, before);
}

} // namespace cameo
