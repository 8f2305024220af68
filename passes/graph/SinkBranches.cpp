// An If behind another one that has decided on it: it goes into the branches of the first one.
//
//   %0:3 = onnx.If(%c) ({ onnx.Yield(%false, %x, %zero) },        %0 = onnx.If(%c) ({ onnx.Yield(%x) },
//                       { onnx.Yield(%true, %zero, %y) })                           { %1 = onnx.Exp(%y)
//   %1 = onnx.If(%0#0) ({ onnx.Yield(%0#1) },             ==>                         onnx.Yield(%1) })
//                       { %2 = onnx.Exp(%0#2)
//                         onnx.Yield(%2) })
//
// Exporters write `continue`, `break` and `return` so: a flag, values that only one of the cases has, and in the other
// case whatever number, of whatever rank, stands for them. In its branch the flag is known, and only what is there is
// read.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"
#include "passes/graph/ControlFlow.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace cameo {

/// The truth that a condition passes on.
static Value sourceOf(Value condition) {
  while (Operation *op = condition.getDefiningOp()) {
    // Numbers may become 0 on the way to a truth.
    if (!isa<onnx::IdentityOp>(op) &&
        !(isa<onnx::CastOp>(op) && onnx::elementType(op->getOperand(0)).isInteger(1)))
      break;
    condition = op->getOperand(0);
  }
  return condition;
}

/// True if branches of the reader are all that a result is for.
static bool isOnlyReadIn(OpResult result, onnx::IfOp reader) {
  return !result.use_empty() && llvm::all_of(result.getUsers(), [&](Operation *user) {
    return user != reader && reader->isProperAncestor(user);
  });
}

/// The operators between the two Ifs that have to go with the second one, in order; nothing where they depend on more
/// than the first one and values in front of it.
static std::optional<SmallVector<Operation *>> between(onnx::IfOp op, onnx::IfOp reader) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(reader->getRegions(), used);
  used.insert(reader.getCond());
  SmallVector<Value> pending(used.begin(), used.end());
  llvm::SetVector<Operation *> moved;
  while (!pending.empty()) {
    Operation *made = pending.pop_back_val().getDefiningOp();
    if (!made || made == op || made->getBlock() != op->getBlock() || made->isBeforeInBlock(op) ||
        moved.contains(made))
      continue;
    if (!isa<onnx::CastOp, onnx::IdentityOp, onnx::ConstantOp, onnx::NoneOp>(made))
      return std::nullopt;
    moved.insert(made);
    llvm::append_range(pending, made->getOperands());
  }
  SmallVector<Operation *> ordered = moved.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// The If that goes into the branches of this one; null where there is none.
static onnx::IfOp readerOf(onnx::IfOp op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    auto reader = dyn_cast<onnx::IfOp>(next);
    if (!reader)
      continue;
    Value source = sourceOf(reader.getCond());
    bool isDecided = source.getDefiningOp() == op || source == sourceOf(op.getCond());
    if (isDecided && llvm::any_of(op->getResults(),
                                  [&](OpResult result) { return isOnlyReadIn(result, reader); }))
      return reader;
  }
  return {};
}

/// Puts into the place of both an If that is visited next; null where nothing behind this one reads it so.
Operation *ControlFlow::sinkReader(onnx::IfOp op) {
  onnx::IfOp reader = selections.count(op) ? onnx::IfOp() : readerOf(op);
  if (!reader)
    return nullptr;
  int64_t nodes =
      countNodes(reader.getThenBranch().front()) + countNodes(reader.getElseBranch().front());
  std::optional<SmallVector<Operation *>> moved = between(op, reader);
  if (!moved || unrolledNodes + nodes > kMostUnrolledNodes)
    return nullptr;
  unrolledNodes += nodes;
  // The walk may be about to visit these next.
  auto isSunk = [&](Operation *user) { return reader->isAncestor(user) || sunk.contains(user); };
  sunk.insert(reader);
  for (Operation *each : llvm::reverse(*moved))
    if (llvm::all_of(each->getUsers(), isSunk))
      sunk.insert(each);
  SmallVector<OpResult> kept; // of the first one, what others read as well
  for (OpResult result : op->getResults())
    if (!llvm::all_of(result.getUsers(), isSunk))
      kept.push_back(result);
  SmallVector<Type> types;
  for (OpResult result : kept)
    types.push_back(result.getType());
  llvm::append_range(types, reader->getResultTypes());

  OpBuilder b(op);
  OperationState state(reader.getLoc(), op->getName(), op->getOperands(), types, op->getAttrs());
  for (Region &branch : op->getRegions())
    state.addRegion()->takeBody(branch);
  auto made = cast<onnx::IfOp>(b.create(state));
  bool isSame = sourceOf(reader.getCond()) == sourceOf(op.getCond());
  for (Region &branch : made->getRegions()) {
    bool isThen = &branch == &made.getThenBranch();
    Operation *end = branch.front().getTerminator();
    b.setInsertionPoint(end);
    IRMapping map;
    map.map(op->getResults(), end->getOperands());
    SmallVector<Operation *> copies(*moved);
    copies.push_back(reader);
    for (Operation *each : copies) {
      Operation *copy = b.clone(*each, map);
      if (!isThen)
        copy->walk([&](Operation *inner) { inner->setLoc(numbered(inner->getLoc(), 1)); });
      inferTypes(copy);
    }
    Operation *inner = end->getPrevNode();
    if (isSame)
      inner->setOperand(0, constantOf(inner, isThen, RankedTensorType::get({}, b.getI1Type())));
    SmallVector<Value> yielded;
    for (OpResult result : kept)
      yielded.push_back(end->getOperand(result.getResultNumber()));
    llvm::append_range(yielded, inner->getResults());
    end->setOperands(yielded);
  }
  for (auto [i, result] : llvm::enumerate(kept))
    result.replaceAllUsesWith(made->getResult(i));
  for (auto [i, result] : llvm::enumerate(reader->getResults()))
    result.replaceAllUsesWith(made->getResult(kept.size() + i));
  bury(op);
  count(function.getContext(), pass, "sunk");
  return made;
}

} // namespace cameo
