// Builders of the generics that operators of several steps are made of.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"

#include <limits>

using namespace mlir;

namespace cameo {

Value combine(OpBuilder &b, Location loc, Combine kind, Type elementType, Value x, Value y) {
  bool real = isa<FloatType>(elementType), truth = elementType.isInteger(1);
  bool isUnsigned = Lowering::isUnsigned(elementType);
  switch (kind) {
  case Combine::Add:
    if (real)
      return b.create<arith::AddFOp>(loc, x, y);
    if (truth)
      return b.create<arith::OrIOp>(loc, x, y);
    return b.create<arith::AddIOp>(loc, x, y);
  case Combine::Mul:
    if (real)
      return b.create<arith::MulFOp>(loc, x, y);
    if (truth)
      return b.create<arith::AndIOp>(loc, x, y);
    return b.create<arith::MulIOp>(loc, x, y);
  case Combine::Max:
    if (real)
      return b.create<arith::MaximumFOp>(loc, x, y);
    if (truth)
      return b.create<arith::OrIOp>(loc, x, y);
    if (isUnsigned)
      return b.create<arith::MaxUIOp>(loc, x, y);
    return b.create<arith::MaxSIOp>(loc, x, y);
  case Combine::Min:
    if (real)
      return b.create<arith::MinimumFOp>(loc, x, y);
    if (truth)
      return b.create<arith::AndIOp>(loc, x, y);
    if (isUnsigned)
      return b.create<arith::MinUIOp>(loc, x, y);
    return b.create<arith::MinSIOp>(loc, x, y);
  }
  llvm_unreachable("every kind is above");
}

Value neutral(OpBuilder &b, Location loc, Combine kind, Type elementType) {
  Type type = signless(elementType);
  if (auto real = dyn_cast<FloatType>(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    double value = kind == Combine::Add   ? 0
                   : kind == Combine::Mul ? 1
                   : kind == Combine::Max ? -infinity
                                          : infinity;
    return b.create<arith::ConstantOp>(loc, b.getFloatAttr(real, value));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = Lowering::isUnsigned(elementType) || width == 1;
  APInt value(width, kind == Combine::Mul ? 1 : 0);
  if (kind == Combine::Max)
    value = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  if (kind == Combine::Min)
    value = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(type, value));
}

AffineMap selectDims(MLIRContext *context, int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : dims)
    exprs.push_back(getAffineDimExpr(dim, context));
  return AffineMap::get(rank, 0, exprs, context);
}

AffineMap identityMap(MLIRContext *context, int64_t rank) {
  return AffineMap::getMultiDimIdentityMap(rank, context);
}

Read broadcastRead(const Lowered &operand, const Sizes &loops) {
  int64_t rank = loops.size();
  MLIRContext *context = operand.tensor.getContext();
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    int64_t dim = rank - operand.rank() + i;
    bool repeats = isConstantIntValue(operand.sizes[i], 1) && !isConstantIntValue(loops[dim], 1);
    exprs.push_back(repeats ? getAffineConstantExpr(0, context) : getAffineDimExpr(dim, context));
  }
  return Read{operand.tensor, AffineMap::get(rank, 0, exprs, context)};
}

Sizes keptSizes(const Sizes &loops, ArrayRef<bool> reduced) {
  Sizes kept;
  for (auto [size, isReduced] : llvm::zip(loops, reduced))
    if (!isReduced)
      kept.push_back(size);
  return kept;
}

