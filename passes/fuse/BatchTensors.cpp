// Operands and results of batches.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/BatchTensors.h"

#include "dialects/rt/Layout.h"
#include "passes/fuse/FusionCost.h"
#include "runtime/mutant.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace cameo {

namespace {

/// Kinds of operands in skeletons.
enum Source : uintptr_t { Constant = 1, Member, ReshapedMember, Placeable, Unplaceable, Other };

constexpr int64_t kMostDuplicated = 1 << 20;

int64_t bytesOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t bytes = std::max<int64_t>(type.getElementTypeBitWidth(), 8) / 8;
  for (int64_t size : type.getShape())
    bytes *= ShapedType::isDynamic(size) ? int64_t(kUnknownSize) : size;
  return bytes;
}

/// The constant that the tensor is, perhaps reshaped; null for others.
rt::GetConstantOp constantOf(Value tensor) {
  if (auto reshape = tensor.getDefiningOp<rt::ReshapeOp>())
    tensor = reshape.getSource();
  return tensor.getDefiningOp<rt::GetConstantOp>();
}

/// Whether the tensor is the result of a dispatch, perhaps reshaped, that may be written anywhere:
/// nothing but dispatches reads it.
bool isPlaceable(Value tensor) {
  while (auto reshape = tensor.getDefiningOp<rt::ReshapeOp>())
    tensor = reshape.getSource();
  auto producer = tensor.getDefiningOp<kernel::DispatchOp>();
  if (!producer ||
      !producer.getTiedOpOperand(cast<OpResult>(tensor))->get().getDefiningOp<tensor::EmptyOp>())
    return false;
  SmallVector<Value> names{tensor};
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (isa<rt::ReshapeOp>(user))
        names.push_back(user->getResult(0));
      else if (!isa<kernel::DispatchOp>(user))
        return false;
    }
  return true;
}

/// The use as a part of a concatenation, if the result, perhaps reshaped, has exactly one such.
OpOperand *partUse(OpResult result) {
  OpOperand *found = nullptr;
  for (OpOperand &use : result.getUses()) {
    OpOperand *part = &use;
    if (auto reshape = dyn_cast<rt::ReshapeOp>(use.getOwner()); reshape && reshape->hasOneUse())
      part = &*reshape->use_begin();
    if (!isa<rt::ConcatOp>(part->getOwner()))
      continue;
    if (found)
      return nullptr;
    found = part;
  }
  return found;
}

int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product = ShapedType::isDynamic(size) || product < 0 ? -1 : product * size;
  return product;
}

/// The dimension of `result` before which members of a batch must be for their parts, each `part`,
/// to follow one another along dimension `dim`.
std::optional<int64_t> dimensionFor(Value result, Value part, int64_t dim) {
  auto from = cast<RankedTensorType>(result.getType()), to = cast<RankedTensorType>(part.getType());
  if (result == part)
    return dim;
  if (dim == 0)
    return 0;
  // As many elements before the place, or behind it: one of the two may be open.
  int64_t outer = productOf(to.getShape().take_front(dim));
  int64_t inner = productOf(to.getShape().drop_front(dim));
  for (int64_t place = 0; place < from.getRank(); ++place)
    if ((outer > 0 && productOf(from.getShape().take_front(place)) == outer) ||
        (inner > 0 && productOf(from.getShape().drop_front(place)) == inner))
      return place;
  return std::nullopt;
}

} // namespace

int64_t BatchTensors::resultBytes(kernel::DispatchOp op) {
  int64_t bytes = 0;
  for (Value result : op.getResults())
    bytes += bytesOf(result);
  return bytes;
}

int64_t BatchTensors::constantBytes(kernel::DispatchOp op) {
  int64_t bytes = 0;
  for (Value input : op.getInputs())
    bytes += constantOf(input) ? bytesOf(input) : 0;
  return bytes;
}

