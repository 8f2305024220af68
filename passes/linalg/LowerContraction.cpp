// MatMul and Gemm: contractions as one linalg.generic with multiply-accumulate, then the operator's
// own scalar work.
//
//   onnx.MatMul  ==>  linalg.generic {[b..., m, n, k] -> A[b..., m, k], B[b..., k, n], C[b..., m,
//   n]}
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Families.h"

using namespace mlir;

namespace cameo {

Value multiplyAccumulate(OpBuilder &b, Location loc, Value left, Value right, Value sum,
                         Type from) {
  Type type = sum.getType();
  left = convertScalar(b, loc, left, from, type);
  right = convertScalar(b, loc, right, from, type);
  if (isa<FloatType>(type))
    return b.create<math::FmaOp>(loc, left, right, sum);
  return b.create<arith::AddIOp>(loc, sum, b.create<arith::MulIOp>(loc, left, right));
}

Value contract(OpBuilder &b, Location loc, Value left, AffineMap leftMap, Value right,
               AffineMap rightMap, const Sizes &sizes, AffineMap outMap, Type elementType,
               ArrayRef<utils::IteratorType> iterators, Lowering &l) {
  Type sumType = accumulatorType(signless(elementType));
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(sumType));
  Value init = emptyTensor(b, loc, sizes, sumType);
  init = b.create<linalg::FillOp>(loc, zero, init).getResult(0);
  auto generic = b.create<linalg::GenericOp>(
      loc, TypeRange{init.getType()}, ValueRange{left, right}, ValueRange{init},
      ArrayRef<AffineMap>{leftMap, rightMap, outMap}, iterators,
      [&](OpBuilder &nested, Location place, ValueRange args) {
        nested.create<linalg::YieldOp>(
            place, multiplyAccumulate(nested, place, args[0], args[1], args[2], elementType));
      });
  return generic.getResult(0);
}

static LogicalResult lowerMatMul(Operation *op, Lowering &l) {
  Lowered a = l.operand(op, 0), c = l.operand(op, 1);
  Location loc = op->getLoc();
  if (a.rank() == 0 || c.rank() == 0)
    return l.unsupported(op, "operands of rank " + Twine(a.rank()) + " and " + Twine(c.rank()) +
                                 "; both need rank 1 or more");
  OpFoldResult depth = a.sizes.back();
  OpFoldResult otherDepth = c.rank() == 1 ? c.sizes[0] : c.sizes[c.rank() - 2];
  if (depth != otherDepth &&
      failed(l.plan.check(op, l.plan.equal(depth, otherDepth),
                          "inner sizes {0} and {1} differ; they must be one", depth, otherDepth)))
    return failure();
  bool hasM = a.rank() > 1, hasN = c.rank() > 1;
  Sizes batchA(a.sizes.begin(), a.sizes.end() - std::min<int64_t>(a.rank(), 2));
  Sizes batchC(c.sizes.begin(), c.sizes.end() - std::min<int64_t>(c.rank(), 2));
  FailureOr<Sizes> batch = l.plan.broadcast(op, {batchA, batchC});
  if (failed(batch))
    return failure();
  // One matrix on the right serves every batch: the batch is more rows.
  if (batchC.empty() && hasM && hasN && a.rank() > 2) {
    OpFoldResult rows = l.plan.index(1);
    for (OpFoldResult size : ArrayRef<OpFoldResult>(a.sizes).drop_back())
      rows = l.plan.mul(rows, size);
    Sizes result(a.sizes);
    result.back() = c.sizes.back();
    a = l.build.reshape(loc, a, {rows, depth});
    Value product = matrixProduct(op, l, a, c);
    Lowered flat{product, {rows, c.sizes.back()}, a.elementType};
    l.define(op, 0, l.build.reshape(loc, flat, result));
    return success();
  }
  for (auto [shape, operand] : {std::pair(batchA, 0), std::pair(batchC, 1)}) {
    size_t shift = batch->size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != (*batch)[i + shift] && !isConstantIntValue(shape[i], 1))
        return l.unsupported(op, "batch sizes known only at run time that may be broadcast; "
                                 "nearest supported: the same symbolic size on both operands");
  }
  MLIRContext *context = op->getContext();
  unsigned batches = batch->size(), dims = batches;
  unsigned m = dims, n = dims + hasM, k = dims + hasM + hasN;
  dims = k + 1;
  SmallVector<AffineExpr> left, right, out;
  auto batchExprs = [&](const Sizes &shape, SmallVector<AffineExpr> &exprs) {
    size_t shift = batches - shape.size();
    for (size_t i = 0; i < shape.size(); ++i)
      exprs.push_back(shape[i] == (*batch)[i + shift] ? getAffineDimExpr(i + shift, context)
                                                      : getAffineConstantExpr(0, context));
  };
  batchExprs(batchA, left);
  batchExprs(batchC, right);
  Sizes sizes(*batch);
  SmallVector<utils::IteratorType> iterators(k, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  for (unsigned i = 0; i < batches; ++i)
    out.push_back(getAffineDimExpr(i, context));
  if (hasM) {
    left.push_back(getAffineDimExpr(m, context));
    out.push_back(getAffineDimExpr(m, context));
    sizes.push_back(a.sizes[a.rank() - 2]);
  }
  left.push_back(getAffineDimExpr(k, context));
  right.push_back(getAffineDimExpr(k, context));
  if (hasN) {
    right.push_back(getAffineDimExpr(n, context));
    out.push_back(getAffineDimExpr(n, context));
    sizes.push_back(c.sizes.back());
  }
  Type type = Lowering::elementType(op->getResult(0));
  Value product = l.build.dispatch(
      loc, OutputSpec{sizes, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value sum = contract(b, at, a.tensor, AffineMap::get(dims, 0, left, context), c.tensor,
                             AffineMap::get(dims, 0, right, context), sizes,
                             AffineMap::get(dims, 0, out, context), a.elementType, iterators, l);
        return SmallVector<Value>{epilogue(b, at, sum, inits[0], {}, {}, type, nullptr)};
      })[0];
  l.define(op, 0, product, sizes, type);
  return success();
}

