// Dispatches that copy tensors: one by one, or several by a search for the one that an index is in.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/CopyDispatch.h"

#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace cameo {

OpFoldResult planSize(OpBuilder &b, Location loc, Value tensor, int64_t dim) {
  rt::Extent size = rt::sizeOf(tensor, dim);
  return size.known() ? OpFoldResult(b.getIndexAttr(*size.known())) : size.value(b, loc);
}

OpFoldResult planSum(OpBuilder &b, Location loc, OpFoldResult a, OpFoldResult c) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(c);
  if (x && y)
    return b.getIndexAttr(*x + *y);
  if (x == 0 || y == 0)
    return x == 0 ? c : a;
  return b.createOrFold<arith::AddIOp>(loc, getValueOrCreateConstantIndexOp(b, loc, a),
                                       getValueOrCreateConstantIndexOp(b, loc, c));
}

namespace {

/// The body of a copy of several: finds the part that an index is in.
struct Search {
  SmallVector<Value> parts;         // null where there is an element
  ArrayRef<TypedAttr> elements;     // of those with equal ones
  SmallVector<OpFoldResult> starts; // in the body
  int64_t dim;

  /// The element at `indices`, which are in one of `count` parts from `first` on: logarithmic in
  /// the number of parts.
  Value find(OpBuilder &b, Location loc, ArrayRef<Value> indices, size_t first, size_t count) {
    auto start = [&](size_t i) { return getValueOrCreateConstantIndexOp(b, loc, starts[i]); };
    if (count == 1 && elements[first])
      return b.create<arith::ConstantOp>(loc, elements[first]);
    if (count == 1) {
      SmallVector<Value> source(indices);
      if (!isConstantIntValue(starts[first], 0))
        source[dim] = b.create<arith::SubIOp>(loc, source[dim], start(first));
      return b.create<tensor::ExtractOp>(loc, parts[first], source);
    }
    size_t low = count / 2;
    Value isLow =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, indices[dim], start(first + low));
    auto branch = b.create<scf::IfOp>(
        loc, isLow,
        [&](OpBuilder &inner, Location at) {
          inner.create<scf::YieldOp>(at, find(inner, at, indices, first, low));
        },
        [&](OpBuilder &inner, Location at) {
          inner.create<scf::YieldOp>(at, find(inner, at, indices, first + low, count - low));
        });
    return branch.getResult(0);
  }
};

} // namespace

Value copyParts(OpBuilder &b, Location loc, ValueRange parts, ArrayRef<TypedAttr> elements,
                int64_t dim, Value destination) {
  llvm::SetVector<Value> inputs;
  for (auto [part, element] : llvm::zip_equal(parts, elements))
    if (!element)
      inputs.insert(part);
  SmallVector<OpFoldResult> starts{b.getIndexAttr(0)};
  for (Value part : parts.drop_back())
    starts.push_back(planSum(b, loc, starts.back(), planSize(b, loc, part, dim)));
  llvm::SetVector<Value> scalars;
  for (OpFoldResult start : starts)
    if (auto value = dyn_cast<Value>(start))
      scalars.insert(value);
  auto op =
      b.create<kernel::DispatchOp>(loc, inputs.getArrayRef(), scalars.getArrayRef(), destination);
  OpBuilder body = OpBuilder::atBlockBegin(op.getBodyBlock());
  auto inside = [&](Value value) {
    return op.getBodyBlock()->getArgument(llvm::find(op->getOperands(), value).getIndex());
  };
  Search search{{}, elements, {}, dim};
  for (auto [part, element, start] : llvm::zip(parts, elements, starts)) {
    search.parts.push_back(element ? Value() : inside(part));
    auto value = dyn_cast<Value>(start);
    search.starts.push_back(value ? OpFoldResult(inside(value)) : start);
  }
  Value target = op.getInitArgs()[0];
  int64_t rank = cast<RankedTensorType>(target.getType()).getRank();
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  bool isOne = parts.size() == 1 && !elements.front();
  auto generic = body.create<linalg::GenericOp>(
      loc, target.getType(), isOne ? ValueRange(search.parts) : ValueRange(), target,
      SmallVector<AffineMap>(isOne ? 2 : 1, identity), iterators,
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        Value element = arguments[0];
        if (!isOne) {
          SmallVector<Value> indices;
          for (int64_t i = 0; i < rank; ++i)
            indices.push_back(inner.create<linalg::IndexOp>(at, i));
          element = search.find(inner, at, indices, 0, search.parts.size());
        }
        inner.create<linalg::YieldOp>(at, element);
      });
  body.create<kernel::YieldOp>(loc, generic.getResults());
  return op.getResult(0);
}

