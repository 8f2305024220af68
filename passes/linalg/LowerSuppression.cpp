// Boxes that overlap no better one: NonMaxSuppression.
//
//   onnx.NonMaxSuppression  ==>  the boxes of each batch and class in the order of their scores
//                           ==>  kernel.choose: a box is chosen if it overlaps none that is
//                           ==>  running counts of those that are, the last one read back, and their numbers
//
// Boxes are computed in FP32, products rounded, as ONNX Runtime does.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Selections.h"
#include "passes/linalg/Counts.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/FloatMath.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/Sorting.h"

using namespace mlir;

namespace cameo {
namespace {

struct Box {
  Value left, top, right, bottom;
};

class Suppression {
public:
  Suppression(Operation *op, Lowering &l, OpFoldResult limit)
      : op(op), l(l), loc(op->getLoc()), boxes(l.operand(op, 0)), limit(limit),
        isCentered(cast<onnx::NonMaxSuppressionOp>(op).getCenterPointBox() != 0) {
    Lowered given = l.operand(op, 1);
    classes = given.sizes[1];
    count = given.sizes[2];
    lines = l.plan.mul(given.sizes[0], classes);
    scores = l.build.reshape(loc, given, {lines, count});
    order = inOrder();
  }

  /// The places of [lines, boxes in order] that are chosen.
  Lowered choose() {
    Sizes sizes{lines, count}, pairs{lines, count, count};
    Type bit = l.builder().getI1Type();
    auto indices = [](OpBuilder &b, Location loc, int64_t rank) {
      SmallVector<Value> at;
      for (int64_t dim = 0; dim < rank; ++dim)
        at.push_back(b.create<linalg::IndexOp>(loc, dim));
      return at;
    };
    Value chosen = l.build.dispatch(
        loc, OutputSpec{sizes, bit}, [&](OpBuilder &b, Location loc, ValueRange inits) {
          Value candidates =
              mapGeneric(l, b, loc, sizes, bit, {}, [&](OpBuilder &b, Location loc, ValueRange) {
                SmallVector<Value> at = indices(b, loc, 2);
                return isCandidate(b, loc, at[0], at[1]);
              });
          Value conflicts =
              mapGeneric(l, b, loc, pairs, bit, {}, [&](OpBuilder &b, Location loc, ValueRange) {
                SmallVector<Value> at = indices(b, loc, 3);
                return overlap(b, loc, boxAt(b, loc, at[0], at[1]), boxAt(b, loc, at[0], at[2]));
              });
          Value most = IndexMath(b, loc).of(limit);
          Value result = b.create<kernel::ChooseOp>(loc, inits[0].getType(), candidates, conflicts,
                                                    most, inits[0]);
          return SmallVector<Value>{result};
        })[0];
    return l.build.reshape(loc, {chosen, sizes, bit}, {l.plan.mul(lines, count)});
  }

  /// Batch, class and number of a box for each of the places.
  Value numbers(const Lowered &places, const Sizes &sizes) {
    Type i64 = l.builder().getI64Type();
    return l.build.compute(loc, sizes, i64, [&](OpBuilder &b, Location loc, ValueRange at) {
      IndexMath math(b, loc);
      Value place = indexAt(b, loc, places, at[0]);
      Value line = b.create<arith::DivUIOp>(loc, place, math.of(count));
      Value number = indexAt(
          b, loc, order,
          ValueRange{line, b.create<arith::RemUIOp>(loc, place, math.of(count)).getResult()});
      Value kind = b.create<arith::RemUIOp>(loc, line, math.of(classes));
      Value isBatch = math.compare(arith::CmpIPredicate::eq, at[1], b.getIndexAttr(0));
      Value isKind = math.compare(arith::CmpIPredicate::eq, at[1], b.getIndexAttr(1));
      Value found = math.select(isKind, kind, number);
      return fromIndex(b, loc, math.select(isBatch, batchOf(b, loc, line), found), i64);
    });
  }

private:
  Lowered inOrder() {
    LineOrder sorted =
        orderLines(l, loc, lines, count, count, /*hasWideKeys=*/false,
                   [&](OpBuilder &b, Location loc, Value line, Value place) {
                     Value score = IndexMath(b, loc).element(scores, ValueRange{line, place});
                     return sortKey(b, loc, score, scores.elementType, /*isDescending=*/true);
                   });
    Type type = l.builder().getI32Type();
    Sizes sizes{lines, count};
    Value found = l.build.compute(loc, sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) {
      return fromIndex(b, loc, sorted.at(b, loc, at[0], at[1]), type);
    });
    return {found, sizes, type};
  }

  Value batchOf(OpBuilder &b, Location loc, Value line) {
    return b.create<arith::DivUIOp>(loc, line, IndexMath(b, loc).of(classes));
  }

