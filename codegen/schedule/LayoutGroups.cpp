// Finding tensors that are stored alike.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/LayoutGroups.h"

#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace cameo {

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// The dimensions of the one shape that each dimension of the other is, where a reshape splits or
/// joins some and no more, whatever the sizes known only at run time turn out to be.
static std::optional<SmallVector<ReassociationIndices>> groupsOf(rt::ReshapeOp reshape) {
  Value few = reshape.getSource(), many = reshape.getResult();
  if (rankOf(few) > rankOf(many))
    std::swap(few, many);
  auto from = cast<RankedTensorType>(few.getType()), to = cast<RankedTensorType>(many.getType());
  std::optional<SmallVector<ReassociationIndices>> groups;
  if (from.getRank() != to.getRank()) {
    groups = getReassociationIndicesForReshape(from, to);
  } else if (from.getShape() == to.getShape()) {
    groups.emplace();
    for (int64_t dim = 0; dim < from.getRank(); ++dim)
      groups->push_back({dim});
  }
  if (!groups || int64_t(groups->size()) != from.getRank())
    return std::nullopt;
  for (auto [whole, parts] : llvm::enumerate(*groups)) {
    rt::Extent product;
    for (int64_t part : parts)
      product = product * rt::sizeOf(many, part);
    if (!(product == rt::sizeOf(few, whole)))
      return std::nullopt;
  }
  return groups;
}

LayoutGroups::LayoutGroups(func::FuncOp function) {
  SmallVector<Operation *> operations;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<kernel::DispatchOp, rt::StorageOp, rt::ViewOp, rt::AssembleOp, rt::ReshapeOp,
            tensor::CastOp>(op)) {
      operations.push_back(op);
      for (Value result : op->getResults())
        add(result);
    }
    return isa<kernel::DispatchOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  memory.grow(known.size());
  alike.grow(known.size());
  classes.grow(dims);
  for (Operation *op : operations)
    join(op);
  for (auto &entry : known)
    findFixed(entry.first);
  for (auto [value, reason] : toFix)
    fix(value, reason);
}

void LayoutGroups::add(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  known[value] = {type, unsigned(known.size()), dims};
  dims += type.getRank();
}

void LayoutGroups::joinDims(Value a, unsigned dimA, Value b, unsigned dimB) {
  classes.join(known[a].firstDim + dimA, known[b].firstDim + dimB);
}

void LayoutGroups::join(Value a, Value b) {
  if (!known.contains(a) || !known.contains(b)) {
    if (known.contains(a) || known.contains(b))
      toFix.emplace_back(known.contains(a) ? a : b,
                         "it is in the memory of an input or a constant");
    return;
  }
  memory.join(known[a].number, known[b].number);
  alike.join(known[a].number, known[b].number);
  for (unsigned dim = 0; dim < rankOf(a); ++dim)
    joinDims(a, dim, b, dim);
}

void LayoutGroups::joinReshape(rt::ReshapeOp reshape) {
  Value source = reshape.getSource(), result = reshape.getResult();
  if (!known.contains(source)) {
    toFix.emplace_back(result, "it is in the memory of an input or a constant");
    return;
  }
  if (!rt::hasOwnMemory(source)) {
    // Strides say less of other orders than of this one.
    for (Value value : {source, result})
      toFix.emplace_back(value, "a part of it is seen under another shape");
    return;
  }
  auto groups = groupsOf(reshape);
  if (!groups) {
    toFix.emplace_back(result, "it has another value's elements under another shape");
    asImported.insert(&reshape.getSourceMutable());
    asImportedValues.insert(source);
    return;
  }
  bool splits = rankOf(source) < rankOf(result);
  Value few = splits ? source : result, many = splits ? result : source;
  memory.join(known[few].number, known[many].number);
  alike.join(known[few].number, known[many].number);
  // Dimensions of extent 1 are anywhere.
  for (auto [whole, parts] : llvm::enumerate(*groups))
    for (int64_t part : parts)
      if (known[many].type.getDimSize(part) != 1 && known[few].type.getDimSize(whole) != 1)
        joinDims(few, whole, many, part);
}

/// Why operands of a dispatch keep their order; empty where they need not.
static StringRef reasonToStay(kernel::DispatchOp op) {
  if (op.getSchedule())
    return "a schedule is given for it as it is";
  if (!op.getBodyBlock()->getOps<kernel::RecurrenceOp>().empty())
    return "steps of a recurrent network read and write it as it is";
  if (!op.getBodyBlock()->getOps<kernel::InsertOp>().empty())
    return "a part of it is written over what is there";
  bool asks = op.getBody()
                  .walk([](tensor::DimOp dim) {
                    return dim.getConstantIndex() ? WalkResult::advance() : WalkResult::interrupt();
                  })
                  .wasInterrupted();
  return asks ? "which of its sizes is asked for is known only at run time" : "";
}

