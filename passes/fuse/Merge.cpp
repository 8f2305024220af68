// Two dispatches as one description.
//
//   %y = kernel.dispatch ins(%x) outs(%e) {A}
//   %z = kernel.dispatch ins(%y) outs(%f) {B}
//     ==>
//   %z = kernel.dispatch ins(%x) outs(%f) {A into a tensor.empty, B}
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/Merge.h"

#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace cameo {

OpResult resultBehind(Value value, kernel::DispatchOp producer) {
  if (auto reshape = value.getDefiningOp<rt::ReshapeOp>())
    value = reshape.getSource();
  return value.getDefiningOp() == producer ? cast<OpResult>(value) : OpResult();
}

namespace {

/// Sizes of a new tensor of the plan or of a reshape's result.
SmallVector<OpFoldResult> sizesOf(RankedTensorType type, ValueRange dynamic) {
  SmallVector<OpFoldResult> sizes;
  Builder b(type.getContext());
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    sizes.push_back(dynamic.front());
    dynamic = dynamic.drop_front();
  }
  return sizes;
}

/// Which dimensions of the one shape are which of the other, where a reshape splits or joins them
/// and no more: sizes known only at run time are the same values. Otherwise why not.
struct Dimensions {
  SmallVector<ReassociationIndices> groups;
  StringRef why;
};

/// The dimensions of `many` that each of `few` is, where the others are 1, whatever the sizes are.
std::optional<SmallVector<ReassociationIndices>> withoutOnes(ArrayRef<OpFoldResult> few,
                                                             ArrayRef<OpFoldResult> many) {
  SmallVector<ReassociationIndices> groups;
  size_t next = 0;
  auto takeOnes = [&](ReassociationIndices &group, OpFoldResult until) {
    for (; next < many.size() && many[next] != until && isConstantIntValue(many[next], 1); ++next)
      group.push_back(next);
  };
  for (OpFoldResult size : few) {
    takeOnes(groups.emplace_back(), size);
    if (next == many.size() || many[next] != size)
      return std::nullopt;
    groups.back().push_back(next++);
  }
  if (!groups.empty())
    takeOnes(groups.back(), {});
  return next == many.size() ? std::optional(groups) : std::nullopt;
}

Dimensions dimensionsOf(rt::ReshapeOp reshape, tensor::EmptyOp source) {
  auto from = cast<RankedTensorType>(source.getType()), to = reshape.getType();
  if (from.getRank() == to.getRank())
    return {{}, "the reshape between them neither splits nor joins dimensions"};
  SmallVector<OpFoldResult> few = sizesOf(from, source.getDynamicSizes());
  SmallVector<OpFoldResult> many = sizesOf(to, reshape.getSizes());
  if (from.getRank() > to.getRank())
    std::swap(few, many);
  if (auto groups = withoutOnes(few, many))
    return {std::move(*groups), {}};
  auto groups = getReassociationIndicesForReshape(from, to);
  if (from.hasStaticShape() && !groups)
    return {{}, "the reshape between them neither splits nor joins dimensions"};
  constexpr StringLiteral openSizes =
      "the reshape between them splits or joins dimensions whose sizes are known only at run time";
  if (!groups)
    return {{}, openSizes};
  for (auto [whole, group] : llvm::zip(few, *groups)) {
    SmallVector<Value> dynamic;
    for (int64_t dim : group)
      if (auto value = dyn_cast<Value>(many[dim]))
        dynamic.push_back(value);
    auto value = dyn_cast<Value>(whole);
    if (!value ? !dynamic.empty() : dynamic.size() != 1 || dynamic.front() != value)
      return {{}, openSizes};
  }
  return {std::move(*groups), {}};
}

/// What the dimensions of two shapes are both made of, each dimension of the one and of the other
/// some of them: 8x784 and 32x196 are 8x4x196.
struct CommonSplit {
  SmallVector<OpFoldResult> sizes;
  SmallVector<ReassociationIndices> from, to;
};

