// Scalars inside dispatches: constants, ONNX's Cast and the types sums are accumulated in.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Scalars.h"

#include "passes/linalg/NarrowTypes.h"
#include "runtime/mutant.h"

#include <cmath>

using namespace mlir;

namespace cameo {

Type signless(Type type) {
  if (narrowFloat(type) || packedBits(type))
    return IntegerType::get(type.getContext(), 8);
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

Value indexConstant(OpBuilder &b, Location loc, int64_t value) {
  return b.create<arith::ConstantIndexOp>(loc, value);
}

Value bodyValue(OpBuilder &b, Location loc, OpFoldResult ofr) {
  if (auto value = dyn_cast<Value>(ofr))
    return value;
  return b.create<arith::ConstantOp>(loc, cast<TypedAttr>(cast<Attribute>(ofr)));
}

Value scalarConstant(OpBuilder &b, Location loc, Type type, double value) {
  if (auto real = dyn_cast<FloatType>(type))
    return b.create<arith::ConstantOp>(loc, b.getFloatAttr(real, value));
  if (isa<IndexType>(type))
    return indexConstant(b, loc, static_cast<int64_t>(value));
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return b.create<arith::ConstantOp>(loc, b.getBoolAttr(value != 0));
  // What does not fit is the least signed or the greatest unsigned value.
  APInt integer = APInt::getAllOnes(width);
  if (value < -std::ldexp(1.0, width - 1))
    integer = APInt::getSignedMinValue(width);
  else if (value < 0)
    integer = APInt(64, static_cast<int64_t>(value), /*isSigned=*/true).trunc(width);
  else if (value < std::ldexp(1.0, width))
    integer = APInt(64, static_cast<uint64_t>(value)).trunc(width);
  return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(type, integer));
}

Type accumulatorType(Type type) {
  if (type.isF16() || CAMEO_MUTANT(35, type.isBF16(), false))
    return Float32Type::get(type.getContext());
  return type;
}

/// Float to a signed integer of 32 or 64 bits: towards zero, saturating, NaN to 0. ONNX leaves what
/// does not fit open; arith would make it poison.
static Value saturatingToSigned(OpBuilder &b, Location loc, Value x, unsigned width) {
  Type real = x.getType(), integer = b.getIntegerType(width);
  double limit = width == 64 ? 0x1p63 : 0x1p31;
  Value low = scalarConstant(b, loc, real, -limit), high = scalarConstant(b, loc, real, limit);
  Value below = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x, low);
  Value above = b.create<arith::CmpFOp>(
      loc, CAMEO_MUTANT(36, arith::CmpFPredicate::OGE, arith::CmpFPredicate::OGT), x, high);
  Value inside = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::ORD, x, x);
  Value outside = b.create<arith::OrIOp>(loc, below, above);
  inside = b.create<arith::AndIOp>(
      loc, inside, b.create<arith::XOrIOp>(loc, outside, scalarConstant(b, loc, b.getI1Type(), 1)));
  Value safe = b.create<arith::SelectOp>(loc, inside, x, scalarConstant(b, loc, real, 0));
  Value converted = b.create<arith::FPToSIOp>(loc, integer, safe);
  Value least =
      b.create<arith::ConstantOp>(loc, b.getIntegerAttr(integer, APInt::getSignedMinValue(width)));
  Value most =
      b.create<arith::ConstantOp>(loc, b.getIntegerAttr(integer, APInt::getSignedMaxValue(width)));
  converted = b.create<arith::SelectOp>(loc, below, least, converted);
  return b.create<arith::SelectOp>(loc, above, most, converted);
}