  Value isCandidate(OpBuilder &b, Location loc, Value line, Value place) {
    if (l.absent(op, 4))
      return scalarConstant(b, loc, b.getI1Type(), 1);
    IndexMath math(b, loc);
    Value box = indexAt(b, loc, order, ValueRange{line, place});
    Value score = math.element(scores, ValueRange{line, box});
    return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, score,
                                   math.only(l.operand(op, 4)));
  }

  Box boxAt(OpBuilder &b, Location loc, Value line, Value place) {
    IndexMath indices(b, loc);
    FloatMath math(b, loc, b.getF32Type());
    Value box = indexAt(b, loc, order, ValueRange{line, place}), batch = batchOf(b, loc, line);
    SmallVector<Value> numbers;
    for (int64_t i = 0; i < 4; ++i)
      numbers.push_back(indices.element(boxes, ValueRange{batch, box, indexConstant(b, loc, i)}));
    if (isCentered) {
      Value half = math.number(0.5);
      Value x = math.mul(numbers[2], half), y = math.mul(numbers[3], half);
      return {math.sub(numbers[0], x), math.sub(numbers[1], y), math.add(numbers[0], x),
              math.add(numbers[1], y)};
    }
    return {math.lesser(numbers[1], numbers[3]), math.lesser(numbers[0], numbers[2]),
            math.greater(numbers[1], numbers[3]), math.greater(numbers[0], numbers[2])};
  }

  /// True if the common area is more than a share of the area of both.
  Value overlap(OpBuilder &b, Location loc, const Box &x, const Box &y) {
    FloatMath math(b, loc, b.getF32Type());
    Value zero = math.number(0);
    auto area = [&](const Box &box) {
      return math.mul(math.sub(box.right, box.left), math.sub(box.bottom, box.top));
    };
    Value width = math.sub(math.lesser(x.right, y.right), math.greater(x.left, y.left));
    Value height = math.sub(math.lesser(x.bottom, y.bottom), math.greater(x.top, y.top));
    Value common = math.mul(width, height), ofX = area(x), ofY = area(y);
    Value both = math.sub(math.add(ofX, ofY), common);
    Value share = zero;
    if (!l.absent(op, 3))
      share = IndexMath(b, loc).only(l.operand(op, 3));
    Value result = math.compare(arith::CmpFPredicate::OGT, math.div(common, both), share);
    for (Value positive : {width, height, common, ofX, ofY, both})
      result = b.create<arith::AndIOp>(loc, result,
                                       math.compare(arith::CmpFPredicate::OGT, positive, zero));
    return result;
  }

  Operation *op;
  Lowering &l;
  Location loc;
  Lowered boxes, scores, order; // order: [lines, boxes], a box's number
  OpFoldResult limit, classes, count, lines;
  bool isCentered;
};

} // namespace

/// Nothing is chosen of nothing.
static LogicalResult lowerNothing(Operation *op, Lowering &l) {
  OpBuilder &b = l.builder();
  Value zero = l.plan.value(l.plan.index(0));
  l.plan.setCount(op, b.create<rt::FromScalarsOp>(
                          op->getLoc(), RankedTensorType::get({1}, b.getI64Type()), zero));
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Value numbers = l.build.fill(op->getLoc(), *sizes, b.getI64Type(), b.getI64IntegerAttr(0));
  l.define(op, 0, numbers, *sizes, b.getI64Type());
  return success();
}

static LogicalResult lowerNonMaxSuppression(Operation *op, Lowering &l) {
  FailureOr<OpFoldResult> given = onnx::suppressionLimit(l.shapes, op);
  if (failed(given))
    return failure();
  // Exporters write the largest number of 64 bits where there is no limit.
  OpFoldResult limit = l.plan.min(*given, l.operand(op, 1).sizes[2]);
  if (llvm::any_of(l.operand(op, 1).sizes,
                   [](OpFoldResult size) { return getConstantIntValue(size) == 0; }))
    return lowerNothing(op, l);
  Suppression suppression(op, l, limit);
  Lowered chosen = suppression.choose();
  Choice choice(l, op->getLoc(), chosen.sizes[0], [&](OpBuilder &b, Location loc, Value place) {
    return IndexMath(b, loc).element(chosen, place);
  });
  choice.count(op);
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Value numbers = suppression.numbers(choice.places((*sizes)[0]), *sizes);
  l.define(op, 0, numbers, *sizes, l.builder().getI64Type());
  return success();
}

void registerSuppression(LoweringRows &rows) {
  rows.add<onnx::NonMaxSuppressionOp>({lowerNonMaxSuppression, "scores and boxes that are NaN"});
}

} // namespace cameo