/// Walks along two shapes of equally many elements. Sizes known only at run time are whole
/// dimensions of both.
class CommonSplitter {
public:
  CommonSplitter(MLIRContext *context, ArrayRef<OpFoldResult> from, ArrayRef<OpFoldResult> to)
      : b(context), sizes{from, to} {
    split.from.resize(from.size());
    split.to.resize(to.size());
  }

  std::optional<CommonSplit> run() {
    begin(0);
    begin(1);
    while (next[0] < sizes[0].size() || next[1] < sizes[1].size())
      if (!step())
        return std::nullopt;
    return std::move(split);
  }

private:
  void begin(unsigned side) {
    if (next[side] < sizes[side].size())
      left[side] = sizes[side][next[side]];
  }

  void finish(unsigned side) {
    ++next[side];
    begin(side);
  }

  /// A part of the dimensions where the two sides are, or of the last ones.
  void add(OpFoldResult size) {
    auto groupAt = [&](SmallVector<ReassociationIndices> &groups, size_t dim) {
      groups[std::min(dim, groups.size() - 1)].push_back(split.sizes.size());
    };
    groupAt(split.from, next[0]);
    groupAt(split.to, next[1]);
    split.sizes.push_back(size);
  }

  bool step() {
    for (unsigned side : {0u, 1u})
      if (next[side] < sizes[side].size() && isConstantIntValue(sizes[side][next[side]], 1)) {
        add(b.getIndexAttr(1));
        finish(side);
        return true;
      }
    if (next[0] == sizes[0].size() || next[1] == sizes[1].size())
      return false;
    if (left[0] == left[1]) {
      add(left[0]);
      finish(0);
      finish(1);
      return true;
    }
    auto one = getConstantIntValue(left[0]), other = getConstantIntValue(left[1]);
    if (!one || !other || *one == 0 || *other == 0)
      return false;
    unsigned small = *one < *other ? 0 : 1;
    int64_t size = std::min(*one, *other), whole = std::max(*one, *other);
    if (whole % size != 0)
      return false;
    add(b.getIndexAttr(size));
    left[1 - small] = b.getIndexAttr(whole / size);
    finish(small);
    return true;
  }

  Builder b;
  ArrayRef<OpFoldResult> sizes[2];
  size_t next[2] = {0, 0};
  OpFoldResult left[2]; // of the dimension where each side is
  CommonSplit split;
};

std::optional<CommonSplit> commonSplitOf(rt::ReshapeOp reshape, tensor::EmptyOp source,
                                         ValueRange sourceSizes, ValueRange resultSizes) {
  if (source.getType().getRank() == 0 || reshape.getType().getRank() == 0)
    return std::nullopt;
  SmallVector<OpFoldResult> from = sizesOf(source.getType(), sourceSizes);
  SmallVector<OpFoldResult> to = sizesOf(reshape.getType(), resultSizes);
  return CommonSplitter(reshape.getContext(), from, to).run();
}

/// Copies or moves bodies into the dispatch that takes their place.
class Merger {
public:
  Merger(kernel::DispatchOp merged, bool takes)
      : body(OpBuilder::atBlockEnd(merged.getBodyBlock())), merged(merged), takes(takes) {
    for (auto [outside, argument] : llvm::zip(merged.getInputs(), merged.getInputArgs()))
      inside[outside] = argument;
    for (auto [outside, argument] : llvm::zip(merged.getScalars(), merged.getScalarArgs()))
      inside[outside] = argument;
  }

