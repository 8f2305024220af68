// Reductions: Reduce*, ArgMax and ArgMin, CumSum and CumProd.
//
//   "onnx.ReduceMean"(%x, %axes)   ==>   kernel.dispatch { linalg.generic sum; linalg.generic / n }
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/Reductions.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/Scanning.h"

using namespace mlir;

namespace cameo {

//===-- Reduce* -------------------------------------------------------------------------------===//

namespace {
enum class Reduction { L1, L2, LogSum, LogSumExp, Max, Mean, Min, Prod, Sum, SumSquare };

/// The loops of a reduction over some dimensions of one tensor.
struct Loops {
  Lowered source; // what is read: the tensor, perhaps in another shape
  Sizes sizes;
  SmallVector<bool> reduced;
  AffineMap read;     // to the tensor's dimensions
  AffineMap kept;     // to the row's dimensions
  OpFoldResult count; // elements a row
};
} // namespace

static Combine combineOf(Reduction kind) {
  switch (kind) {
  case Reduction::Max:
    return Combine::Max;
  case Reduction::Min:
    return Combine::Min;
  case Reduction::Prod:
    return Combine::Mul;
  default:
    return Combine::Add;
  }
}

static Loops knownLoops(Lowering &l, const Lowered &x, ArrayRef<bool> reduced) {
  MLIRContext *context = x.tensor.getContext();
  Loops loops;
  loops.source = x;
  loops.sizes = x.sizes;
  loops.reduced.assign(reduced.begin(), reduced.end());
  loops.read = identityMap(context, x.rank());
  loops.count = l.plan.index(1);
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (reduced[i])
      loops.count = l.plan.mul(loops.count, x.sizes[i]);
    else
      kept.push_back(i);
  }
  loops.kept = selectDims(context, x.rank(), kept);
  return loops;
}

/// The same with neighbouring dimensions as one where they are reduced: fewer loops, and longer
/// lines of consecutive elements. Others stay apart, as those who read the result beside what is
/// reduced have them: what belongs to a row is told by its dimensions.
static Loops mergedLoops(Lowering &l, Location loc, const Lowered &x,
                         ArrayRef<OpFoldResult> reduced) {
  Sizes sizes;
  SmallVector<bool> merged;
  for (auto [size, among] : llvm::zip(x.sizes, reduced)) {
    bool isReduced = isConstantIntValue(among, 1);
    if (isReduced && !merged.empty() && merged.back()) {
      sizes.back() = l.plan.mul(sizes.back(), size);
      continue;
    }
    sizes.push_back(size);
    merged.push_back(isReduced);
  }
  return knownLoops(l, l.build.reshape(loc, x, sizes), merged);
}

/// Axes known only at run time: every dimension has an outer and a reduced loop, and one of them
/// has size 1.
static Loops openLoops(Lowering &l, const Lowered &x, ArrayRef<OpFoldResult> isReduced) {
  MLIRContext *context = x.tensor.getContext();
  int64_t rank = x.rank();
  Loops loops;
  loops.source = x;
  Sizes outer, inner;
  SmallVector<AffineExpr> read;
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < rank; ++i) {
    outer.push_back(l.plan.select(isReduced[i], l.plan.index(1), x.sizes[i]));
    inner.push_back(l.plan.select(isReduced[i], x.sizes[i], l.plan.index(1)));
    read.push_back(getAffineDimExpr(i, context) + getAffineDimExpr(rank + i, context));
    kept.push_back(i);
  }
  loops.sizes = outer;
  llvm::append_range(loops.sizes, inner);
  loops.reduced.assign(rank, false);
  loops.reduced.resize(2 * rank, true);
  loops.read = AffineMap::get(2 * rank, 0, read, context);
  loops.kept = selectDims(context, 2 * rank, kept);
  loops.count = l.plan.product(inner);
  return loops;
}

/// What a reduction computes in: wide enough for what is done to the sum.
static Type computeType(Reduction kind, Type type) {
  if (kind == Reduction::Max || kind == Reduction::Min)
    return type;
  if (isa<FloatType>(type))
    return accumulatorType(type);
  switch (kind) {
  case Reduction::Mean:
    return Lowering::isUnsigned(type)
               ? IntegerType::get(type.getContext(), 64, IntegerType::Unsigned)
               : IntegerType::get(type.getContext(), 64);
  case Reduction::L2:
  case Reduction::LogSum:
  case Reduction::LogSumExp:
    return Float64Type::get(type.getContext());
  default:
    return type;
  }
}

