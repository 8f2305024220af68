// Sequences and optionals that are known when the model is compiled: what reads one reads the
// tensors in it.
//
//   %0 = onnx.SequenceConstruct(%a, %b)
//   %1 = onnx.SequenceInsert(%0, %c, %none)
//   %2 = onnx.ConcatFromSequence(%1) {axis = 0}
//     ==>
//   %2 = onnx.Concat(%a, %b, %c) {axis = 0}
//
// Which tensors a sequence has, and whether an optional has its element, is kept beside the IR;
// operators that make them are erased once nothing reads them.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ControlFlow.h"

#include "dialects/onnx/shape/NodeText.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace cameo {

const ControlFlow::List *ControlFlow::listOf(Value value) const {
  auto found = lists.find(value);
  return found == lists.end() ? nullptr : &found->second;
}

Value ControlFlow::constantOf(Operation *op, int64_t value, RankedTensorType type) {
  OpBuilder b(op);
  auto number = b.getIntegerAttr(type.getElementType(), value);
  return createConstant(b, op->getLoc(), DenseElementsAttr::get(type, Attribute(number)));
}

std::optional<int64_t> ControlFlow::position(Operation *op, unsigned operand, int64_t least,
                                             int64_t most, int64_t otherwise) {
  if (onnx::isAbsent(op, operand) && least <= most)
    return otherwise;
  std::optional<int64_t> given =
      onnx::isAbsent(op, operand) ? most : known(op->getOperand(operand));
  if (!given) {
    keep(op, whyUnknown(op->getOperand(operand), onnx::inputText(op, operand),
                        "a constant, or a value computed from shapes"));
    return std::nullopt;
  }
  if (least > most) {
    keep(op, "its sequence is empty; nearest supported: one with a tensor at the position");
    return std::nullopt;
  }
  if (*given < least || *given > most) {
    keep(op, onnx::inputText(op, operand) + " is " + Twine(*given) + "; the sequence allows " +
                 Twine(least) + " to " + Twine(most));
    return std::nullopt;
  }
  return *given < 0 ? *given - least : *given;
}

Operation *ControlFlow::foldConstruct(Operation *op) {
  auto &list = lists[op->getResult(0)];
  for (Value operand : op->getOperands())
    list.push_back(operand);
  return op;
}

Operation *ControlFlow::foldInsert(Operation *op) {
  const List *given = listOf(op->getOperand(0));
  if (!given)
    return keep(op, "");
  List list = *given;
  auto size = static_cast<int64_t>(list.size());
  // Counted from the back, as many places as there are tensors: -1 is in front of the last one.
  std::optional<int64_t> at = position(op, 2, -size, size, size);
  if (!at)
    return op;
  list.insert(list.begin() + *at, op->getOperand(1));
  lists[op->getResult(0)] = list;
  return op;
}

Operation *ControlFlow::foldErase(Operation *op) {
  const List *given = listOf(op->getOperand(0));
  if (!given)
    return keep(op, "");
  List list = *given;
  auto size = static_cast<int64_t>(list.size());
  std::optional<int64_t> at = position(op, 1, -size, size - 1, size - 1);
  if (!at)
    return op;
  list.erase(list.begin() + *at);
  lists[op->getResult(0)] = list;
  return op;
}

Operation *ControlFlow::foldAt(Operation *op) {
  if (isa<TensorType>(op->getOperand(0).getType()))
    return foldStacked(op);
  const List *list = listOf(op->getOperand(0));
  if (!list)
    return keep(op, "");
  if (!list->empty() && !known(op->getOperand(1)) && haveOneShape(*list))
    return gatherAt(op, *list);
  auto size = static_cast<int64_t>(list->size());
  std::optional<int64_t> at = position(op, 1, -size, size - 1, size - 1);
  if (!at)
    return op;
  return replace(op, (*list)[*at], op->getPrevNode());
}