  /// Copies or moves the body of `op`, whose inputs are arguments or, as in `inside`, values of the
  /// body; its destinations are those from position `next` on where `kept`, else tensor.empty.
  /// Returns what it yields.
  SmallVector<Value> add(kernel::DispatchOp op, const llvm::BitVector &kept, unsigned &next) {
    IRMapping mapping;
    for (auto [outside, argument] : llvm::zip(op.getInputs(), op.getInputArgs()))
      mapping.map(argument, inside.lookup(outside));
    for (auto [outside, argument] : llvm::zip(op.getScalars(), op.getScalarArgs()))
      mapping.map(argument, inside.lookup(outside));
    for (auto [i, outside, argument] : llvm::enumerate(op.getInits(), op.getInitArgs()))
      mapping.map(argument, kept[i] ? Value(merged.getInitArgs()[next++]) : empty(outside));
    Block *source = op.getBodyBlock(), *target = merged.getBodyBlock();
    if (takes) {
      for (BlockArgument argument : source->getArguments())
        argument.replaceAllUsesWith(mapping.lookup(argument));
      target->getOperations().splice(target->end(), source->getOperations(), source->begin(),
                                     std::prev(source->end()));
    } else {
      for (Operation &inner : source->without_terminator())
        body.clone(inner, mapping);
    }
    SmallVector<Value> yielded;
    for (Value value : source->getTerminator()->getOperands())
      yielded.push_back(mapping.lookupOrDefault(value)); // what was moved is itself
    return yielded;
  }

  void define(Value outside, Value value) { inside[outside] = value; }

  /// The value of the body that stands for this reshape of what is defined.
  void defineReshape(rt::ReshapeOp reshape) {
    auto result = cast<OpResult>(reshape.getSource());
    auto producer = cast<kernel::DispatchOp>(result.getOwner());
    auto empty = producer.getInits()[result.getResultNumber()].getDefiningOp<tensor::EmptyOp>();
    auto [groups, why] = dimensionsOf(reshape, empty);
    Value source = inside.lookup(result);
    if (!why.empty()) {
      inside[reshape] = splitAndJoin(reshape, empty, source);
      return;
    }
    if (cast<RankedTensorType>(source.getType()).getRank() > reshape.getType().getRank()) {
      inside[reshape] =
          body.create<tensor::CollapseShapeOp>(reshape.getLoc(), reshape.getType(), source, groups);
      return;
    }
    SmallVector<Value> sizes;
    for (Value size : reshape.getSizes())
      sizes.push_back(inside.lookup(size));
    inside[reshape] = body.create<tensor::ExpandShapeOp>(
        reshape.getLoc(), reshape.getType(), source, groups, sizesOf(reshape.getType(), sizes));
  }

  OpBuilder body;

private:
  /// By way of what the dimensions of both shapes are made of.
  Value splitAndJoin(rt::ReshapeOp reshape, tensor::EmptyOp empty, Value source) {
    auto within = [&](ValueRange outside) {
      return llvm::map_to_vector(outside, [&](Value size) { return inside.lookup(size); });
    };
    CommonSplit split =
        *commonSplitOf(reshape, empty, within(empty.getDynamicSizes()), within(reshape.getSizes()));
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    dispatchIndexOpFoldResults(split.sizes, dynamic, shape);
    auto type = RankedTensorType::get(shape, reshape.getType().getElementType());
    Value parts =
        body.create<tensor::ExpandShapeOp>(reshape.getLoc(), type, source, split.from, split.sizes);
    return body.create<tensor::CollapseShapeOp>(reshape.getLoc(), reshape.getType(), parts,
                                                split.to);
  }

  Value empty(Value outside) {
    auto empty = outside.getDefiningOp<tensor::EmptyOp>();
    SmallVector<Value> sizes;
    for (Value size : empty.getDynamicSizes())
      sizes.push_back(inside.lookup(size));
    return body.create<tensor::EmptyOp>(merged.getLoc(), empty.getType(), sizes);
  }

  kernel::DispatchOp merged;
  bool takes;
  DenseMap<Value, Value> inside;
};

} // namespace