static Value absolute(OpBuilder &b, Location loc, Value x, Type type) {
  if (isa<FloatType>(type))
    return b.create<math::AbsFOp>(loc, x);
  if (Lowering::isUnsigned(type))
    return x;
  Value zero = scalarConstant(b, loc, signless(type), 0);
  return b.create<arith::MaxSIOp>(loc, x, b.create<arith::SubIOp>(loc, zero, x));
}

/// The next accumulator after element `x`, both of type `type`.
static Value accumulate(OpBuilder &b, Location loc, Reduction kind, Type type, Value accumulator,
                        Value x) {
  if (kind == Reduction::L1)
    x = absolute(b, loc, x, type);
  if (kind == Reduction::L2 || kind == Reduction::SumSquare) {
    if (isa<FloatType>(type))
      return b.create<math::FmaOp>(loc, x, x, accumulator);
    x = b.create<arith::MulIOp>(loc, x, x);
  }
  return combine(b, loc, combineOf(kind), type, accumulator, x);
}

/// The result of a row from what was accumulated.
static Value finish(OpBuilder &b, Location loc, Reduction kind, Type type, OpFoldResult count,
                    Value x) {
  switch (kind) {
  case Reduction::L2:
    return b.create<math::SqrtOp>(loc, x);
  case Reduction::LogSum:
    return b.create<math::LogOp>(loc, x);
  case Reduction::Mean: {
    Value number = bodyValue(b, loc, count);
    if (isa<FloatType>(type))
      return b.create<arith::DivFOp>(loc, x, fromIndex(b, loc, number, type));
    number = b.create<arith::MaxSIOp>(loc, number, indexConstant(b, loc, 1));
    number = fromIndex(b, loc, number, signless(type));
    if (Lowering::isUnsigned(type))
      return b.create<arith::DivUIOp>(loc, x, number);
    return b.create<arith::DivSIOp>(loc, x, number);
  }
  default:
    return x;
  }
}

/// `x` where it is finite, else 0: what exponents are taken relative to.
static Value finiteOrZero(OpBuilder &b, Location loc, Value x) {
  Value zero = scalarConstant(b, loc, x.getType(), 0);
  Value infinity = scalarConstant(b, loc, x.getType(), std::numeric_limits<double>::infinity());
  Value finite = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT,
                                         b.create<math::AbsFOp>(loc, x), infinity);
  return b.create<arith::SelectOp>(loc, finite, x, zero);
}

/// log(sum(exp(x - max))) + max
static Value logSumExp(Lowering &l, OpBuilder &b, Location loc, const Lowered &x,
                       const Loops &loops, Type compute, Value init) {
  Read element{x.tensor, loops.read};
  Sizes rows = keptSizes(loops.sizes, loops.reduced);
  Value largest =
      reduceGeneric(l, b, loc, loops.sizes, loops.reduced, Combine::Max, compute, element,
                    [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
                      Value wide = widen(nested, at, scalars[0], x.elementType, compute);
                      return combine(nested, at, Combine::Max, compute, accumulator, wide);
                    });
  Value sum =
      reduceGeneric(l, b, loc, loops.sizes, loops.reduced, Combine::Add, compute,
                    {element, Read{largest, loops.kept}},
                    [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
                      Value wide = widen(nested, at, scalars[0], x.elementType, compute);
                      Value shifted = nested.create<arith::SubFOp>(
                          at, wide, finiteOrZero(nested, at, scalars[1]));
                      return combine(nested, at, Combine::Add, compute, accumulator,
                                     nested.create<math::ExpOp>(at, shifted));
                    });
  AffineMap row = identityMap(b.getContext(), rows.size());
  return mapGeneric(
      l, b, loc, rows, x.elementType, {Read{sum, row}, Read{largest, row}},
      [&](OpBuilder &nested, Location at, ValueRange scalars) {
        Value result = nested.create<arith::AddFOp>(at, nested.create<math::LogOp>(at, scalars[0]),
                                                    finiteOrZero(nested, at, scalars[1]));
        return widen(nested, at, result, compute, x.elementType);
      },
      init);
}