void BatchTensors::describe(kernel::DispatchOp op, bool unrelated, Skeleton &skeleton) {
  auto add = [&](Source kind, Value tensor) {
    skeleton.tokens.push_back(kind);
    skeleton.tokens.push_back(reinterpret_cast<uintptr_t>(tensor.getAsOpaquePointer()));
  };
  for (Value init : op.getInits())
    if (auto empty = init.getDefiningOp<tensor::EmptyOp>())
      for (Value size : empty.getDynamicSizes())
        add(Other, size);
  for (OpResult result : op.getResults()) {
    OpOperand *part = partUse(result);
    add(Other, part ? part->getOwner()->getResult(0) : Value());
    skeleton.numbers.push_back(part ? part->getOperandNumber() : 0);
  }
  for (Value input : op.getInputs()) {
    auto lane = lanes.find(input);
    auto reshape = lane == lanes.end() ? input.getDefiningOp<rt::ReshapeOp>() : rt::ReshapeOp();
    if (reshape)
      lane = lanes.find(reshape.getSource());
    if (constantOf(input))
      add(Constant, {});
    else if (lane == lanes.end())
      unrelated ? add(isPlaceable(input) ? Placeable : Unplaceable, {}) : add(Other, input);
    else
      add(reshape ? ReshapedMember : Member, lane->second.stack);
    skeleton.numbers.push_back(lane == lanes.end() ? 0 : lane->second.index);
    if (reshape && lane != lanes.end())
      for (Value size : reshape.getSizes())
        add(Other, size);
  }
}

StringRef BatchTensors::unfitResults(kernel::DispatchOp op) {
  for (OpOperand &init : op.getInitsMutable())
    if (!init.get().getDefiningOp<tensor::EmptyOp>())
      return "a result is not new memory";
  for (OpResult result : op.getResults()) {
    if (llvm::is_contained(cast<RankedTensorType>(result.getType()).getShape(), 0))
      return "a result has no elements";
    int64_t parts = 0;
    SmallVector<Value> names{result};
    while (!names.empty())
      for (Operation *user : names.pop_back_val().getUsers()) {
        if (isa<rt::ReshapeOp>(user))
          names.push_back(user->getResult(0));
        else if (isa<rt::ConcatOp>(user))
          ++parts;
        else if (user->hasTrait<OpTrait::IsTerminator>())
          return "a result is an output of the model, in memory of its own";
        else if (!isa<kernel::DispatchOp>(user))
          return "a result is read by more than dispatches";
      }
    if (parts > (partUse(result) ? 1 : 0))
      return "a result is a part of concatenations that want it in unlike places";
  }
  return {};
}

StringRef BatchTensors::findResults(ArrayRef<kernel::DispatchOp> members, Batch &batch) {
  for (unsigned number = 0; number < members.front()->getNumResults(); ++number) {
    OpResult result = members.front()->getResult(number);
    OpOperand *first = partUse(result);
    for (auto [i, member] : llvm::enumerate(members)) {
      OpOperand *part = partUse(member->getResult(number));
      if (bool(part) != bool(first) ||
          (part &&
           (part->getOwner() != first->getOwner() ||
            CAMEO_MUTANT(7, part->getOperandNumber() != first->getOperandNumber() + i, false) ||
            part->get().getType() != first->get().getType())))
        return "their results do not follow one another in a concatenation";
    }
    std::optional<int64_t> dim = 0;
    if (first) {
      auto concat = cast<rt::ConcatOp>(first->getOwner());
      dim = dimensionFor(result, first->get(), concat.getDim());
      auto part = cast<RankedTensorType>(first->get().getType());
      bool isAll = concat.getParts().size() == members.size();
      if (!dim || (!isAll && part.isDynamicDim(concat.getDim())))
        return "the parts of the concatenation that they are cannot be one";
    }
    batch.resultDims.push_back(*dim);
  }
  return {};
}

bool BatchTensors::canStack(ArrayRef<Value> tensors) {
  llvm::SmallDenseSet<Value> distinct(tensors.begin(), tensors.end());
  if (distinct.size() != tensors.size())
    return false;
  // Of what others read, too, the bytes are stored twice.
  bool isRead = llvm::any_of(tensors, [](Value tensor) {
    return !tensor.hasOneUse() || !constantOf(tensor)->hasOneUse();
  });
  return !isRead || bytesOf(tensors.front()) * int64_t(tensors.size()) <= kMostDuplicated;
}

