// MatMul and Gemm: contractions as one linalg.generic with multiply-accumulate, then the operator's
// own scalar work.
//
//   onnx.MatMul  ==>  linalg.generic
//     [b..., m, n, k] -> A[b..., m, k], B[b..., k, n], C[b..., m, n]
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Contractions.h"
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Families.h"

using namespace mlir;

namespace cameo {

//===-- MatMul --------------------------------------------------------------------------------===//

ProductLoops productLoops(MLIRContext *context, const Lowered &a, const Lowered &c,
                          const Sizes &result) {
  bool hasM = a.rank() > 1, hasN = c.rank() > 1;
  unsigned k = result.size(), batches = k - hasM - hasN;
  SmallVector<AffineExpr> left, right, out;
  // The operand's batch, aligned at its end; a size of 1 is broadcast.
  auto readBatch = [&](const Lowered &operand, SmallVector<AffineExpr> &exprs) {
    int64_t own = std::max<int64_t>(operand.rank() - 2, 0), shift = batches - own;
    for (int64_t i = 0; i < own; ++i) {
      OpFoldResult size = operand.sizes[i];
      bool isRepeated = isConstantIntValue(size, 1) && size != result[i + shift];
      exprs.push_back(isRepeated ? getAffineConstantExpr(0, context)
                                 : getAffineDimExpr(i + shift, context));
    }
  };
  readBatch(a, left);
  readBatch(c, right);
  if (hasM)
    left.push_back(getAffineDimExpr(batches, context));
  left.push_back(getAffineDimExpr(k, context));
  right.push_back(getAffineDimExpr(k, context));
  if (hasN)
    right.push_back(getAffineDimExpr(batches + hasM, context));
  for (unsigned i = 0; i < k; ++i)
    out.push_back(getAffineDimExpr(i, context));
  SmallVector<utils::IteratorType> iterators(k, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(k + 1, 0, exprs, context); };
  return {map(left), map(right), map(out), iterators};
}

namespace {
/// Operands under sizes that are 1 or those of the loops for certain.
struct BatchedOperands {
  Lowered left, right;
  Sizes loops;
};
} // namespace

/// An operand's size of batch dimension `i` of so many.
static OpFoldResult batchSize(Lowering &l, const Lowered &operand, int64_t i, int64_t batches) {
  int64_t own = std::max<int64_t>(operand.rank() - 2, 0), at = i - (batches - own);
  return at < 0 ? l.plan.index(1) : operand.sizes[at];
}

/// Where only a run knows whether a batch size is broadcast, the dimension becomes three: what both
/// operands have, what the left one has alone, and the right one. So nothing is copied, whether the
/// two are equal or one of them is 1.
static BatchedOperands splitOpenBatches(Lowering &l, Location loc, const Lowered &a,
                                        const Lowered &c, const Sizes &result) {
  int64_t batches = static_cast<int64_t>(result.size()) - (a.rank() > 1) - (c.rank() > 1);
  BatchedOperands split{a, c, {}};
  Sizes left, right;
  bool isSplit = false;
  for (int64_t i = 0; i < batches; ++i) {
    OpFoldResult x = batchSize(l, a, i, batches), y = batchSize(l, c, i, batches);
    if (!isOpenBroadcast(l, x, result[i]) && !isOpenBroadcast(l, y, result[i])) {
      left.push_back(x);
      right.push_back(y);
      split.loops.push_back(result[i]);
      continue;
    }
    isSplit = true;
    OpFoldResult one = l.plan.index(1), isShared = l.plan.equal(x, y);
    OpFoldResult shared = l.plan.select(isShared, x, one);
    OpFoldResult ofLeft = l.plan.select(isShared, one, x),
                 ofRight = l.plan.select(isShared, one, y);
    left.append({shared, ofLeft, one});
    right.append({shared, one, ofRight});
    split.loops.append({shared, ofLeft, ofRight});
  }
  if (!isSplit)
    return {a, c, result};
  // An operand of fewer than two dimensions has no batch.
  auto view = [&](const Lowered &operand, Sizes sizes) {
    if (operand.rank() < 2)
      return operand;
    llvm::append_range(sizes, ArrayRef(operand.sizes).take_back(2));
    return l.build.reshape(loc, operand, sizes);
  };
  split.left = view(a, left);
  split.right = view(c, right);
  llvm::append_range(split.loops, ArrayRef(result).drop_front(batches));
  return split;
}

static LogicalResult lowerMatMul(Operation *op, Lowering &l) {
  Lowered a = l.operand(op, 0), c = l.operand(op, 1);
  FailureOr<Sizes> sizes = onnx::inferMatMul(l.plan, op, {a.sizes, c.sizes});
  if (failed(sizes))
    return failure();
  BatchedOperands x = splitOpenBatches(l, op->getLoc(), a, c, *sizes);
  ProductLoops loops = productLoops(op->getContext(), x.left, x.right, x.loops);
  Type type = Lowering::elementType(op->getResult(0));
  Value product = l.build.dispatch(
      op->getLoc(), OutputSpec{x.loops, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value sum = contract(b, at, x.left.tensor, loops.left, x.right.tensor, loops.right, x.loops,
                             loops.out, a.elementType, loops.iterators, l);
        return SmallVector<Value>{epilogue(b, at, sum, inits[0], {}, {}, type, nullptr)};
      })[0];
  l.define(op, 0, l.build.reshape(op->getLoc(), Lowered{product, x.loops, type}, *sizes));
  return success();
}

//===-- Gemm ----------------------------------------------------------------------------------===//

/// Where C is read for the result's two dimensions: a size of 1 is broadcast.
static AffineMap addendMap(MLIRContext *context, const Lowered &addend, const Sizes &result) {
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < addend.rank(); ++i) {
    int64_t dim = 2 - addend.rank() + i;
    bool isRepeated = isConstantIntValue(addend.sizes[i], 1) && addend.sizes[i] != result[dim];
    exprs.push_back(isRepeated ? getAffineConstantExpr(0, context)
                               : getAffineDimExpr(dim, context));
  }
  return AffineMap::get(2, 0, exprs, context);
}

