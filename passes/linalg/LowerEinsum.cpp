// Einsum: any equation as one sum of products.
//
//   "onnx.Einsum"(%a, %b) {equation = "ij,jk->ik"}   ==>   kernel.dispatch { linalg.generic fma }
//
// Loops are the result's indices, then the summed ones.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Contractions.h"
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"

using namespace mlir;

namespace cameo {

/// Where the operands are read: a size of 1 is broadcast.
static SmallVector<Read> einsumReads(ArrayRef<Lowered> operands, const onnx::EinsumShape &shape,
                                     MLIRContext *context) {
  SmallVector<Read> reads;
  for (auto [places, operand] : llvm::zip(shape.operands, operands)) {
    SmallVector<AffineExpr> exprs;
    for (auto [loop, size] : llvm::zip(places, operand.sizes)) {
      bool broadcasts = isConstantIntValue(size, 1) && !isConstantIntValue(shape.loops[loop], 1);
      exprs.push_back(broadcasts ? getAffineConstantExpr(0, context)
                                 : getAffineDimExpr(loop, context));
    }
    reads.push_back({operand.tensor, AffineMap::get(shape.loops.size(), 0, exprs, context)});
  }
  return reads;
}

/// accumulator + the product of the operands' scalars, of type `type`, in the type `compute`.
static Value addProduct(OpBuilder &b, Location loc, Type type, Type compute, Value accumulator,
                        ValueRange scalars) {
  Value factor;
  for (Value scalar : scalars.drop_back()) {
    Value wide = widen(b, loc, scalar, type, compute);
    factor = factor ? combine(b, loc, Combine::Mul, compute, factor, wide) : wide;
  }
  Value last = widen(b, loc, scalars.back(), type, compute);
  if (factor && isa<FloatType>(compute))
    return b.create<math::FmaOp>(loc, factor, last, accumulator);
  if (factor)
    last = combine(b, loc, Combine::Mul, compute, factor, last);
  return combine(b, loc, Combine::Add, compute, accumulator, last);
}

static LogicalResult lowerEinsum(Operation *op, Lowering &l) {
  FailureOr<onnx::EinsumShape> shape = onnx::inferEinsum(l.plan, op, l.shapes.operands(op));
  if (failed(shape))
    return failure();
  SmallVector<Lowered> operands = l.operands(op);
  for (auto [places, operand] : llvm::zip(shape->operands, operands)) {
    Sizes whole;
    for (int64_t loop : places)
      whole.push_back(shape->loops[loop]);
    operand = certain(l, op->getLoc(), operand, whole);
  }
  MLIRContext *context = op->getContext();
  SmallVector<Read> reads = einsumReads(operands, *shape, context);
  const Sizes &loops = shape->loops, &result = shape->result;
  SmallVector<bool> reduced(loops.size(), true);
  std::fill_n(reduced.begin(), result.size(), false);

  Type type = operands[0].elementType, compute = sumTypeOf(type, l);
  bool plain = compute == type;
  Value value = l.build.dispatch(
      op->getLoc(), OutputSpec{result, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto step = [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
          return addProduct(nested, at, type, compute, accumulator, scalars);
        };
        Value sum = reduceGeneric(l, b, loc, loops, reduced, Combine::Add, compute, reads, step,
                                  plain ? inits[0] : Value());
        setPrecision(sum.getDefiningOp(), type, l);
        if (plain)
          return SmallVector<Value>{sum};
        return SmallVector<Value>{mapGeneric(
            l, b, loc, result, type, Read{sum, identityMap(context, result.size())},
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              return widen(nested, at, scalars[0], compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, value, result, type);
  return success();
}

void registerEinsum(LoweringRows &rows) { rows.add<onnx::EinsumOp>({lowerEinsum}); }

} // namespace cameo