void LayoutGroups::join(Operation *op) {
  if (auto dispatch = dyn_cast<kernel::DispatchOp>(op)) {
    for (auto [result, init] : llvm::zip(dispatch.getResults(), dispatch.getInits()))
      if (!init.getDefiningOp<tensor::EmptyOp>())
        join(result, init);
    StringRef reason = reasonToStay(dispatch);
    if (!reason.empty()) {
      SmallVector<Value> values(dispatch->getOperands());
      llvm::append_range(values, dispatch.getResults());
      for (Value value : values)
        if (known.contains(value))
          toFix.emplace_back(value, reason);
    }
  } else if (auto reshape = dyn_cast<rt::ReshapeOp>(op)) {
    joinReshape(reshape);
  } else if (auto assemble = dyn_cast<rt::AssembleOp>(op)) {
    for (Value operand : assemble->getOperands())
      join(assemble.getResult(), operand);
  } else if (auto view = dyn_cast<rt::ViewOp>(op)) {
    join(view.getResult(), view.getSource());
  } else if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    if (known.contains(cast))
      join(cast.getResult(), cast.getSource());
  }
}

void LayoutGroups::findFixed(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<func::ReturnOp>(user)) {
      toFix.emplace_back(value, "it is an output");
      continue;
    }
    auto dim = dyn_cast<tensor::DimOp>(user);
    if (!isa<kernel::DispatchOp, rt::ReshapeOp, rt::ViewOp, rt::AssembleOp, tensor::CastOp>(user) &&
        !(dim && dim.getConstantIndex()))
      toFix.emplace_back(value, "the plan reads it");
  }
}

bool LayoutGroups::isFree(Value value) const {
  auto found = known.find(value);
  return found != known.end() && !reasons.contains(memory.findLeader(found->second.number));
}

void LayoutGroups::fix(ValueRange values, StringRef reason) {
  for (Value value : values)
    if (auto found = known.find(value); found != known.end())
      reasons.try_emplace(memory.findLeader(found->second.number), reason);
}

void LayoutGroups::relate(Value a, unsigned dimA, Value b, unsigned dimB) {
  if (a == b || !isFree(a) || !isFree(b))
    return;
  const Member &one = known[a], &other = known[b];
  if (one.type.getDimSize(dimA) == 1 || other.type.getDimSize(dimB) == 1)
    return;
  joinDims(a, dimA, b, dimB);
  alike.join(one.number, other.number);
}

void LayoutGroups::finish() {
  for (auto &[value, member] : known) {
    if (!isFree(value))
      continue;
    auto [group, isNew] = groups.try_emplace(alike.findLeader(member.number), members.size());
    if (isNew)
      members.emplace_back(), needed.emplace_back();
    members[group->second].push_back(value);
    if (asImportedValues.contains(value))
      needed[group->second].push_back(value);
  }
  chosen.resize(members.size());
}

std::optional<unsigned> LayoutGroups::groupOf(Value value) const {
  if (!isFree(value))
    return std::nullopt;
  return groups.lookup(alike.findLeader(known.find(value)->second.number));
}

void LayoutGroups::setInnermost(unsigned group, std::optional<unsigned> innermost) {
  if (chosen[group] == innermost)
    return;
  chosen[group] = innermost;
  for (Value value : members[group]) {
    const Member &member = known[value];
    DimOrder order;
    for (bool inner : {false, true})
      for (unsigned dim = 0; dim < member.type.getRank(); ++dim)
        if ((innermost && classes.findLeader(member.firstDim + dim) == *innermost) == inner)
          order.push_back(dim);
    if (llvm::is_sorted(order))
      orders.erase(value);
    else
      orders[value] = order;
  }
}

SmallVector<std::optional<unsigned>> LayoutGroups::candidates(unsigned group) const {
  SmallVector<std::optional<unsigned>> found{std::nullopt};
  for (Value value : members[group]) {
    const Member &member = known.find(value)->second;
    for (unsigned dim = 0; dim < member.type.getRank(); ++dim) {
      std::optional<unsigned> of = classes.findLeader(member.firstDim + dim);
      bool isKnown = !member.type.isDynamicDim(dim) && member.type.getDimSize(dim) != 1;
      if (isKnown && !llvm::is_contained(found, of) && found.size() < 8)
        found.push_back(of);
    }
  }
  return found;
}

std::optional<unsigned> LayoutGroups::channels(unsigned group) const {
  for (Value value : members[group])
    if (const Member &member = known.find(value)->second; member.type.getRank() >= 3)
      return classes.findLeader(member.firstDim + 1);
  return std::nullopt;
}

DimOrder LayoutGroups::orderOf(Value value) const { return orders.lookup(value); }

RankedTensorType LayoutGroups::formerType(Value value) const {
  return known.find(value)->second.type;
}

SmallVector<std::pair<Value, StringRef>> LayoutGroups::fixedValues() const {
  SmallVector<std::pair<Value, StringRef>> found;
  llvm::DenseSet<unsigned> seen;
  for (auto &[value, member] : known) {
    unsigned leader = memory.findLeader(member.number);
    auto reason = reasons.find(leader);
    if (member.type.getRank() >= 3 && reason != reasons.end() && seen.insert(leader).second)
      found.emplace_back(value, reason->second);
  }
  return found;
}

} // namespace cameo
