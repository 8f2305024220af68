// Sequences of as many tensors as only a run knows, where all of them have one shape: one tensor, whose first axis goes
// through them.
//
//   %0 = onnx.SplitToSequence(%x, %none) {axis = 0, keepdims = 0}
//   %1 = onnx.SequenceAt(%0, %i)
//     ==>
//   %1 = onnx.Gather(%x, %i) {axis = 0}
//
// A list that each trip of a Loop appends a tensor to, and nothing else, becomes a part that the Loop collects. What
// reads such a sequence has a tensor for an operand until it is visited.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ControlFlow.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace cameo {

/// True if a tensor may stand for a sequence with everything that reads it.
static bool isOnlyRead(Value sequence) {
  return llvm::all_of(
      sequence.getUsers(),
      llvm::IsaPred<onnx::SequenceAtOp, onnx::SequenceLengthOp, onnx::ConcatFromSequenceOp>);
}

/// Has a sequence's reader read the tensor in its place, whose rank is given; null where a result has no such axis.
static Value readStacked(Expander &expander, Value stacked, int64_t rank) {
  Operation *op = expander.op;
  if (isa<onnx::SequenceAtOp>(op)) // positions from the back are Gather's, too
    return expander.emit("Gather", {stacked, expander.reshape(op->getOperand(1), {})},
                         {expander.with("axis", 0)});
  if (isa<onnx::SequenceLengthOp>(op))
    return expander.sizeOf(stacked, 0);
  bool isNew = expander.integer("new_axis", 0) != 0;
  int64_t places = isNew ? rank : rank - 1;
  int64_t given = expander.integer("axis", 0), axis = given < 0 ? given + places : given;
  if (axis < 0 || axis >= places) // which Concat refuses, too
    return expander.emit("Concat", {stacked}, {expander.with("axis", isNew ? given : rank)});
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(1, rank));
  order.insert(order.begin() + axis, 0);
  Value result = axis ? expander.transpose(stacked, order) : stacked;
  if (isNew)
    return axis ? result : expander.emit("Identity", {stacked});
  Value sizes = expander.emit("Shape", {stacked});
  SmallVector<Value> parts;
  for (int64_t dim = 1; dim < rank; ++dim) {
    Value size = expander.slice(sizes, 0, dim, dim + 1);
    if (dim == axis + 1)
      size = expander.emit("Mul", {size, expander.slice(sizes, 0, 0, 1)});
    parts.push_back(size);
  }
  return expander.emit("Reshape", {result, expander.concat(parts, 0)},
                       {expander.with("allowzero", 1)});
}

/// An operator with a tensor in place of its sequence, as others.
Operation *ControlFlow::foldStacked(Operation *op) {
  std::optional<onnx::Sizes> sizes = walk.shapes.find(op->getOperand(0));
  if (!sizes)
    return keep(op, "");
  Operation *before = op->getPrevNode();
  Expander expander(op, walk.shapes, none);
  return replace(op, readStacked(expander, op->getOperand(0), sizes->size()), before);
}

/// Readers in graphs, which nobody visits where they are.
static SmallVector<Operation *> nestedReaders(Value sequence) {
  SmallVector<Operation *> found;
  for (Operation *user : sequence.getUsers())
    if (user->getBlock() != sequence.getParentBlock())
      found.push_back(user);
  return found;
}

void ControlFlow::foldNested(ArrayRef<Operation *> readers, Value stacked, int64_t rank) {
  for (Operation *op : readers) {
    Expander expander(op, walk.shapes, none);
    op->getResult(0).replaceAllUsesWith(readStacked(expander, stacked, rank));
    bury(op);
  }
}

/// A split into single entries of an axis whose size only a run knows; null where other operators than those that read
/// a sequence have it.
Operation *ControlFlow::stackSplit(Operation *op, int64_t axis, int64_t rank) {
  if (!isOnlyRead(op->getResult(0)))
    return nullptr;
  Operation *before = op->getPrevNode();
  Expander expander(op, walk.shapes, none);
  Value stacked = op->getOperand(0);
  if (axis) {
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    order.erase(order.begin() + axis);
    order.insert(order.begin(), axis);
    stacked = expander.transpose(stacked, order);
  }
  bool keepsAxis = expander.integer("keepdims", 1) != 0;
  if (keepsAxis)
    stacked = expander.unsqueeze(stacked, {1 + axis});
  if (stacked == op->getOperand(0))
    stacked = expander.emit("Identity", {stacked});
  foldNested(nestedReaders(op->getResult(0)), stacked, rank + keepsAxis);
  return replace(op, stacked, before);
}

