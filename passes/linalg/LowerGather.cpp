// Operators whose elements are found by other elements or by their own place: Gather,
// GatherElements, GatherND, ReverseSequence, OneHot, EyeLike, Trilu.
//
//   onnx.Gather  ==>  linalg.generic whose body reads the index, then the element
//
// Indices are moved into their range: no kernel reads outside of a tensor, whatever an input holds.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Axes.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"

using namespace mlir;

namespace cameo {

//===-- Gather --------------------------------------------------------------------------------===//

static LogicalResult lowerGather(Operation *op, Lowering &l) {
  FailureOr<Sizes> inferred = l.infer(op);
  if (failed(inferred))
    return failure();
  const Sizes &sizes = *inferred;
  Lowered data = l.operand(op, 0), indices = l.operand(op, 1);
  int64_t axis = *onnx::normalizedAxis(cast<onnx::GatherOp>(op).getAxis(), data.rank());
  OpFoldResult size = data.sizes[axis];
  // One constant index is not a load.
  std::optional<SmallVector<int64_t>> known = onnx::constantInts(op->getOperand(1), 1);
  if (known && known->size() != 1)
    known.reset();
  if (std::optional<int64_t> extent = getConstantIntValue(size); known && extent) {
    // A slice of a size that is known, which others can be read through.
    int64_t index = (*known)[0] < 0 ? (*known)[0] + *extent : (*known)[0];
    MLIRContext *context = op->getContext();
    SmallVector<AffineExpr> source;
    for (int64_t dim = 0; dim < data.rank(); ++dim)
      source.push_back(getAffineDimExpr(dim < axis ? dim : dim + indices.rank() - 1, context));
    source[axis] =
        getAffineConstantExpr(std::max<int64_t>(std::min(index, *extent - 1), 0), context);
    l.define(op, 0, readThrough(l, op->getLoc(), data, source, sizes), sizes, data.elementType);
    return success();
  }
  Value result = l.build.compute(
      op->getLoc(), sizes, data.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        SmallVector<Value> source(at.take_front(axis));
        Value index = known ? indexConstant(b, loc, (*known)[0])
                            : math.toIndex(math.element(indices, at.slice(axis, indices.rank())),
                                           indices.elementType);
        source.push_back(math.wrapNegative(index, size));
        llvm::append_range(source, at.drop_front(axis + indices.rank()));
        return math.element(data, source);
      });
  l.define(op, 0, result, sizes, data.elementType);
  return success();
}

static LogicalResult lowerGatherElements(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered data = l.operand(op, 0), indices = l.operand(op, 1);
  int64_t axis = *onnx::normalizedAxis(cast<onnx::GatherElementsOp>(op).getAxis(), data.rank());
  OpFoldResult size = data.sizes[axis];
  Value result = l.build.compute(op->getLoc(), indices.sizes, data.elementType,
                                 [&](OpBuilder &b, Location loc, ValueRange at) {
                                   IndexMath math(b, loc);
                                   SmallVector<Value> source(at);
                                   Value index =
                                       math.toIndex(math.element(indices, at), indices.elementType);
                                   source[axis] = math.wrapNegative(index, size);
                                   return math.element(data, source);
                                 });
  l.define(op, 0, result, indices.sizes, data.elementType);
  return success();
}

static LogicalResult lowerGatherND(Operation *op, Lowering &l) {
  FailureOr<Sizes> inferred = l.infer(op);
  if (failed(inferred))
    return failure();
  const Sizes &sizes = *inferred;
  Lowered data = l.operand(op, 0), indices = l.operand(op, 1);
  int64_t batches = cast<onnx::GatherNDOp>(op).getBatchDims();
  int64_t depth = *getConstantIntValue(indices.sizes.back());
  Value result = l.build.compute(
      op->getLoc(), sizes, data.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        SmallVector<Value> source(at.take_front(batches));
        for (int64_t i = 0; i < depth; ++i) {
          SmallVector<Value> place(at.take_front(indices.rank() - 1));
          place.push_back(indexConstant(b, loc, i));
          Value index = math.toIndex(math.element(indices, place), indices.elementType);
          source.push_back(math.wrapNegative(index, data.sizes[batches + i]));
        }
        llvm::append_range(source, at.drop_front(indices.rank() - 1));
        return math.element(data, source);
      });
  l.define(op, 0, result, sizes, data.elementType);
  return success();
}

//===-- ReverseSequence -----------------------------------------------------------------------===//

static LogicalResult lowerReverseSequence(Operation *op, Lowering &l) {
  FailureOr<Sizes> inferred = l.infer(op);
  if (failed(inferred))
    return failure();
  const Sizes &sizes = *inferred;
  Lowered data = l.operand(op, 0), lengths = l.operand(op, 1);
  auto reverse = cast<onnx::ReverseSequenceOp>(op);
  int64_t batchAxis = reverse.getBatchAxis(), timeAxis = reverse.getTimeAxis();
  Value result = l.build.compute(
      op->getLoc(), sizes, data.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        // Moved into range as a number of 64 bits: it might not fit an index.
        Type wide = b.getI64Type();
        Value length = math.element(lengths, at[batchAxis]);
        Value steps = b.create<arith::IndexCastOp>(loc, wide, math.of(sizes[timeAxis]));
        length = b.create<arith::MaxSIOp>(loc, length, scalarConstant(b, loc, wide, 0));
        length = b.create<arith::MinSIOp>(loc, length, steps);
        length = b.create<arith::IndexCastOp>(loc, b.getIndexType(), length);
        Value step = at[timeAxis];
        Value last = math.sub(length, b.getIndexAttr(1));
        SmallVector<Value> source(at);
        source[timeAxis] = math.select(math.compare(arith::CmpIPredicate::slt, step, length),
                                       math.sub(last, step), step);
        return math.element(data, source);
      });
  l.define(op, 0, result, sizes, data.elementType);
  return success();
}