static Value floatToInteger(OpBuilder &b, Location loc, Value x, Type to) {
  unsigned width = to.getIntOrFloatBitWidth();
  Type integer = signless(to);
  // Narrow types wrap, as on the hosts of NumPy and ONNX Runtime, which convert to 32 bits first;
  // so do negative values to unsigned types.
  if (width < 32) {
    Value wide = saturatingToSigned(b, loc, x, 32);
    return b.create<arith::TruncIOp>(loc, integer, wide);
  }
  if (!to.isUnsignedInteger())
    return saturatingToSigned(b, loc, x, width);
  if (width == 32)
    return b.create<arith::TruncIOp>(loc, integer, saturatingToSigned(b, loc, x, 64));
  // 64 bits unsigned: the upper half of the range is converted less 2^63.
  Value middle = scalarConstant(b, loc, x.getType(), 0x1p63);
  Value upper = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGE, x, middle);
  Value less = b.create<arith::SubFOp>(loc, x, middle);
  Value part = b.create<arith::SelectOp>(loc, upper, less, x);
  Value converted = saturatingToSigned(b, loc, part, 64);
  Value top =
      b.create<arith::ConstantOp>(loc, b.getIntegerAttr(integer, APInt::getSignedMinValue(64)));
  Value added = b.create<arith::XOrIOp>(loc, converted, top);
  return b.create<arith::SelectOp>(loc, upper, added, converted);
}

static Value floatToFloat(OpBuilder &b, Location loc, Value x, Type to) {
  Type from = x.getType();
  if (from == to)
    return x;
  Type single = b.getF32Type();
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  // Between 16 bits and anything but f32 by way of f32, as ONNX Runtime does.
  if ((fromWidth == 16 && to != single) || (toWidth == 16 && from != single))
    return floatToFloat(b, loc, floatToFloat(b, loc, x, single), to);
  if (fromWidth < toWidth)
    return b.create<arith::ExtFOp>(loc, to, x);
  return b.create<arith::TruncFOp>(loc, to, x);
}

/// An integer of 2 or 4 bits is a number in a byte.
static Type widened(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && packedBits(type)
             ? IntegerType::get(type.getContext(), 8, integer.getSignedness())
             : type;
}

Value convertScalar(OpBuilder &b, Location loc, Value scalar, Type from, Type to) {
  if (from == to)
    return scalar;
  Type single = b.getF32Type();
  if (auto kind = narrowFloat(from))
    return convertScalar(b, loc, decodeNarrow(b, loc, scalar, *kind), single, to);
  if (auto kind = narrowFloat(to))
    return encodeNarrow(b, loc, convertScalar(b, loc, scalar, from, single), *kind);
  if (packedBits(from) || packedBits(to))
    return wrapNarrow(b, loc, convertScalar(b, loc, scalar, widened(from), widened(to)), to);
  Type target = signless(to);
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (fromFloat && toFloat)
    return floatToFloat(b, loc, scalar, target);
  if (fromFloat) {
    if (target.isInteger(1)) // NaN is not zero
      return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE, scalar,
                                     scalarConstant(b, loc, from, 0));
    if (from.getIntOrFloatBitWidth() == 16)
      scalar = floatToFloat(b, loc, scalar, b.getF32Type());
    return floatToInteger(b, loc, scalar, to);
  }
  bool zeroExtends = from.isUnsignedInteger() || CAMEO_MUTANT(37, from.isInteger(1), false);
  if (toFloat) {
    // 16-bit floats by way of f32.
    Type wide = accumulatorType(target);
    Value converted = zeroExtends ? Value(b.create<arith::UIToFPOp>(loc, wide, scalar))
                                  : Value(b.create<arith::SIToFPOp>(loc, wide, scalar));
    return floatToFloat(b, loc, converted, target);
  }
  if (target.isInteger(1))
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, scalar,
                                   scalarConstant(b, loc, scalar.getType(), 0));
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return scalar;
  if (fromWidth > toWidth)
    return b.create<arith::TruncIOp>(loc, target, scalar);
  if (zeroExtends)
    return b.create<arith::ExtUIOp>(loc, target, scalar);
  return b.create<arith::ExtSIOp>(loc, target, scalar);
}

} // namespace cameo
