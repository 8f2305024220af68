// Descriptions with a dimension more.
//
//   %y = linalg.generic {(d0) -> (d0 + 8), (d0) -> (d0)} ins(%x)     of member 0; + 16 of member 1
//     ==>
//   %y = linalg.generic {(d0, d1) -> (d1 + d0 * 8 + 8), (d0, d1) -> (d0, d1)} ins(%x)
//
// Inside of the body the members are dimension 0 of every tensor that differs between them. What
// is the same for all of them stays as it is.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/Batch.h"

#include "passes/fuse/Skeleton.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace cameo {

RankedTensorType withDimension(Type type, int64_t dim, int64_t count) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.insert(shape.begin() + dim, count);
  return RankedTensorType::get(shape, tensor.getElementType());
}

bool canBatch(kernel::DispatchOp op) {
  return llvm::all_of(op.getBodyBlock()->without_terminator(), [](Operation &inner) {
    if (auto pad = dyn_cast<tensor::PadOp>(inner))
      return bool(pad.getConstantPaddingValue());
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(inner))
      return !llvm::is_contained(slice.getStaticStrides(), ShapedType::kDynamic);
    if (auto dim = dyn_cast<tensor::DimOp>(inner))
      return dim.getConstantIndex().has_value();
    if (isa<linalg::GenericOp, linalg::FillOp, kernel::LineOpInterface, tensor::EmptyOp,
            tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(inner))
      return true;
    auto isTensor = llvm::IsaPred<TensorType>;
    return inner.getNumRegions() == 0 && llvm::none_of(inner.getOperandTypes(), isTensor) &&
           llvm::none_of(inner.getResultTypes(), isTensor);
  });
}

namespace {

class Lifter {
public:
  Lifter(kernel::DispatchOp first, kernel::DispatchOp merged, const Batch &batch)
      : first(first), merged(merged), batch(batch), loc(merged.getLoc()),
        b(OpBuilder::atBlockEnd(merged.getBodyBlock())) {}

  void run(const llvm::DenseMap<Value, unsigned> &places) {
    Block *body = merged.getBodyBlock();
    for (auto [operand, argument] : llvm::zip(batch.operands, first.getInputArgs()))
      enter(operand, body->getArgument(places.lookup(operand.tensor)), argument);
    for (auto [scalar, argument] : llvm::zip(merged.getScalarArgs(), first.getScalarArgs()))
      inside.map(argument, scalar);
    for (auto [result, argument] : llvm::enumerate(first.getInitArgs()))
      enterInit(argument, result);
    const int64_t *steps = batch.steps.data();
    for (Operation &op : first.getBodyBlock()->without_terminator()) {
      size_t count = numbersOf(&op).size();
      lift(&op, ArrayRef(steps, count));
      steps += count;
    }
    SmallVector<Value> results;
    for (auto [i, value] : llvm::enumerate(first.getBodyBlock()->getTerminator()->getOperands()))
      results.push_back(leave(inside.lookup(value), i));
    b.create<kernel::YieldOp>(loc, results);
  }

private:
  bool isBatched(Value value) const { return batched.contains(value); }
  bool isLifted(Value original) const { return isBatched(inside.lookupOrDefault(original)); }

  Value mark(Value value) {
    batched.insert(value);
    return value;
  }

  AffineExpr dimExpr(unsigned dim) const { return b.getAffineDimExpr(dim); }