std::optional<BatchOperand> BatchTensors::stackedConstants(OpBuilder &builder,
                                                           ArrayRef<Value> tensors) {
  if (!canStack(tensors))
    return std::nullopt;
  SmallVector<rt::GetConstantOp> parts;
  for (Value tensor : tensors)
    parts.push_back(constantOf(tensor));
  auto sameType = [&](rt::GetConstantOp part) { return part.getType() == parts[0].getType(); };
  rt::ConstantOp constant = llvm::all_of(parts, sameType) ? constants.stack(parts) : nullptr;
  if (!constant)
    return std::nullopt;
  Value stack = builder.create<rt::GetConstantOp>(
      constant.getLoc(), cast<ElementsAttr>(constant.getValue()).getType(), constant.getSymName());
  Type type = withDimension(tensors.front().getType(), 0, tensors.size());
  if (stack.getType() != type)
    stack = builder.create<rt::ReshapeOp>(constant.getLoc(), type, stack, ValueRange{});
  return BatchOperand{stack, false};
}

std::optional<BatchOperand> BatchTensors::stacked(OpBuilder &builder, ArrayRef<Value> tensors,
                                                  int64_t step) {
  Value first = tensors.front();
  if (llvm::all_equal(tensors))
    return BatchOperand{first};
  if (constantOf(first))
    return stackedConstants(builder, tensors);
  if (auto lane = lanes.find(first); lane != lanes.end())
    return BatchOperand{lane->second.stack, false, lane->second.dim, lane->second.index, step};
  auto reshape = first.getDefiningOp<rt::ReshapeOp>();
  if (reshape && lanes.contains(reshape.getSource()))
    return reshaped(builder, tensors, step);
  return placed(builder, tensors);
}

/// Of members of a batch that are reshaped in one way.
std::optional<BatchOperand> BatchTensors::reshaped(OpBuilder &builder, ArrayRef<Value> tensors,
                                                   int64_t step) {
  auto reshape = tensors.front().getDefiningOp<rt::ReshapeOp>();
  Lane lane = lanes.lookup(reshape.getSource());
  auto type = cast<RankedTensorType>(lane.stack.getType());
  if (lane.dim != 0)
    return std::nullopt;
  int64_t count = tensors.size();
  Value stack = lane.stack;
  if (step != 1) { // of all of them, from which the batch takes those
    stack = builder.create<rt::ReshapeOp>(reshape.getLoc(),
                                          withDimension(reshape.getType(), 0, type.getDimSize(0)),
                                          stack, reshape.getSizes());
    return BatchOperand{stack, false, lane.dim, lane.index, step};
  }
  if (count != type.getDimSize(0)) {
    SmallVector<int64_t> shape(type.getShape()), offsets(type.getRank(), 0);
    shape[0] = count, offsets[0] = lane.index;
    SmallVector<Value> sizes;
    for (int64_t dim = 1; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(rt::sizeOf(stack, dim).value(builder, reshape.getLoc()));
    stack = builder.create<rt::ViewOp>(reshape.getLoc(),
                                       RankedTensorType::get(shape, type.getElementType()), stack,
                                       ValueRange{}, offsets, sizes);
  }
  stack = builder.create<rt::ReshapeOp>(
      reshape.getLoc(), withDimension(reshape.getType(), 0, count), stack, reshape.getSizes());
  return BatchOperand{stack, false};
}

/// Of results that cameo-place-concatenations will find written beside one another.
std::optional<BatchOperand> BatchTensors::placed(OpBuilder &builder, ArrayRef<Value> tensors) {
  llvm::SmallDenseSet<Value> distinct;
  Value first = tensors.front();
  auto type = cast<RankedTensorType>(first.getType());
  for (Value tensor : tensors) {
    if (!isPlaceable(tensor))
      return std::nullopt;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!(rt::sizeOf(tensor, dim) == rt::sizeOf(first, dim)))
        return std::nullopt;
    while (auto reshape = tensor.getDefiningOp<rt::ReshapeOp>())
      tensor = reshape.getSource();
    if (!distinct.insert(tensor).second)
      return std::nullopt;
  }
  SmallVector<Value> sizes, parts;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(rt::sizeOf(first, dim).value(builder, first.getLoc()));
  for (Value tensor : tensors)
    parts.push_back(
        builder.create<rt::ReshapeOp>(tensor.getLoc(), withDimension(type, 0, 1), tensor, sizes));
  Value stack = builder.create<rt::ConcatOp>(first.getLoc(), withDimension(type, 0, tensors.size()),
                                             parts, 0, sizes);
  return BatchOperand{stack, false};
}

