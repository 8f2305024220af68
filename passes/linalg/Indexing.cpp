// Index arithmetic inside dispatches.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Indexing.h"

using namespace mlir;

namespace cameo {

Value IndexMath::add(Value x, OpFoldResult y) {
  if (isConstantIntValue(y, 0))
    return x;
  return b.create<arith::AddIOp>(loc, x, of(y));
}

Value IndexMath::sub(Value x, OpFoldResult y) {
  if (isConstantIntValue(y, 0))
    return x;
  return b.create<arith::SubIOp>(loc, x, of(y));
}

Value IndexMath::mul(Value x, OpFoldResult y) {
  if (isConstantIntValue(y, 1))
    return x;
  return b.create<arith::MulIOp>(loc, x, of(y));
}

Value IndexMath::modulo(Value x, OpFoldResult y) {
  Value rest = b.create<arith::RemSIOp>(loc, x, of(y));
  return select(compare(arith::CmpIPredicate::slt, rest, b.getIndexAttr(0)), add(rest, y), rest);
}

Value IndexMath::clamp(Value x, OpFoldResult size) {
  Value last = sub(of(size), b.getIndexAttr(1));
  Value low = b.create<arith::MaxSIOp>(loc, x, indexConstant(b, loc, 0));
  return b.create<arith::MinSIOp>(loc, low, last);
}

Value IndexMath::wrapNegative(Value x, OpFoldResult size) {
  Value negative = compare(arith::CmpIPredicate::slt, x, b.getIndexAttr(0));
  return clamp(select(negative, add(x, size), x), size);
}

Value IndexMath::compare(arith::CmpIPredicate predicate, Value x, OpFoldResult y) {
  return b.create<arith::CmpIOp>(loc, predicate, x, of(y));
}

Value IndexMath::inside(Value x, OpFoldResult size) {
  return both(compare(arith::CmpIPredicate::sge, x, b.getIndexAttr(0)),
              compare(arith::CmpIPredicate::slt, x, size));
}

Value IndexMath::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return b.create<arith::AndIOp>(loc, x, y);
}

Value IndexMath::select(Value condition, Value x, Value y) {
  return b.create<arith::SelectOp>(loc, condition, x, y);
}

Value IndexMath::choose(Value condition, function_ref<Value(OpBuilder &, Location)> then,
                        function_ref<Value(OpBuilder &, Location)> otherwise) {
  auto branch = [](function_ref<Value(OpBuilder &, Location)> fn) {
    return [fn](OpBuilder &inner, Location at) { inner.create<scf::YieldOp>(at, fn(inner, at)); };
  };
  return b.create<scf::IfOp>(loc, condition, branch(then), branch(otherwise)).getResult(0);
}

Value IndexMath::only(const Lowered &tensor) {
  SmallVector<Value> zeros(tensor.rank());
  for (Value &zero : zeros)
    zero = indexConstant(b, loc, 0);
  return b.create<tensor::ExtractOp>(loc, tensor.tensor, zeros);
}

Value IndexMath::element(const Lowered &tensor, ValueRange indices) {
  return b.create<tensor::ExtractOp>(loc, tensor.tensor, indices);
}

Value IndexMath::toIndex(Value integer, Type onnxType) {
  if (Lowering::isUnsigned(onnxType))
    return b.create<arith::IndexCastUIOp>(loc, b.getIndexType(), integer);
  return b.create<arith::IndexCastOp>(loc, b.getIndexType(), integer);
}

} // namespace cameo
