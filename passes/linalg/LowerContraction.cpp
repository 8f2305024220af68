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
    for (int64_t i = 0; i < own; ++i)
      exprs.push_back(operand.sizes[i] == result[i + shift] ? getAffineDimExpr(i + shift, context)
                                                            : getAffineConstantExpr(0, context));
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

static LogicalResult lowerMatMul(Operation *op, Lowering &l) {
  Lowered a = l.operand(op, 0), c = l.operand(op, 1);
  FailureOr<Sizes> sizes = onnx::inferMatMul(l.plan, op, {a.sizes, c.sizes});
  if (failed(sizes))
    return failure();
  ProductLoops loops = productLoops(op->getContext(), a, c, *sizes);
  Type type = Lowering::elementType(op->getResult(0));
  Value product = l.build.dispatch(
      op->getLoc(), OutputSpec{*sizes, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value sum = contract(b, at, a.tensor, loops.left, c.tensor, loops.right, *sizes, loops.out,
                             a.elementType, loops.iterators, l);
        return SmallVector<Value>{epilogue(b, at, sum, inits[0], {}, {}, type, nullptr)};
      })[0];
  l.define(op, 0, product, *sizes, type);
  return success();
}

//===-- Gemm ----------------------------------------------------------------------------------===//

/// Where C is read for the result's two dimensions: a size of 1 is broadcast.
static AffineMap addendMap(MLIRContext *context, const Lowered &addend, const Sizes &result) {
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < addend.rank(); ++i) {
    int64_t dim = 2 - addend.rank() + i;
    exprs.push_back(addend.sizes[i] == result[dim] ? getAffineDimExpr(dim, context)
                                                   : getAffineConstantExpr(0, context));
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
    operands.push_back(given[2].tensor);
    maps.push_back(addendMap(context, given[2], *sizes));
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

void registerContractionOperators(OperatorTable &table) {
  table["MatMul"] = {lowerMatMul};
  table["Gemm"] = {lowerGemm};
  registerAttention(table);
  registerEinsum(table);
}

} // namespace cameo