  SmallVector<OpFoldResult> sizesOf(Value tensor) {
    SmallVector<OpFoldResult> sizes;
    auto type = cast<RankedTensorType>(tensor.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      sizes.push_back(type.isDynamicDim(dim)
                          ? OpFoldResult(b.create<tensor::DimOp>(loc, tensor, dim).getResult())
                          : OpFoldResult(b.getIndexAttr(type.getDimSize(dim))));
    return sizes;
  }

  /// A tensor with elements of `source` where `map` says, of these sizes; written to `init`, where
  /// there is one.
  Value copy(Value source, AffineMap map, ArrayRef<OpFoldResult> sizes, Value init = {}) {
    Type element = cast<RankedTensorType>(source.getType()).getElementType();
    if (!init)
      init = b.create<tensor::EmptyOp>(loc, sizes, element);
    SmallVector<utils::IteratorType> iterators(map.getNumDims(), utils::IteratorType::parallel);
    AffineMap maps[] = {map, b.getMultiDimIdentityMap(map.getNumDims())};
    return b
        .create<linalg::GenericOp>(loc, init.getType(), source, init, maps, iterators,
                                   [](OpBuilder &inner, Location at, ValueRange arguments) {
                                     inner.create<linalg::YieldOp>(at, arguments[0]);
                                   })
        .getResult(0);
  }

  Value slice(Value source, ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    return b.create<tensor::ExtractSliceOp>(loc, source, offsets, sizes, strides);
  }

  /// The first elements along a dimension, one for each member.
  Value firstMembers(Value source, int64_t dim) {
    SmallVector<OpFoldResult> sizes = sizesOf(source);
    if (isConstantIntValue(sizes[dim], batch.count))
      return source;
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
    sizes[dim] = b.getIndexAttr(batch.count);
    Value part = slice(source, offsets, sizes);
    return isBatched(source) ? mark(part) : part;
  }

  /// What member 0 has as `argument`.
  void enter(const BatchOperand &operand, Value stack, BlockArgument argument) {
    if (operand.isShared)
      return inside.map(argument, stack);
    int64_t all = cast<RankedTensorType>(stack.getType()).getDimSize(operand.dim);
    bool isPart = operand.first != 0 || operand.step != 1 || all != batch.count;
    SmallVector<OpFoldResult> sizes = sizesOf(stack);
    if (isPart && operand.step == 1) {
      SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
      offsets[operand.dim] = b.getIndexAttr(operand.first);
      sizes[operand.dim] = b.getIndexAttr(batch.count);
      stack = slice(stack, offsets, sizes);
      isPart = false;
    }
    if (isPart || operand.dim != 0) {
      SmallVector<AffineExpr> exprs;
      for (unsigned dim = 1; dim < sizes.size(); ++dim)
        exprs.push_back(dimExpr(dim));
      AffineExpr member = isPart ? dimExpr(0) * operand.step + operand.first : dimExpr(0);
      exprs.insert(exprs.begin() + operand.dim, member);
      sizes.erase(sizes.begin() + operand.dim);
      sizes.insert(sizes.begin(), b.getIndexAttr(batch.count));
      stack = copy(stack, AffineMap::get(sizes.size(), 0, exprs, b.getContext()), sizes);
    }
    inside.map(argument, mark(stack));
  }

  void enterInit(BlockArgument argument, unsigned result) {
    Value init = merged.getInitArgs()[result];
    int64_t dim = batch.resultDims[result];
    if (dim == 0)
      return inside.map(argument, mark(init));
    SmallVector<OpFoldResult> sizes = sizesOf(init);
    sizes.erase(sizes.begin() + dim);
    Type element = cast<RankedTensorType>(argument.getType()).getElementType();
    inside.map(argument, b.create<tensor::EmptyOp>(loc, sizes, element));
  }

  /// What the batch yields as a result.
  Value leave(Value value, unsigned result) {
    Value lifted = toBatched(value);
    int64_t dim = batch.resultDims[result];
    if (dim == 0)
      return lifted;
    unsigned rank = cast<RankedTensorType>(lifted.getType()).getRank();
    SmallVector<AffineExpr> exprs{dimExpr(dim)};
    for (int64_t i = 0; i < rank; ++i)
      if (i != dim)
        exprs.push_back(dimExpr(i));
    return copy(lifted, AffineMap::get(rank, 0, exprs, b.getContext()), {},
                merged.getInitArgs()[result]);
  }

  /// The tensor with the members as dimension 0, if it has them not yet.
  Value toBatched(Value value) {
    if (isBatched(value))
      return value;
    if (Value known = copies.lookup(value))
      return known;
    auto empty = value.getDefiningOp<tensor::EmptyOp>();
    SmallVector<OpFoldResult> sizes = empty ? empty.getMixedSizes() : sizesOf(value);
    sizes.insert(sizes.begin(), b.getIndexAttr(batch.count));
    Value result;
    if (empty) {
      result = b.create<tensor::EmptyOp>(loc, sizes, empty.getType().getElementType());
    } else if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
      Value outs = toBatched(fill.getOutputs()[0]);
      result = b.create<linalg::FillOp>(loc, fill.getInputs()[0], outs).getResult(0);
    } else {
      SmallVector<AffineExpr> exprs;
      for (unsigned dim = 1; dim < sizes.size(); ++dim)
        exprs.push_back(dimExpr(dim));
      result = copy(value, AffineMap::get(sizes.size(), 0, exprs, b.getContext()), sizes);
    }
    return copies[value] = mark(result);
  }