StringRef whyUnmergeable(kernel::DispatchOp producer, kernel::DispatchOp consumer) {
  for (Value init : producer.getInits())
    if (!init.getDefiningOp<tensor::EmptyOp>())
      return "its result is written over a tensor that is there already";
  for (Value input : consumer.getInputs()) {
    OpResult result = resultBehind(input, producer);
    auto reshape = input.getDefiningOp<rt::ReshapeOp>();
    if (!result || !reshape)
      continue;
    auto init = producer.getInits()[result.getResultNumber()].getDefiningOp<tensor::EmptyOp>();
    StringRef why = dimensionsOf(reshape, init).why;
    if (!why.empty() && !commonSplitOf(reshape, init, init.getDynamicSizes(), reshape.getSizes()))
      return why;
  }
  return {};
}

kernel::DispatchOp mergeDispatches(OpBuilder &builder, kernel::DispatchOp producer,
                                   kernel::DispatchOp consumer, const llvm::BitVector &kept,
                                   bool takes) {
  llvm::SetVector<Value> inputs, scalars;
  SmallVector<Value> inits;
  SmallVector<rt::ReshapeOp> reshapes;
  for (kernel::DispatchOp op : {producer, consumer})
    scalars.insert(op.getScalars().begin(), op.getScalars().end());
  for (auto [i, init] : llvm::enumerate(producer.getInits())) {
    auto empty = init.getDefiningOp<tensor::EmptyOp>();
    if (kept[i])
      inits.push_back(init);
    else
      scalars.insert(empty.getDynamicSizes().begin(), empty.getDynamicSizes().end());
  }
  inputs.insert(producer.getInputs().begin(), producer.getInputs().end());
  for (Value input : consumer.getInputs()) {
    OpResult result = resultBehind(input, producer);
    if (!result) {
      inputs.insert(input);
    } else if (auto reshape = input.getDefiningOp<rt::ReshapeOp>()) {
      reshapes.push_back(reshape);
      scalars.insert(reshape.getSizes().begin(), reshape.getSizes().end());
      auto empty = producer.getInits()[result.getResultNumber()].getDefiningOp<tensor::EmptyOp>();
      if (!dimensionsOf(reshape, empty).why.empty())
        scalars.insert(empty.getDynamicSizes().begin(), empty.getDynamicSizes().end());
    }
  }
  llvm::append_range(inits, consumer.getInits());

  Location loc = builder.getFusedLoc({producer.getLoc(), consumer.getLoc()});
  auto merged =
      builder.create<kernel::DispatchOp>(loc, inputs.getArrayRef(), scalars.getArrayRef(), inits);
  Merger merger(merged, takes);
  unsigned next = 0;
  SmallVector<Value> results, first = merger.add(producer, kept, next);
  for (auto [i, value] : llvm::enumerate(first)) {
    merger.define(producer.getResult(i), value);
    if (kept[i])
      results.push_back(value);
  }
  for (rt::ReshapeOp reshape : reshapes)
    merger.defineReshape(reshape);
  llvm::append_range(results,
                     merger.add(consumer, llvm::BitVector(consumer.getNumResults(), true), next));
  merger.body.create<kernel::YieldOp>(loc, results);
  return merged;
}

kernel::DispatchOp mergeIndependent(OpBuilder &builder, kernel::DispatchOp first,
                                    kernel::DispatchOp second) {
  llvm::SetVector<Value> inputs, scalars;
  SmallVector<Value> inits;
  for (kernel::DispatchOp op : {first, second}) {
    inputs.insert(op.getInputs().begin(), op.getInputs().end());
    scalars.insert(op.getScalars().begin(), op.getScalars().end());
    llvm::append_range(inits, op.getInits());
  }
  Location loc = builder.getFusedLoc({first.getLoc(), second.getLoc()});
  auto merged =
      builder.create<kernel::DispatchOp>(loc, inputs.getArrayRef(), scalars.getArrayRef(), inits);
  Merger merger(merged, /*takes=*/true);
  unsigned next = 0;
  SmallVector<Value> results;
  for (kernel::DispatchOp op : {first, second})
    llvm::append_range(results, merger.add(op, llvm::BitVector(op.getNumResults(), true), next));
  merger.body.create<kernel::YieldOp>(loc, results);
  return merged;
}

} // namespace cameo