bool ControlFlow::haveOneShape(const List &list) {
  std::optional<onnx::Sizes> first = walk.shapes.find(list.front());
  return first && llvm::all_of(llvm::drop_begin(list), [&](Value value) {
           std::optional<onnx::Sizes> sizes = walk.shapes.find(value);
           return sizes && *sizes == *first;
         });
}

/// The tensor at a position that only a run knows.
Operation *ControlFlow::gatherAt(Operation *op, List list) {
  Operation *before = op->getPrevNode();
  Expander expander(op, walk.shapes, none);
  for (Value &value : list)
    value = expander.unsqueeze(value, 0);
  Value at = expander.reshape(op->getOperand(1), {});
  return replace(
      op, expander.emit("Gather", {expander.concat(list, 0), at}, {expander.with("axis", 0)}),
      before);
}

Operation *ControlFlow::foldLength(Operation *op) {
  if (isa<TensorType>(op->getOperand(0).getType()))
    return foldStacked(op);
  const List *list = listOf(op->getOperand(0));
  if (!list)
    return keep(op, "");
  Operation *before = op->getPrevNode();
  auto type = RankedTensorType::get({}, OpBuilder(op).getI64Type());
  return replace(op, constantOf(op, static_cast<int64_t>(list->size()), type), before);
}

Operation *ControlFlow::foldConcat(Operation *op) {
  if (isa<TensorType>(op->getOperand(0).getType()))
    return foldStacked(op);
  const List *list = listOf(op->getOperand(0));
  if (!list)
    return keep(op, "");
  if (list->empty())
    return keep(op, "its sequence is empty; nearest supported: one with a tensor in it");
  Operation *before = op->getPrevNode();
  Expander expander(op, walk.shapes, none);
  List parts = *list;
  int64_t axis = expander.integer("axis", 0);
  if (expander.integer("new_axis", 0))
    for (Value &part : parts)
      part = expander.unsqueeze(part, axis);
  return replace(op, expander.concat(parts, axis), before);
}

/// The sizes into which `size` is split, all of them `part` but the last one.
static SmallVector<int64_t> equalParts(int64_t size, int64_t part) {
  SmallVector<int64_t> parts;
  for (int64_t begin = 0; begin < size; begin += part)
    parts.push_back(std::min(part, size - begin));
  return parts;
}

Operation *ControlFlow::foldSplit(Operation *op) {
  std::optional<onnx::Sizes> sizes = walk.shapes.find(op->getOperand(0));
  if (!sizes)
    return keep(op, "");
  Expander expander(op, walk.shapes, none);
  auto rank = static_cast<int64_t>(sizes->size());
  int64_t given = expander.integer("axis", 0), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank)
    return keep(op, "'axis' = " + Twine(given) + " is none of an input of rank " + Twine(rank));
  std::optional<int64_t> size = getConstantIntValue((*sizes)[axis]);
  bool hasSplit = expander.has(1);
  std::optional<onnx::Sizes> splitSizes;
  if (hasSplit && !(splitSizes = walk.shapes.find(op->getOperand(1))))
    return keep(op, "");
  SmallVector<int64_t> parts;
  bool isList = hasSplit && splitSizes->size() == 1;
  if (std::optional<SmallVector<int64_t>> split = hasSplit ? expander.known(1) : std::nullopt) {
    if (isList)
      parts = *split;
    else if (split->size() != 1 || split->front() < 1)
      return keep(op, "input 'split' must be 1 or more");
    else if (size && *size / split->front() < kMostUnrolledNodes)
      parts = equalParts(*size, split->front());
    else if (size)
      return keep(op, "makes more than " + Twine(kMostUnrolledNodes) +
                          " tensors; nearest supported: Reshape, to work on all of them at once");
  } else if (hasSplit) {
    return keep(op, whyUnknown(op->getOperand(1), "input 'split'", "a constant"));
  } else if (size && *size > kMostUnrolledNodes) {
    return keep(op,
                "makes " + Twine(*size) + " tensors; at most " + Twine(kMostUnrolledNodes) +
                    " are supported; nearest supported: Reshape, to work on all of them at once");
  } else if (size) {
    parts.assign(*size, 1);
  }
  bool isSingle = !isList && (!hasSplit || (expander.known(1) && expander.known(1)->front() == 1));
  if (!size && isSingle)
    if (Operation *first = stackSplit(op, axis, rank))
      return first;
  if (!size && !isList)
    return keep(op, "splits an axis whose size only a run knows; nearest supported: sizes fixed "
                    "with --shapes, 'split' with the size of each part, or single entries that are "
                    "only read");
  if (parts.empty()) {
    lists[op->getResult(0)] = {};
    return op;
  }
  Operation *before = op->getPrevNode();
  List made = {op->getOperand(0)};
  if (parts.size() > 1 || !size || parts.front() != *size)
    made = expander.emitAll("Split", {op->getOperand(0), expander.ints(parts)},
                            {expander.with("axis", axis)}, parts.size());
  if (isSingle && !expander.integer("keepdims", 1))
    for (Value &part : made)
      part = expander.squeeze(part, axis);
  // Its list is known once the parts are visited.
  return replace(op, expander.emit("SequenceConstruct", made), before);
}