StringRef BatchTensors::findOperands(OpBuilder &builder, ArrayRef<kernel::DispatchOp> members,
                                     const Skeleton &first, Batch &batch) {
  size_t inputs = kernel::DispatchOp(members.front()).getInputs().size();
  size_t inBody = first.numbers.size() - inputs;
  for (size_t input = 0; input < inputs; ++input) {
    SmallVector<Value> tensors;
    for (kernel::DispatchOp member : members)
      tensors.push_back(member.getInputs()[input]);
    auto operand = stacked(builder, tensors, batch.steps[inBody + input]);
    if (!operand)
      return constantOf(tensors.front())
                 ? "their weights have other readers, or no bytes to be stacked"
                 : "their operands are in unrelated memory";
    batch.operands.push_back(*operand);
  }
  return {};
}

/// The concatenation of which `firstUse` and the `count - 1` behind it are parts has `whole` for
/// them.
void BatchTensors::replaceParts(OpBuilder &builder, OpOperand &firstUse, Value whole,
                                int64_t count) {
  auto concat = cast<rt::ConcatOp>(firstUse.getOwner());
  auto type = cast<RankedTensorType>(concat.getType());
  int64_t dim = concat.getDim(), start = firstUse.getOperandNumber();
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> sizes(concat.getSizes()), parts(concat.getParts());
  bool isAll = int64_t(parts.size()) == count;
  if (!isAll) {
    if (type.isDynamicDim(dim))
      sizes.erase(sizes.begin() + type.getDynamicDimIndex(dim));
    shape[dim] = count * cast<RankedTensorType>(firstUse.get().getType()).getDimSize(dim);
  }
  builder.setInsertionPoint(concat);
  Value part = builder.create<rt::ReshapeOp>(
      concat.getLoc(), RankedTensorType::get(shape, type.getElementType()), whole, sizes);
  if (isAll) {
    concat.replaceAllUsesWith(part);
    concat.erase();
    return;
  }
  parts.erase(parts.begin() + start, parts.begin() + start + count);
  parts.insert(parts.begin() + start, part);
  concat.getPartsMutable().assign(parts);
}

/// A member of a batch, as it was.
Value BatchTensors::viewOf(OpBuilder &builder, OpResult member, const Lane &lane) {
  auto type = cast<RankedTensorType>(member.getType());
  auto empty = cast<kernel::DispatchOp>(member.getOwner())
                   .getTiedOpOperand(member)
                   ->get()
                   .getDefiningOp<tensor::EmptyOp>();
  SmallVector<int64_t> offsets(type.getRank() + 1, 0);
  offsets[lane.dim] = lane.index;
  Value view =
      builder.create<rt::ViewOp>(member.getLoc(), withDimension(type, lane.dim, 1), lane.stack,
                                 ValueRange{}, offsets, empty.getDynamicSizes());
  return builder.create<rt::ReshapeOp>(member.getLoc(), type, view, empty.getDynamicSizes());
}

void BatchTensors::replaceResults(OpBuilder &builder, ArrayRef<kernel::DispatchOp> members,
                                  kernel::DispatchOp merged, const Batch &batch) {
  for (unsigned number = 0; number < merged->getNumResults(); ++number) {
    Value whole = merged->getResult(number);
    if (OpOperand *part = partUse(members.front()->getResult(number)))
      replaceParts(builder, *part, whole, batch.count);
    builder.setInsertionPointAfter(merged);
    for (auto [i, member] : llvm::enumerate(members)) {
      OpResult result = member->getResult(number);
      for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
        if (isa<rt::ReshapeOp>(user) && user->use_empty())
          user->erase();
      if (result.use_empty())
        continue;
      Lane lane{whole, batch.resultDims[number], int64_t(i)};
      Value view = viewOf(builder, result, lane);
      lanes[view] = lane;
      result.replaceAllUsesWith(view);
    }
  }
  for (kernel::DispatchOp member : members)
    member.erase();
}

} // namespace cameo
