// Float arithmetic inside dispatches.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/FloatMath.h"

using namespace mlir;

namespace cameo {

Value FloatMath::of(OpFoldResult ofr) {
  if (auto attribute = dyn_cast<Attribute>(ofr))
    return number(cast<FloatAttr>(attribute).getValueAsDouble());
  return convertScalar(b, loc, cast<Value>(ofr), b.getF64Type(), type);
}

Value FloatMath::add(Value x, Value y) { return b.create<arith::AddFOp>(loc, x, y); }
Value FloatMath::sub(Value x, Value y) { return b.create<arith::SubFOp>(loc, x, y); }
Value FloatMath::mul(Value x, Value y) { return b.create<arith::MulFOp>(loc, x, y); }
Value FloatMath::div(Value x, Value y) { return b.create<arith::DivFOp>(loc, x, y); }
Value FloatMath::fma(Value x, Value y, Value z) { return b.create<math::FmaOp>(loc, x, y, z); }
Value FloatMath::floor(Value x) { return b.create<math::FloorOp>(loc, x); }
Value FloatMath::ceil(Value x) { return b.create<math::CeilOp>(loc, x); }
Value FloatMath::greater(Value x, Value y) { return b.create<arith::MaxNumFOp>(loc, x, y); }
Value FloatMath::lesser(Value x, Value y) { return b.create<arith::MinNumFOp>(loc, x, y); }

Value FloatMath::fromIndex(Value index) {
  Type wide = b.getI64Type();
  return b.create<arith::SIToFPOp>(loc, type, b.create<arith::IndexCastOp>(loc, wide, index));
}

Value FloatMath::toIndex(Value x) {
  Value integer = convertScalar(b, loc, x, type, b.getI64Type());
  return b.create<arith::IndexCastOp>(loc, b.getIndexType(), integer);
}

Value FloatMath::toSmallIndex(Value x) {
  Value integer = b.create<arith::FPToSIOp>(loc, b.getI32Type(), x);
  return b.create<arith::IndexCastOp>(loc, b.getIndexType(), integer);
}

Value FloatMath::compare(arith::CmpFPredicate predicate, Value x, Value y) {
  return b.create<arith::CmpFOp>(loc, predicate, x, y);
}

Value FloatMath::select(Value condition, Value x, Value y) {
  return b.create<arith::SelectOp>(loc, condition, x, y);
}

bool isNumber(OpFoldResult ofr, double value) {
  auto attribute = dyn_cast_if_present<FloatAttr>(dyn_cast<Attribute>(ofr));
  return attribute && attribute.getValueAsDouble() == value;
}

} // namespace cameo