Operation *ControlFlow::foldOptional(Operation *op) {
  Value element = op->getOperand(0);
  optionals[op->getResult(0)] = onnx::isAbsent(element) ? Value() : element;
  return op;
}

Operation *ControlFlow::foldGetElement(Operation *op) {
  Value given = op->getOperand(0), element = given;
  if (isa<onnx::OptType>(given.getType())) {
    auto found = optionals.find(given);
    if (found == optionals.end())
      return keep(op, "");
    element = found->second;
  }
  if (!element)
    return keep(op, "its optional has no element; nearest supported: one that has");
  return replace(op, element, op->getPrevNode());
}

Operation *ControlFlow::foldHasElement(Operation *op) {
  Value given = op->getOperand(0);
  bool has = !onnx::isAbsent(given);
  if (isa<onnx::OptType>(given.getType())) {
    auto found = optionals.find(given);
    if (found == optionals.end())
      return keep(op, "");
    has = bool(found->second);
  }
  Operation *before = op->getPrevNode();
  auto type = RankedTensorType::get({}, OpBuilder(op).getI1Type());
  return replace(op, constantOf(op, has, type), before);
}

Operation *ControlFlow::foldIdentity(Operation *op) {
  if (isa<TensorType>(op->getOperand(0).getType()))
    return op;
  return replace(op, op->getOperand(0), op->getPrevNode());
}

Operation *ControlFlow::foldList(Operation *op) {
  using Fold = Operation *(ControlFlow::*)(Operation *);
  auto fold =
      llvm::TypeSwitch<Operation *, Fold>(op)
          .Case<onnx::SequenceConstructOp, onnx::SequenceEmptyOp>(
              [](auto) { return &ControlFlow::foldConstruct; })
          .Case<onnx::SequenceInsertOp>([](auto) { return &ControlFlow::foldInsert; })
          .Case<onnx::SequenceEraseOp>([](auto) { return &ControlFlow::foldErase; })
          .Case<onnx::SequenceAtOp>([](auto) { return &ControlFlow::foldAt; })
          .Case<onnx::SequenceLengthOp>([](auto) { return &ControlFlow::foldLength; })
          .Case<onnx::SplitToSequenceOp>([](auto) { return &ControlFlow::foldSplit; })
          .Case<onnx::ConcatFromSequenceOp>([](auto) { return &ControlFlow::foldConcat; })
          .Case<onnx::OptionalOp>([](auto) { return &ControlFlow::foldOptional; })
          .Case<onnx::OptionalGetElementOp>([](auto) { return &ControlFlow::foldGetElement; })
          .Case<onnx::OptionalHasElementOp>([](auto) { return &ControlFlow::foldHasElement; })
          .Case<onnx::IdentityOp>([](auto) { return &ControlFlow::foldIdentity; })
          .Default(Fold());
  if (!fold)
    return op;
  op->removeAttr(kUnexpandedAttr);
  return (this->*fold)(op);
}

} // namespace cameo