Value mapGeneric(Lowering &l, OpBuilder &b, Location loc, const Sizes &sizes, Type elementType,
                 ArrayRef<Read> reads, DispatchBuilder::ScalarFunction fn, Value init) {
  if (!init)
    init = emptyTensor(b, loc, sizes, elementType);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Read &read : reads) {
    inputs.push_back(read.tensor);
    maps.push_back(read.map);
  }
  maps.push_back(identityMap(b.getContext(), sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic = b.create<linalg::GenericOp>(
      loc, init.getType(), inputs, init, maps, iterators,
      [&](OpBuilder &nested, Location at, ValueRange arguments) {
        nested.create<linalg::YieldOp>(at, fn(nested, at, arguments.take_front(inputs.size())));
      });
  return generic.getResult(0);
}

Value readThrough(Lowering &l, Location loc, const Lowered &data, ArrayRef<AffineExpr> source,
                  const Sizes &sizes) {
  AffineMap map = AffineMap::get(sizes.size(), 0, source, loc.getContext());
  auto same = [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; };
  return l.build.dispatch(
      loc, OutputSpec{sizes, data.elementType}, [&](OpBuilder &b, Location at, ValueRange inits) {
        return SmallVector<Value>{mapGeneric(l, b, at, sizes, data.elementType,
                                             {Read{data.tensor, map}}, same, inits[0])};
      })[0];
}

Lowered transposed(Lowering &l, Location loc, const Lowered &data, ArrayRef<int64_t> permutation) {
  Sizes sizes;
  SmallVector<int64_t> moving; // those that are not 1
  for (int64_t from : permutation) {
    sizes.push_back(data.sizes[from]);
    if (!isConstantIntValue(data.sizes[from], 1))
      moving.push_back(from);
  }
  if (llvm::is_sorted(moving))
    return l.build.reshape(loc, data, sizes);
  SmallVector<AffineExpr> source(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    source[from] = getAffineDimExpr(to, loc.getContext());
  Value result = readThrough(l, loc, data, source, sizes);
  return {result, sizes, data.elementType};
}

namespace {
/// The operands that reductions have in common.
struct ReductionOperands {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<utils::IteratorType> iterators;
  AffineMap output;
};
} // namespace

static ReductionOperands reductionOperands(Lowering &l, OpBuilder &b, Location loc,
                                           const Sizes &loops, ArrayRef<bool> reduced,
                                           ArrayRef<Read> reads) {
  ReductionOperands operands;
  MLIRContext *context = b.getContext();
  int64_t rank = loops.size();
  SmallVector<bool> bounded(reduced.size());
  for (const Read &read : reads) {
    operands.inputs.push_back(read.tensor);
    operands.maps.push_back(read.map);
    for (AffineExpr expr : read.map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        bounded[dim.getPosition()] = true;
  }
  SmallVector<int64_t> kept, window;
  Sizes windowSizes;
  for (int64_t i = 0; i < rank; ++i) {
    operands.iterators.push_back(reduced[i] ? utils::IteratorType::reduction
                                            : utils::IteratorType::parallel);
    if (!reduced[i]) {
      kept.push_back(i);
    } else if (!bounded[i]) {
      window.push_back(i);
      windowSizes.push_back(loops[i]);
    }
  }
  // Loops that no operand has as a dimension take their sizes from a tensor without contents, as
  // linalg's pooling operations do.
  if (!window.empty()) {
    operands.inputs.push_back(emptyTensor(b, loc, windowSizes, b.getI8Type()));
    operands.maps.push_back(selectDims(context, rank, window));
  }
  operands.output = selectDims(context, rank, kept);
  return operands;
}

Value reduceGeneric(Lowering &l, OpBuilder &b, Location loc, const Sizes &loops,
                    ArrayRef<bool> reduced, Combine kind, Type accumulator, ArrayRef<Read> reads,
                    ReduceFunction fn, Value init) {
  Sizes kept = keptSizes(loops, reduced);
  if (!llvm::is_contained(reduced, true))
    return mapGeneric(
        l, b, loc, kept, accumulator, reads,
        [&](OpBuilder &nested, Location at, ValueRange scalars) {
          return fn(nested, at, neutral(nested, at, kind, accumulator), scalars);
        },
        init);
  if (!init)
    init = emptyTensor(b, loc, kept, accumulator);
  Value start = neutral(b, loc, kind, accumulator);
  Value filled = b.create<linalg::FillOp>(loc, start, init).getResult(0);
  ReductionOperands operands = reductionOperands(l, b, loc, loops, reduced, reads);
  operands.maps.push_back(operands.output);
  auto generic = b.create<linalg::GenericOp>(
      loc, filled.getType(), operands.inputs, filled, operands.maps, operands.iterators,
      [&](OpBuilder &nested, Location at, ValueRange arguments) {
        nested.create<linalg::YieldOp>(
            at, fn(nested, at, arguments.back(), arguments.take_front(reads.size())));
      });
  return generic.getResult(0);
}

std::pair<Value, Value> searchGeneric(Lowering &l, OpBuilder &b, Location loc, const Sizes &loops,
                                      ArrayRef<bool> reduced, Combine kind, Type elementType,
                                      int64_t firstPosition, ArrayRef<Read> reads,
                                      SearchFunction fn, Value bestInit, Value positionInit) {
  Sizes kept = keptSizes(loops, reduced);
  Type position = b.getI64Type();
  if (!bestInit)
    bestInit = emptyTensor(b, loc, kept, elementType);
  if (!positionInit)
    positionInit = emptyTensor(b, loc, kept, position);
  Value start = neutral(b, loc, kind, elementType);
  Value first = b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(firstPosition));
  SmallVector<Value> filled = {b.create<linalg::FillOp>(loc, start, bestInit).getResult(0),
                               b.create<linalg::FillOp>(loc, first, positionInit).getResult(0)};
  ReductionOperands operands = reductionOperands(l, b, loc, loops, reduced, reads);
  operands.maps.push_back(operands.output);
  operands.maps.push_back(operands.output);
  auto generic = b.create<linalg::GenericOp>(
      loc, ValueRange(filled).getTypes(), operands.inputs, filled, operands.maps,
      operands.iterators, [&](OpBuilder &nested, Location at, ValueRange arguments) {
        auto [best, where] = fn(nested, at, arguments[arguments.size() - 2], arguments.back(),
                                arguments.take_front(reads.size()));
        nested.create<linalg::YieldOp>(at, ValueRange{best, where});
      });
  return {generic.getResult(0), generic.getResult(1)};
}

Value isBetter(OpBuilder &b, Location loc, Value x, Value best, Type elementType, bool isMax,
               bool last) {
  if (isa<FloatType>(elementType)) {
    using Predicate = arith::CmpFPredicate;
    Predicate predicate =
        isMax ? (last ? Predicate::OGE : Predicate::OGT) : (last ? Predicate::OLE : Predicate::OLT);
    return b.create<arith::CmpFOp>(loc, predicate, x, best);
  }
  using Predicate = arith::CmpIPredicate;
  bool isUnsigned = Lowering::isUnsigned(elementType) || elementType.isInteger(1);
  Predicate predicate =
      isMax ? (last ? Predicate::sge : Predicate::sgt) : (last ? Predicate::sle : Predicate::slt);
  if (isUnsigned)
    predicate =
        isMax ? (last ? Predicate::uge : Predicate::ugt) : (last ? Predicate::ule : Predicate::ult);
  return b.create<arith::CmpIOp>(loc, predicate, x, best);
}

Value isInside(OpBuilder &b, Location loc, Value index, Value size) {
  // As unsigned numbers, negative indices are larger than any size.
  return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, size);
}

Value guarded(OpBuilder &b, Location loc, Value condition, Value otherwise, GuardedFunction fn) {
  auto branch = b.create<scf::IfOp>(
      loc, condition,
      [&](OpBuilder &then, Location at) { then.create<scf::YieldOp>(at, fn(then, at)); },
      [&](OpBuilder &other, Location at) { other.create<scf::YieldOp>(at, otherwise); });
  return branch.getResult(0);
}

Value guarded(OpBuilder &b, Location loc, Value condition, Type type, double otherwise,
              GuardedFunction fn) {
  return guarded(b, loc, condition, scalarConstant(b, loc, type, otherwise), fn);
}

Value fromIndex(OpBuilder &b, Location loc, Value index, Type type) {
  Value number = b.create<arith::IndexCastOp>(loc, b.getI64Type(), index);
  if (isa<FloatType>(type))
    return b.create<arith::SIToFPOp>(loc, type, number);
  if (type.getIntOrFloatBitWidth() < 64)
    return b.create<arith::TruncIOp>(loc, type, number);
  return number;
}

Value widen(OpBuilder &b, Location loc, Value scalar, Type from, Type to) {
  return from == to ? scalar : convertScalar(b, loc, scalar, from, to);
}

} // namespace cameo