template <Reduction kind> static LogicalResult lowerReduce(Operation *op, Lowering &l) {
  FailureOr<onnx::ReductionShape> shape = onnx::inferReduce(l.shapes, op);
  if (failed(shape))
    return failure();
  Lowered x = l.operand(op, 0);
  Loops loops = shape->known ? mergedLoops(l, op->getLoc(), x, shape->reduced)
                             : openLoops(l, x, shape->reduced);
  Type type = x.elementType, compute = computeType(kind, type);
  Sizes rows = keptSizes(loops.sizes, loops.reduced);
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{rows, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        if (kind == Reduction::LogSumExp)
          return SmallVector<Value>{logSumExp(l, b, loc, loops.source, loops, compute, inits[0])};
        bool plain = kind != Reduction::L2 && kind != Reduction::LogSum &&
                     kind != Reduction::Mean && compute == type;
        Value accumulated = reduceGeneric(
            l, b, loc, loops.sizes, loops.reduced, combineOf(kind), compute,
            Read{loops.source.tensor, loops.read},
            [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
              Value wide = widen(nested, at, scalars[0], type, compute);
              return accumulate(nested, at, kind, compute, accumulator, wide);
            },
            plain ? inits[0] : Value());
        if (plain)
          return SmallVector<Value>{accumulated};
        return SmallVector<Value>{mapGeneric(
            l, b, loc, rows, type, Read{accumulated, identityMap(b.getContext(), rows.size())},
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              Value done = finish(nested, at, kind, compute, loops.count, scalars[0]);
              return widen(nested, at, done, compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, l.build.reshape(op->getLoc(), Lowered{result, rows, type}, shape->result));
  return success();
}

//===-- ArgMax, ArgMin ------------------------------------------------------------------------===//

template <bool isMax> static LogicalResult lowerArg(Operation *op, Lowering &l) {
  FailureOr<Sizes> shape = l.infer(op);
  if (failed(shape))
    return failure();
  Lowered x = l.operand(op, 0);
  int64_t axis = *onnx::normalizedAxis(intAttribute(op, "axis", 0), x.rank());
  bool last = intAttribute(op, "select_last_index", 0) != 0;
  SmallVector<bool> reduced(x.rank(), false);
  reduced[axis] = true;
  Loops loops = knownLoops(l, x, reduced);
  Type type = x.elementType, i64 = l.builder().getI64Type();
  Sizes rows = keptSizes(x.sizes, reduced);
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{rows, i64}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto search = [&](OpBuilder &nested, Location at, Value best, Value position,
                          ValueRange scalars) -> std::pair<Value, Value> {
          Value better = isBetter(nested, at, scalars[0], best, type, isMax, last);
          Value here = fromIndex(nested, at, nested.create<linalg::IndexOp>(at, axis), i64);
          return {nested.create<arith::SelectOp>(at, better, scalars[0], best),
                  nested.create<arith::SelectOp>(at, better, here, position)};
        };
        Value position =
            searchGeneric(l, b, loc, x.sizes, reduced, isMax ? Combine::Max : Combine::Min, type, 0,
                          Read{x.tensor, loops.read}, search, {}, inits[0])
                .second;
        return SmallVector<Value>{position};
      })[0];
  l.define(op, 0, l.build.reshape(op->getLoc(), Lowered{result, rows, i64}, *shape));
  return success();
}

//===-- CumSum, CumProd -----------------------------------------------------------------------===//

/// A scan of [outer, length, inner] along few long lines, by many blocks.
static Value lowerLongScan(Operation *op, Lowering &l, kernel::CombineKind kind, const Lowered &x) {
  Type type = x.elementType, compute = accumulatorType(type);
  bool isReverse = intAttribute(op, "reverse", 0) != 0;
  bool isExclusive = intAttribute(op, "exclusive", 0) != 0;
  // The number of an element in the order of the scan.
  auto numberOf = [&](OpBuilder &b, Location loc, Value place) {
    IndexMath math(b, loc);
    return isReverse ? math.sub(math.sub(math.of(x.sizes[1]), b.getIndexAttr(1)), place) : place;
  };
  RunningTotals totals =
      runningTotals(l, op->getLoc(), kind, x.sizes, signless(compute),
                    [&](OpBuilder &b, Location loc, ValueRange at) {
                      Value place = numberOf(b, loc, at[1]);
                      Value element = IndexMath(b, loc).element(x, ValueRange{at[0], place, at[2]});
                      return widen(b, loc, element, type, compute);
                    });
  return l.build.compute(
      op->getLoc(), x.sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        IndexMath math(b, loc);
        Value number = numberOf(b, loc, at[1]);
        auto totalAt = [&](OpBuilder &b, Location loc, Value last) {
          return widen(b, loc, totals.at(b, loc, ValueRange{at[0], last, at[2]}), compute, type);
        };
        if (!isExclusive)
          return totalAt(b, loc, number);
        return math.choose(
            math.compare(arith::CmpIPredicate::eq, number, b.getIndexAttr(0)),
            [&](OpBuilder &b, Location loc) {
              return scalarConstant(b, loc, signless(type),
                                    kind == kernel::CombineKind::Mul ? 1 : 0);
            },
            [&](OpBuilder &b, Location loc) {
              return totalAt(b, loc, IndexMath(b, loc).sub(number, b.getIndexAttr(1)));
            });
      });
}