static Value scaled(OpBuilder &b, Location loc, Value value, double by) {
  if (by == 1)
    return value;
  Value factor = scalarConstant(b, loc, value.getType(), by);
  if (isa<FloatType>(value.getType()))
    return b.create<arith::MulFOp>(loc, value, factor);
  return b.create<arith::MulIOp>(loc, value, factor);
}

/// alpha * the sum + beta * an element of C, of type `type`, where there is one.
static Value addScaled(OpBuilder &b, Location loc, onnx::GemmOp gemm, Type type, ValueRange args) {
  Value result = scaled(b, loc, args[0], gemm.getAlpha().convertToDouble());
  if (args.size() == 1)
    return result;
  Value addend = convertScalar(b, loc, args[1], type, result.getType());
  addend = scaled(b, loc, addend, gemm.getBeta().convertToDouble());
  if (isa<FloatType>(result.getType()))
    return b.create<arith::AddFOp>(loc, result, addend);
  return b.create<arith::AddIOp>(loc, result, addend);
}

static LogicalResult lowerGemm(Operation *op, Lowering &l) {
  auto gemm = cast<onnx::GemmOp>(op);
  SmallVector<Lowered> given = l.operands(op);
  const Lowered &a = given[0], &c = given[1];
  FailureOr<Sizes> sizes = onnx::inferGemm(l.plan, op, l.shapes.operands(op));
  if (failed(sizes))
    return failure();
  MLIRContext *context = op->getContext();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  // With a beta of 0 nothing of C is added, not even a NaN.
  if (given.size() > 2 && !gemm.getBeta().isZero()) {
    Lowered addend = given[2];
    ArrayRef<OpFoldResult> whole = ArrayRef(*sizes).take_back(addend.rank());
    if (llvm::any_of(llvm::zip(addend.sizes, whole), [&](auto pair) {
          return isOpenBroadcast(l, std::get<0>(pair), std::get<1>(pair));
        }))
      addend = broadcastTo(l, op->getLoc(), addend, whole);
    operands.push_back(addend.tensor);
    maps.push_back(addendMap(context, addend, *sizes));
  }
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  AffineMap left =
      AffineMap::get(3, 0, gemm.getTransA() ? ArrayRef{k, m} : ArrayRef{m, k}, context);
  AffineMap right =
      AffineMap::get(3, 0, gemm.getTransB() ? ArrayRef{n, k} : ArrayRef{k, n}, context);
  Type type = a.elementType;
  auto parallel = utils::IteratorType::parallel;
  Value product = l.build.dispatch(
      op->getLoc(), OutputSpec{*sizes, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value sum = contract(b, at, a.tensor, left, c.tensor, right, *sizes,
                             AffineMap::get(3, 0, {m, n}, context), type,
                             {parallel, parallel, utils::IteratorType::reduction}, l);
        auto finish = [&](OpBuilder &nested, Location place, ValueRange args) {
          return addScaled(nested, place, gemm, type, args);
        };
        return SmallVector<Value>{epilogue(b, at, sum, inits[0], operands, maps, type, finish)};
      })[0];
  l.define(op, 0, product, *sizes, type);
  return success();
}

void registerContractionOperators(LoweringRows &rows) {
  rows.add<onnx::MatMulOp>({lowerMatMul});
  rows.add<onnx::GemmOp>({lowerGemm});
  registerAttention(rows);
  registerEinsum(rows);
  registerRecurrence(rows);
}

} // namespace cameo