/// The insertion at a list's end in the body, if that is all that becomes of the list there; else null.
static onnx::SequenceInsertOp insertion(Block &body, unsigned carried) {
  BlockArgument list = body.getArgument(2 + carried);
  Value yielded = body.getTerminator()->getOperand(1 + carried);
  auto insert = yielded.getDefiningOp<onnx::SequenceInsertOp>();
  bool isAppended = insert && insert->getBlock() == &body && insert->getOperand(0) == list &&
                    onnx::isAbsent(insert, 2) && list.hasOneUse() && yielded.hasOneUse();
  return isAppended ? insert : onnx::SequenceInsertOp();
}

/// A Loop behind this one that collects what this one appends to lists, which its results stand for; null where
/// there are none.
onnx::LoopOp ControlFlow::stackAppended(onnx::LoopOp loop, SmallVectorImpl<unsigned> &lists) {
  Block &body = loop->getRegion(0).front();
  unsigned carried = carriedCount(loop, loop->getNumOperands());
  for (unsigned i = 0; i < carried; ++i) {
    const List *given = listOf(loop->getOperand(2 + i));
    if (given && given->empty() && insertion(body, i) && isOnlyRead(loop->getResult(i)))
      lists.push_back(i);
  }
  if (lists.empty())
    return {};
  OpBuilder b(loop->getContext());
  b.setInsertionPointAfter(loop);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (auto [i, operand] : llvm::enumerate(loop->getOperands()))
    if (i < 2 || !llvm::is_contained(lists, i - 2))
      operands.push_back(operand);
  for (auto [i, type] : llvm::enumerate(loop->getResultTypes()))
    if (!llvm::is_contained(lists, i))
      types.push_back(type);
  for (unsigned i : lists)
    types.push_back(UnrankedTensorType::get(onnx::elementType(insertion(body, i)->getOperand(1))));
  OperationState state(loop.getLoc(), loop->getName(), operands, types, loop->getAttrs());
  IRMapping map;
  loop->getRegion(0).cloneInto(state.addRegion(), map);
  auto made = cast<onnx::LoopOp>(b.create(state));
  Block &inner = made->getRegion(0).front();
  Operation *end = inner.getTerminator();
  llvm::BitVector arguments(inner.getNumArguments()), yielded(end->getNumOperands());
  SmallVector<Operation *> inserts;
  SmallVector<Value> entries;
  for (unsigned i : lists) {
    inserts.push_back(insertion(inner, i));
    entries.push_back(inserts.back()->getOperand(1));
    arguments.set(2 + i);
    yielded.set(1 + i);
  }
  end->eraseOperands(yielded);
  end->insertOperands(end->getNumOperands(), entries);
  for (Operation *insert : inserts)
    insert->erase();
  inner.eraseArguments(arguments);
  return made;
}

/// Calls a Loop that appends to lists, with parts in their place; null where it does not.
Operation *ControlFlow::callStacked(onnx::LoopOp loop) {
  SmallVector<unsigned> lists;
  onnx::LoopOp stacked = stackAppended(loop, lists);
  if (!stacked)
    return nullptr;
  // Pairs of results: those that both have, in order, and the lists behind them.
  SmallVector<std::pair<Value, Value>> results;
  unsigned kept = loop->getNumResults() - lists.size(), next = 0;
  for (auto [i, result] : llvm::enumerate(loop->getResults())) {
    const auto *list = llvm::find(lists, i);
    unsigned place = list == lists.end() ? next++ : kept + (list - lists.begin());
    results.push_back({result, stacked->getResult(place)});
  }
  SmallVector<Operation *> readers;
  for (unsigned i : lists)
    readers.append(nestedReaders(loop->getResult(i)));
  for (auto [old, now] : results)
    old.replaceAllUsesWith(now);
  Operation *first = callLoop(stacked);
  if (first != stacked) {
    for (Operation *reader : readers) {
      Value parts = reader->getOperand(0);
      foldNested(reader, parts, cast<RankedTensorType>(parts.getType()).getRank());
    }
    bury(loop);
    return first;
  }
  for (auto [old, now] : results)
    now.replaceAllUsesWith(old);
  auto why = stacked->getAttrOfType<StringAttr>(kUnexpandedAttr);
  bury(stacked);
  return keep(loop, why.getValue());
}

} // namespace cameo