template <kernel::CombineKind kind> static LogicalResult lowerScan(Operation *op, Lowering &l) {
  FailureOr<onnx::ScanShape> shape = onnx::inferScan(l.shapes, op);
  if (failed(shape))
    return failure();
  Lowered x = l.operand(op, 0);
  // Any axis, also one of run time, is the middle one of three.
  OpFoldResult axis = shape->axis, one = l.plan.index(1);
  Sizes sizes(3, one);
  for (int64_t i = 0; i < x.rank(); ++i) {
    OpFoldResult at = l.plan.index(i);
    sizes[0] = l.plan.mul(sizes[0], l.plan.select(l.plan.less(at, axis), x.sizes[i], one));
    sizes[1] = l.plan.mul(sizes[1], l.plan.select(l.plan.equal(at, axis), x.sizes[i], one));
    sizes[2] = l.plan.mul(sizes[2], l.plan.select(l.plan.less(axis, at), x.sizes[i], one));
  }
  Lowered flat = l.build.reshape(op->getLoc(), x, sizes);
  Type type = x.elementType, compute = accumulatorType(type);
  std::optional<int64_t> lines = getConstantIntValue(l.plan.mul(sizes[0], sizes[2]));
  bool isLong = getConstantIntValue(sizes[1]).value_or(0) >= kLongScan && lines &&
                *lines <= kFewScans && compute.getIntOrFloatBitWidth() >= 32;
  if (isLong) {
    Value result = lowerLongScan(op, l, kind, flat);
    l.define(op, 0, l.build.reshape(op->getLoc(), Lowered{result, sizes, type}, x.sizes));
    return success();
  }
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{sizes, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        AffineMap identity = identityMap(b.getContext(), 3);
        auto convert = [&](Value source, Type from, Type to, Value init) {
          return mapGeneric(
              l, b, loc, sizes, to, Read{source, identity},
              [&](OpBuilder &nested, Location at, ValueRange scalars) {
                return widen(nested, at, scalars[0], from, to);
              },
              init);
        };
        bool wider = compute != type;
        Value source = wider ? convert(flat.tensor, type, compute, {}) : flat.tensor;
        Value init = wider ? emptyTensor(b, loc, sizes, compute) : inits[0];
        Value scanned = b.create<kernel::ScanOp>(loc, init.getType(), kind, source, init,
                                                 /*axis=*/1, intAttribute(op, "exclusive", 0) != 0,
                                                 intAttribute(op, "reverse", 0) != 0);
        return SmallVector<Value>{wider ? convert(scanned, compute, type, inits[0]) : scanned};
      })[0];
  l.define(op, 0, l.build.reshape(op->getLoc(), Lowered{result, sizes, type}, x.sizes));
  return success();
}

void registerReductionOperators(LoweringRows &rows) {
  rows.add<onnx::ReduceL1Op>({lowerReduce<Reduction::L1>});
  rows.add<onnx::ReduceL2Op>({lowerReduce<Reduction::L2>});
  rows.add<onnx::ReduceLogSumOp>({lowerReduce<Reduction::LogSum>});
  rows.add<onnx::ReduceLogSumExpOp>({lowerReduce<Reduction::LogSumExp>});
  rows.add<onnx::ReduceMaxOp>({lowerReduce<Reduction::Max>});
  rows.add<onnx::ReduceMeanOp>({lowerReduce<Reduction::Mean>});
  rows.add<onnx::ReduceMinOp>({lowerReduce<Reduction::Min>});
  rows.add<onnx::ReduceProdOp>({lowerReduce<Reduction::Prod>});
  rows.add<onnx::ReduceSumOp>({lowerReduce<Reduction::Sum>});
  rows.add<onnx::ReduceSumSquareOp>({lowerReduce<Reduction::SumSquare>});
  rows.add<onnx::ArgMaxOp>({lowerArg<true>});
  rows.add<onnx::ArgMinOp>({lowerArg<false>});
  rows.add<onnx::CumSumOp>({lowerScan<kernel::CombineKind::Add>});
  rows.add<onnx::CumProdOp>({lowerScan<kernel::CombineKind::Mul>});
  registerSoftmaxOperators(rows);
}

} // namespace cameo
