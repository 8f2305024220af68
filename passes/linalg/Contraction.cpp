// Pieces that contractions are described with.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Contraction.h"

#include "dialects/onnx/Products.h"

using namespace mlir;

namespace cameo {

Type sumTypeOf(Type elementType, const Lowering &l) {
  return elementType.isF16() && l.products == onnx::kF16Sums
             ? elementType
             : accumulatorType(signless(elementType));
}

void setPrecision(Operation *product, Type elementType, const Lowering &l) {
  if (elementType.isF32() && l.products == onnx::kTf32Products)
    setDeclaredAttr<kernel::KernelDialect::PrecisionAttrHelper>(
        product, StringAttr::get(product->getContext(), kernel::kTf32));
}

Value multiplyAccumulate(OpBuilder &b, Location loc, Value left, Value right, Value sum,
                         Type from) {
  Type type = sum.getType();
  left = convertScalar(b, loc, left, from, type);
  right = convertScalar(b, loc, right, from, type);
  if (isa<FloatType>(type))
    return b.create<math::FmaOp>(loc, left, right, sum);
  return b.create<arith::AddIOp>(loc, sum, b.create<arith::MulIOp>(loc, left, right));
}

bool isOpenBroadcast(const Lowering &l, OpFoldResult size, OpFoldResult result) {
  return size != result && !isa<Attribute>(size) && !l.plan.isCapped(size, result);
}

Lowered certain(Lowering &l, Location loc, const Lowered &operand, ArrayRef<OpFoldResult> whole) {
  Sizes sizes(operand.sizes);
  for (auto [size, of] : llvm::zip_equal(sizes, whole))
    if (isOpenBroadcast(l, size, of))
      size = of;
  return sizes == operand.sizes ? operand : broadcastTo(l, loc, operand, sizes);
}

Lowered broadcastTo(Lowering &l, Location loc, const Lowered &operand,
                    ArrayRef<OpFoldResult> sizes) {
  Sizes all(sizes.take_back(operand.rank()));
  auto same = [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; };
  return {l.build.elementwise(loc, operand, all, operand.elementType, same), all,
          operand.elementType};
}

Value contract(OpBuilder &b, Location loc, Value left, AffineMap leftMap, Value right,
               AffineMap rightMap, const Sizes &sizes, AffineMap outMap, Type elementType,
               ArrayRef<utils::IteratorType> iterators, Lowering &l) {
  Type sumType = sumTypeOf(elementType, l);
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
  setPrecision(generic, elementType, l);
  return generic.getResult(0);
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

} // namespace cameo