Value matrixProduct(Operation *op, Lowering &l, const Lowered &a, const Lowered &c) {
  MLIRContext *context = op->getContext();
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  Sizes sizes{a.sizes[0], c.sizes[1]};
  Type type = a.elementType;
  auto parallel = utils::IteratorType::parallel;
  return l.build.dispatch(
      op->getLoc(), OutputSpec{sizes, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value sum = contract(b, at, a.tensor, AffineMap::get(3, 0, {m, k}, context), c.tensor,
                             AffineMap::get(3, 0, {k, n}, context), sizes,
                             AffineMap::get(3, 0, {m, n}, context), type,
                             {parallel, parallel, utils::IteratorType::reduction}, l);
        return SmallVector<Value>{epilogue(b, at, sum, inits[0], {}, {}, type, nullptr)};
      })[0];
}

Value epilogue(OpBuilder &b, Location loc, Value sum, Value init, ArrayRef<Value> operands,
               ArrayRef<AffineMap> maps, Type elementType,
               function_ref<Value(OpBuilder &, Location, ValueRange)> fn) {
  Type target = cast<RankedTensorType>(init.getType()).getElementType();
  Type sumType = cast<RankedTensorType>(sum.getType()).getElementType();
  if (!fn && target == sumType)
    return sum;
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<Value> inputs{sum};
  SmallVector<AffineMap> all{b.getMultiDimIdentityMap(rank)};
  llvm::append_range(inputs, operands);
  llvm::append_range(all, maps);
  all.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic = b.create<linalg::GenericOp>(
      loc, TypeRange{init.getType()}, inputs, ValueRange{init}, all, iterators,
      [&](OpBuilder &nested, Location place, ValueRange args) {
        Value result = fn ? fn(nested, place, args.drop_back()) : args[0];
        nested.create<linalg::YieldOp>(
            place, convertScalar(nested, place, result, result.getType(), target));
      });
  return generic.getResult(0);
}