//===-- OneHot, EyeLike, Trilu ----------------------------------------------------------------===//

static LogicalResult lowerOneHot(Operation *op, Lowering &l) {
  FailureOr<Sizes> inferred = l.infer(op);
  if (failed(inferred))
    return failure();
  const Sizes &sizes = *inferred;
  Lowered indices = l.operand(op, 0), values = l.operand(op, 2);
  int64_t axis = *onnx::normalizedAxis(cast<onnx::OneHotOp>(op).getAxis(), sizes.size());
  OpFoldResult depth = sizes[axis];
  Value result = l.build.compute(
      op->getLoc(), sizes, values.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        SmallVector<Value> place(at.take_front(axis));
        llvm::append_range(place, at.drop_front(axis + 1));
        // Negative indices count from depth; those outside give "off" everywhere.
        Value integer = convertScalar(b, loc, math.element(indices, place), indices.elementType,
                                      b.getI64Type());
        auto wideOf = [&](Value index) {
          return b.create<arith::IndexCastOp>(loc, b.getI64Type(), index);
        };
        Value zero = scalarConstant(b, loc, b.getI64Type(), 0);
        Value negative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, integer, zero);
        Value counted = b.create<arith::AddIOp>(loc, integer, wideOf(math.of(depth)));
        integer = math.select(negative, counted, integer);
        Value hot =
            b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, integer, wideOf(at[axis]));
        Value which = math.select(hot, indexConstant(b, loc, 1), indexConstant(b, loc, 0));
        return math.element(values, which);
      });
  l.define(op, 0, result, sizes, values.elementType);
  return success();
}

static LogicalResult lowerEyeLike(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered input = l.operand(op, 0);
  // Far beyond any size, k must still fit an index of 32 bits.
  constexpr int64_t kFar = int64_t(1) << 30;
  int64_t k = std::clamp<int64_t>(cast<onnx::EyeLikeOp>(op).getK(), -kFar, kFar);
  Type type = Lowering::elementType(op->getResult(0));
  Value result = l.build.compute(
      op->getLoc(), input.sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        Value diagonal =
            math.compare(arith::CmpIPredicate::eq, at[1], math.add(at[0], b.getIndexAttr(k)));
        Type plain = signless(type);
        return math.select(diagonal, scalarConstant(b, loc, plain, 1),
                           scalarConstant(b, loc, plain, 0));
      });
  l.define(op, 0, result, input.sizes, type);
  return success();
}

static LogicalResult lowerTrilu(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered input = l.operand(op, 0);
  int64_t rank = input.rank();
  bool upper = cast<onnx::TriluOp>(op).getUpper() != 0;
  std::optional<int64_t> known = 0;
  if (!l.absent(op, 1))
    known = onnx::constantInt(op->getOperand(1));
  Type type = input.elementType;
  Value result = l.build.compute(
      op->getLoc(), input.sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        // Beyond the sizes k changes nothing; there it might not fit an index.
        Type wide = b.getI64Type();
        auto wideOf = [&](Value index) { return b.create<arith::IndexCastOp>(loc, wide, index); };
        Value shift;
        if (known) {
          shift = b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(*known));
        } else {
          Lowered k = l.operand(op, 1);
          shift = convertScalar(b, loc, math.only(k), k.elementType, wide);
        }
        Value rows = math.sub(indexConstant(b, loc, 0), input.sizes[rank - 2]);
        shift = b.create<arith::MaxSIOp>(loc, shift, wideOf(rows));
        shift = b.create<arith::MinSIOp>(loc, shift, wideOf(math.of(input.sizes[rank - 1])));
        shift = b.create<arith::IndexCastOp>(loc, b.getIndexType(), shift);
        Value diagonal = math.add(at[rank - 2], shift);
        Value kept = math.compare(upper ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle,
                                  at[rank - 1], diagonal);
        return math.choose(
            kept,
            [&](OpBuilder &inner, Location place) {
              return IndexMath(inner, place).element(input, at);
            },
            [&](OpBuilder &inner, Location place) {
              return scalarConstant(inner, place, signless(type), 0);
            });
      });
  l.define(op, 0, result, input.sizes, type);
  return success();
}

void registerGatherOperators(LoweringRows &rows) {
  constexpr StringRef clamped = "indices read at run time are moved into range, not reported";
  rows.add<onnx::GatherOp>({lowerGather, clamped});
  rows.add<onnx::GatherElementsOp>({lowerGatherElements, clamped});
  rows.add<onnx::GatherNDOp>(
      {lowerGatherND, "last size of indices known at compile time; indices read at run time are "
                      "moved into range, not reported"});
  rows.add<onnx::ReverseSequenceOp>(
      {lowerReverseSequence, "lengths read at run time are moved into range, not reported"});
  rows.add<onnx::OneHotOp>({lowerOneHot, "depth known on the host"});
  rows.add<onnx::EyeLikeOp>({lowerEyeLike});
  rows.add<onnx::TriluOp>({lowerTrilu});
}

} // namespace cameo