  void lift(Operation *op, ArrayRef<int64_t> steps) {
    bool differs = llvm::any_of(steps, [](int64_t step) { return step != 0; });
    auto reads = [&](Operation *nested) {
      return llvm::any_of(nested->getOperands(), [&](Value value) { return isLifted(value); });
    };
    if (!differs && !op->walk([&](Operation *nested) {
                         return reads(nested) ? WalkResult::interrupt() : WalkResult::advance();
                       }).wasInterrupted()) {
      b.clone(*op, inside);
      return;
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return liftGeneric(generic, steps);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return differs ? liftSlices(slice, steps) : liftSlice(slice);
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      int64_t place = *dim.getConstantIndex() + 1;
      return inside.map(
          dim.getResult(),
          b.create<tensor::DimOp>(loc, inside.lookup(dim.getSource()), place).getResult());
    }
    liftOther(op);
  }

  void liftGeneric(linalg::GenericOp generic, ArrayRef<int64_t> steps) {
    SmallVector<Value> inputs, inits;
    SmallVector<AffineMap> maps;
    unsigned loops = generic.getNumLoops() + 1;
    for (OpOperand &operand : generic->getOpOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(&operand);
      bool isInit = !generic.isDpsInput(&operand);
      Value value = inside.lookup(operand.get());
      if (isInit)
        value = toBatched(value);
      SmallVector<AffineExpr> exprs;
      if (isBatched(value))
        exprs.push_back(dimExpr(0));
      for (AffineExpr expr : map.getResults()) {
        exprs.push_back(expr.shiftDims(loops - 1, 1) +
                        dimExpr(0) * CAMEO_MUTANT(5, steps.front(), 0));
        // A dimension by itself runs over all of the tensor, of which there may be more than members.
        if (steps.front() != 0 && isa<AffineDimExpr>(exprs.back()))
          value = firstMembers(value, exprs.size() - 1);
        steps = steps.drop_front();
      }
      maps.push_back(AffineMap::get(loops, 0, exprs, b.getContext()));
      (isInit ? inits : inputs).push_back(value);
    }
    SmallVector<utils::IteratorType> iterators = generic.getIteratorTypesArray();
    iterators.insert(iterators.begin(), utils::IteratorType::parallel);
    auto lifted = b.create<linalg::GenericOp>(loc, ValueRange(inits).getTypes(), inputs, inits,
                                              maps, iterators);
    lifted->setLoc(generic.getLoc());
    lifted->setDiscardableAttrs(generic->getDiscardableAttrDictionary());
    generic.getRegion().cloneInto(&lifted.getRegion(), inside);
    lifted.getRegion().walk([&](Operation *nested) { liftInside(nested, lifted); });
    define(generic, lifted);
  }