static LogicalResult lowerGemm(Operation *op, Lowering &l) {
  auto gemm = cast<onnx::GemmOp>(op);
  Lowered a = l.operand(op, 0), c = l.operand(op, 1);
  if (a.rank() != 2 || c.rank() != 2)
    return l.unsupported(op, "operands of rank " + Twine(a.rank()) + " and " + Twine(c.rank()) +
                                 "; both need rank 2; nearest supported: MatMul");
  bool transA = gemm.getTransA() != 0, transB = gemm.getTransB() != 0;
  OpFoldResult depthA = a.sizes[transA ? 0 : 1], depthB = c.sizes[transB ? 1 : 0];
  if (depthA != depthB &&
      failed(l.plan.check(op, l.plan.equal(depthA, depthB),
                          "inner sizes {0} and {1} differ; they must be one", depthA, depthB)))
    return failure();
  double alpha = gemm.getAlpha().convertToDouble(), beta = gemm.getBeta().convertToDouble();
  Type type = a.elementType;
  bool real = isa<FloatType>(type);
  if (!real && (alpha != static_cast<int64_t>(alpha) || beta != static_cast<int64_t>(beta)))
    return l.unsupported(op,
                         "fractional alpha or beta on integers; nearest supported: whole numbers");
  MLIRContext *context = op->getContext();
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  Sizes sizes{a.sizes[transA ? 1 : 0], c.sizes[transB ? 0 : 1]};
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  if (!l.absent(op, 2)) {
    Lowered bias = l.operand(op, 2);
    if (bias.rank() > 2)
      return l.unsupported(op, "C has rank " + Twine(bias.rank()) + "; at most 2 is possible");
    SmallVector<AffineExpr> exprs;
    for (int64_t i = 0; i < bias.rank(); ++i) {
      int64_t dim = 2 - bias.rank() + i;
      if (bias.sizes[i] == sizes[dim])
        exprs.push_back(getAffineDimExpr(dim, context));
      else if (isConstantIntValue(bias.sizes[i], 1))
        exprs.push_back(getAffineConstantExpr(0, context));
      else
        return l.unsupported(op, "size " + Twine(i) +
                                     " of C is known only at run time; nearest "
                                     "supported: 1, or the result's size of that dimension");
    }
    // Nothing of C is added then, not even a NaN.
    if (beta != 0) {
      operands.push_back(bias.tensor);
      maps.push_back(AffineMap::get(2, 0, exprs, context));
    }
  }
  auto parallel = utils::IteratorType::parallel;
  Value product = l.build.dispatch(
      op->getLoc(), OutputSpec{sizes, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        AffineMap left = AffineMap::get(3, 0, transA ? ArrayRef{k, m} : ArrayRef{m, k}, context);
        AffineMap right = AffineMap::get(3, 0, transB ? ArrayRef{n, k} : ArrayRef{k, n}, context);
        Value sum = contract(b, at, a.tensor, left, c.tensor, right, sizes,
                             AffineMap::get(3, 0, {m, n}, context), type,
                             {parallel, parallel, utils::IteratorType::reduction}, l);
        auto scale = [&](OpBuilder &nested, Location place, Value value, double by) -> Value {
          if (by == 1)
            return value;
          Value factor = scalarConstant(nested, place, value.getType(), by);
          if (isa<FloatType>(value.getType()))
            return nested.create<arith::MulFOp>(place, value, factor);
          return nested.create<arith::MulIOp>(place, value, factor);
        };
        auto finish = [&](OpBuilder &nested, Location place, ValueRange args) -> Value {
          Value result = scale(nested, place, args[0], alpha);
          if (args.size() == 1)
            return result;
          Value bias = convertScalar(nested, place, args[1], type, result.getType());
          bias = scale(nested, place, bias, beta);
          if (isa<FloatType>(result.getType()))
            return nested.create<arith::AddFOp>(place, result, bias);
          return nested.create<arith::AddIOp>(place, result, bias);
        };
        return SmallVector<Value>{epilogue(b, at, sum, inits[0], operands, maps, type, finish)};
      })[0];
  l.define(op, 0, product, sizes, type);
  return success();
}

void registerContractionOperators(OperatorTable &table) {
  table["MatMul"] = {lowerMatMul};
  table["Gemm"] = {lowerGemm};
  registerEinsum(table);
}

} // namespace cameo