bool canSelectParts(rt::ConcatOp concat) {
  constexpr size_t kMostSelected = 4; // each element asks for all of them
  auto whole = cast<RankedTensorType>(concat.getType());
  int64_t dim = concat.getDim();
  return concat.getParts().size() <= kMostSelected && dim + 1 < whole.getRank() &&
         !whole.isDynamicDim(dim) && llvm::all_of(concat.getParts(), [&](Value part) {
           auto type = cast<RankedTensorType>(part.getType());
           SmallVector<int64_t> shape(type.getShape());
           bool isKnown = !ShapedType::isDynamic(shape[dim]);
           shape[dim] = whole.getDimSize(dim);
           return isKnown && ArrayRef(shape) == whole.getShape();
         });
}

kernel::DispatchOp selectParts(OpBuilder &b, rt::ConcatOp concat) {
  Location loc = concat.getLoc();
  auto whole = cast<RankedTensorType>(concat.getType());
  int64_t dim = concat.getDim(), rank = whole.getRank(), start = 0;
  llvm::SetVector<Value> inputs(concat.getParts().begin(), concat.getParts().end());
  Value memory = b.create<tensor::EmptyOp>(loc, whole, concat.getSizes());
  auto op = b.create<kernel::DispatchOp>(loc, inputs.getArrayRef(), ValueRange(), memory);
  OpBuilder body = OpBuilder::atBlockBegin(op.getBodyBlock());
  Value zero = body.create<arith::ConstantOp>(loc, body.getZeroAttr(whole.getElementType()));
  SmallVector<Value> padded;
  SmallVector<int64_t> starts;
  for (Value part : concat.getParts()) {
    Value inside = op.getInputArgs()[llvm::find(inputs, part) - inputs.begin()];
    int64_t size = cast<RankedTensorType>(part.getType()).getDimSize(dim);
    SmallVector<OpFoldResult> low(rank, b.getIndexAttr(0)), high = low;
    low[dim] = b.getIndexAttr(start);
    high[dim] = b.getIndexAttr(whole.getDimSize(dim) - start - size);
    padded.push_back(body.create<tensor::PadOp>(loc, whole, inside, low, high, zero));
    starts.push_back(start);
    start += size;
  }
  auto generic = body.create<linalg::GenericOp>(
      loc, whole, padded, op.getInitArgs()[0],
      SmallVector<AffineMap>(padded.size() + 1, b.getMultiDimIdentityMap(rank)),
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        Value index = inner.create<linalg::IndexOp>(at, dim), element = arguments.front();
        for (auto [argument, start] :
             llvm::drop_begin(llvm::zip(arguments.take_front(padded.size()), starts))) {
          Value first = inner.create<arith::ConstantIndexOp>(at, start);
          Value isBehind = inner.create<arith::CmpIOp>(at, arith::CmpIPredicate::sge, index, first);
          element = inner.create<arith::SelectOp>(at, isBehind, argument, element);
        }
        inner.create<linalg::YieldOp>(at, element);
      });
  body.create<kernel::YieldOp>(loc, generic.getResults());
  return op;
}

} // namespace cameo