  /// An operation in the body of a linalg operation: indices are one further.
  void liftInside(Operation *nested, linalg::GenericOp around) {
    if (auto index = dyn_cast<linalg::IndexOp>(nested))
      index.setDim(index.getDim() + 1);
    OpBuilder inner(nested);
    if (auto extract = dyn_cast<tensor::ExtractOp>(nested);
        extract && isBatched(extract.getTensor())) {
      inner.setInsertionPointToStart(around.getBody());
      Value member = inner.create<linalg::IndexOp>(loc, 0);
      // Made after the walk has passed the beginning of the body.
      extract->insertOperands(1, member);
    }
    if (auto dim = dyn_cast<tensor::DimOp>(nested); dim && isBatched(dim.getSource()))
      dim.getIndexMutable().assign(
          inner.create<arith::ConstantIndexOp>(loc, *dim.getConstantIndex() + 1));
  }

  void liftSlice(tensor::ExtractSliceOp op) {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    mixed(op, offsets, sizes, strides);
    offsets.insert(offsets.begin(), b.getIndexAttr(0));
    sizes.insert(sizes.begin(), b.getIndexAttr(batch.count));
    strides.insert(strides.begin(), b.getIndexAttr(1));
    auto lifted =
        b.create<tensor::ExtractSliceOp>(op.getLoc(), withDimension(op.getType(), 0, batch.count),
                                         inside.lookup(op.getSource()), offsets, sizes, strides);
    inside.map(op.getResult(), mark(lifted));
  }

  void mixed(tensor::ExtractSliceOp op, SmallVector<OpFoldResult> &offsets,
             SmallVector<OpFoldResult> &sizes, SmallVector<OpFoldResult> &strides) {
    auto mapped = [&](ArrayRef<OpFoldResult> from, SmallVector<OpFoldResult> &to) {
      for (OpFoldResult one : from) {
        auto value = dyn_cast<Value>(one);
        to.push_back(value ? OpFoldResult(inside.lookup(value)) : one);
      }
    };
    mapped(op.getMixedOffsets(), offsets);
    mapped(op.getMixedSizes(), sizes);
    mapped(op.getMixedStrides(), strides);
  }

  /// Of slices at unlike places: along dimensions where the members begin at the same place as it
  /// was, along the others by a map.
  void liftSlices(tensor::ExtractSliceOp op, ArrayRef<int64_t> steps) {
    Value source = inside.lookup(op.getSource());
    SmallVector<OpFoldResult> whole = sizesOf(source), offsets, sizes, strides;
    unsigned outer = isBatched(source);
    bool isPart = false;
    mixed(op, offsets, sizes, strides);
    llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<AffineExpr> exprs;
    SmallVector<OpFoldResult> first, extents, resultSizes{b.getIndexAttr(batch.count)};
    SmallVector<OpFoldResult> ones(whole.size(), b.getIndexAttr(1));
    if (outer) {
      exprs.push_back(dimExpr(0));
      first.push_back(b.getIndexAttr(0));
      extents.push_back(whole[0]);
    }
    for (auto [dim, step] : llvm::enumerate(steps)) {
      AffineExpr index = b.getAffineConstantExpr(0);
      if (!dropped.test(dim)) {
        index = dimExpr(resultSizes.size());
        resultSizes.push_back(sizes[dim]);
      }
      int64_t stride = *getConstantIntValue(strides[dim]);
      isPart |= step == 0 && (!isConstantIntValue(offsets[dim], 0) || stride != 1 ||
                              sizes[dim] != whole[dim + outer]);
      first.push_back(step == 0 ? offsets[dim] : b.getIndexAttr(0));
      extents.push_back(step == 0 ? sizes[dim] : whole[dim + outer]);
      ones[dim + outer] = step == 0 ? strides[dim] : b.getIndexAttr(1);
      exprs.push_back(step == 0 ? index
                                : index * stride + op.getStaticOffsets()[dim] + dimExpr(0) * step);
    }
    if (isPart)
      source = b.create<tensor::ExtractSliceOp>(loc, source, first, extents, ones);
    AffineMap map = AffineMap::get(resultSizes.size(), 0, exprs, b.getContext());
    inside.map(op.getResult(), mark(copy(source, map, resultSizes)));
  }

  /// Operations that only need a dimension more.
  void liftOther(Operation *op) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value value = inside.lookup(operand);
      operands.push_back(isa<TensorType>(value.getType()) ? toBatched(value) : value);
    }
    Operation *lifted = b.clone(*op, inside);
    lifted->setOperands(operands);
    for (Value result : lifted->getResults())
      result.setType(withDimension(result.getType(), 0, batch.count));
    if (auto line = dyn_cast<kernel::LineOpInterface>(lifted))
      line.setLineAxis(line.lineAxis() + 1);
    if (auto pad = dyn_cast<tensor::PadOp>(lifted)) {
      SmallVector<int64_t> low(pad.getStaticLow()), high(pad.getStaticHigh());
      low.insert(low.begin(), 0), high.insert(high.begin(), 0);
      pad.setStaticLow(low), pad.setStaticHigh(high);
      pad.getRegion().front().insertArgument(0u, b.getIndexType(), loc);
    }
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(lifted))
      liftGroups(lifted);
    define(op, lifted);
  }

  void liftGroups(Operation *reshape) {
    auto further = [&](ArrayRef<ReassociationIndices> groups, int64_t dims) {
      SmallVector<ReassociationIndices> result{{0}};
      // A single value has no groups: the dimensions that it is apart go with the members.
      for (int64_t dim = 0; groups.empty() && dim < dims; ++dim)
        result.front().push_back(dim + 1);
      for (ReassociationIndices group : groups) {
        for (int64_t &dim : group)
          ++dim;
        result.push_back(group);
      }
      return getReassociationIndicesAttribute(b, result);
    };
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape)) {
      collapse.setReassociationAttr(
          further(collapse.getReassociationIndices(), collapse.getSrcType().getRank() - 1));
      return;
    }
    auto expand = cast<tensor::ExpandShapeOp>(reshape);
    expand.setReassociationAttr(
        further(expand.getReassociationIndices(), expand.getResultType().getRank() - 1));
    SmallVector<int64_t> shape(expand.getStaticOutputShape());
    shape.insert(shape.begin(), batch.count);
    expand.setStaticOutputShape(shape);
  }

  void define(Operation *op, Operation *lifted) {
    for (auto [old, result] : llvm::zip(op->getResults(), lifted->getResults()))
      inside.map(old, mark(result));
  }

  kernel::DispatchOp first, merged;
  const Batch &batch;
  Location loc;
  mutable OpBuilder b;
  IRMapping inside;                    // from member 0's body to the batch's
  llvm::DenseSet<Value> batched;       // of the batch's body: the members are dimension 0
  llvm::DenseMap<Value, Value> copies; // see toBatched
};

} // namespace

kernel::DispatchOp buildBatch(OpBuilder &builder, Location loc, kernel::DispatchOp first,
                              const Batch &batch) {
  llvm::DenseMap<Value, unsigned> places;
  SmallVector<Value> inputs, inits;
  for (const BatchOperand &operand : batch.operands)
    if (places.try_emplace(operand.tensor, inputs.size()).second)
      inputs.push_back(operand.tensor);
  for (auto [init, dim] : llvm::zip(first.getInits(), batch.resultDims)) {
    auto empty = init.getDefiningOp<tensor::EmptyOp>();
    inits.push_back(builder.create<tensor::EmptyOp>(
        loc, withDimension(empty.getType(), dim, batch.count), empty.getDynamicSizes()));
  }
  auto merged = builder.create<kernel::DispatchOp>(loc, inputs, first.getScalars(), inits);
  Lifter(first, merged, batch).run(places);
  return merged;
}

} // namespace cameo
