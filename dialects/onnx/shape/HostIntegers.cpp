// Arithmetic on host values that stand for integers of a type.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/HostIntegers.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>

using namespace mlir;

namespace cameo::onnx {

HostIntegers::HostIntegers(SizeBuilder &s, Operation *op, Type type)
    : s(s), op(op), width(type.getIntOrFloatBitWidth()), isUnsigned(type.isUnsignedInteger()) {}

/// Whether results are the type's low bits, whatever they come to.
bool HostIntegers::wraps(ArrayRef<OpFoldResult> operands) const {
  auto isKnown = [](OpFoldResult value) {
    return isa<Attribute>(value) && getConstantIntValue(value);
  };
  return isUnsigned || width < 32 || llvm::all_of(operands, isKnown) ||
         llvm::any_of(operands, [&](OpFoldResult value) { return s.readsInput(value); });
}

OpFoldResult HostIntegers::lowBits(OpFoldResult a) const {
  return s.lowBits(a, width, !isUnsigned);
}

/// A number of sizes, which must fit the type.
OpFoldResult HostIntegers::fitting(OpFoldResult a) const {
  if (width < 64)
    (void)s.check(op, s.equal(lowBits(a), a),
                  "{0}, computed from sizes, does not fit int" + Twine(width), a);
  return a;
}

OpFoldResult HostIntegers::add(OpFoldResult a, OpFoldResult b) const {
  return wraps({a, b}) ? lowBits(s.wrapAdd(a, b)) : fitting(s.add(a, b));
}

OpFoldResult HostIntegers::sub(OpFoldResult a, OpFoldResult b) const {
  return wraps({a, b}) ? lowBits(s.wrapSub(a, b)) : fitting(s.sub(a, b));
}

OpFoldResult HostIntegers::mul(OpFoldResult a, OpFoldResult b) const {
  return wraps({a, b}) ? lowBits(s.wrapMul(a, b)) : fitting(s.mul(a, b));
}

OpFoldResult HostIntegers::div(OpFoldResult a, OpFoldResult b) const {
  if (isWideUnsigned())
    return s.unsignedDiv(a, b);
  if (!wraps({a, b}) || isUnsigned)
    return s.divTowardsZero(a, b);
  // The one quotient of 64 bits that overflows is the dividend itself.
  OpFoldResult flips = s.equal(b, s.index(-1));
  OpFoldResult quotient = s.divTowardsZero(a, s.select(flips, s.index(1), b));
  return lowBits(s.select(flips, s.wrapSub(s.index(0), a), quotient));
}

OpFoldResult HostIntegers::rem(OpFoldResult a, OpFoldResult b) const {
  return isWideUnsigned() ? s.unsignedRem(a, b) : s.rem(a, b);
}

OpFoldResult HostIntegers::mod(OpFoldResult a, OpFoldResult b) const {
  if (isUnsigned)
    return rem(a, b);
  if (!wraps({a, b}))
    return s.sub(a, s.mul(s.floorDiv(a, b), b));
  OpFoldResult rest = s.rem(a, b), zero = s.index(0);
  OpFoldResult isSame = s.equal(s.less(rest, zero), s.less(b, zero));
  return s.select(s.max(s.equal(rest, zero), isSame), rest, s.wrapAdd(rest, b));
}

OpFoldResult HostIntegers::negated(OpFoldResult a) const { return sub(s.index(0), a); }

OpFoldResult HostIntegers::abs(OpFoldResult a) const {
  return isUnsigned || s.isNonNegative(a) ? a : s.max(a, negated(a));
}

OpFoldResult HostIntegers::min(OpFoldResult a, OpFoldResult b) const {
  return isWideUnsigned() ? s.select(less(b, a), b, a) : s.min(a, b);
}

OpFoldResult HostIntegers::max(OpFoldResult a, OpFoldResult b) const {
  return isWideUnsigned() ? s.select(less(a, b), b, a) : s.max(a, b);
}

OpFoldResult HostIntegers::less(OpFoldResult a, OpFoldResult b) const {
  return isWideUnsigned() ? s.unsignedLess(a, b) : s.less(a, b);
}

OpFoldResult HostIntegers::fromInteger(OpFoldResult a) const {
  return wraps(a) ? lowBits(a) : fitting(a);
}

/// Towards zero, to a signed integer of so many bits.
OpFoldResult HostIntegers::saturated(OpFoldResult a, unsigned bits) const {
  double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
  OpFoldResult zero = s.floating(0);
  // NaN is neither below 1 nor above 0.
  OpFoldResult isNumber = s.max(s.less(a, s.floating(1)), s.less(zero, a));
  OpFoldResult number = s.select(isNumber, a, zero);
  OpFoldResult isBelow = s.less(number, s.floating(-limit)),
               isInside = s.less(number, s.floating(limit));
  OpFoldResult safe = s.select(isBelow, zero, s.select(isInside, number, zero));
  int64_t least = llvm::minIntN(bits), most = llvm::maxIntN(bits);
  OpFoldResult upper = s.select(isInside, s.toInteger(safe), s.index(most));
  return s.select(isBelow, s.index(least), upper);
}

OpFoldResult HostIntegers::fromFloat(OpFoldResult a) const {
  bool isKnown = isa<Attribute>(a) && isa<FloatAttr>(cast<Attribute>(a));
  if (!isKnown && !s.readsInput(a))
    return fromInteger(s.toInteger(a));
  if (!isWideUnsigned())
    return lowBits(saturated(a, width == 64 || (isUnsigned && width == 32) ? 64 : 32));
  // The upper half of the range is converted less 2^63.
  OpFoldResult middle = s.floating(0x1p63), isLower = s.less(a, middle);
  OpFoldResult part = saturated(s.select(isLower, a, s.fsub(a, middle)), 64);
  return s.select(isLower, part, s.wrapAdd(part, s.index(INT64_MIN)));
}

OpFoldResult HostIntegers::toFloat(OpFoldResult a) const {
  if (!isWideUnsigned())
    return s.toFloat(a);
  // The upper half of the range is converted halved; its last bit says whether there was more.
  OpFoldResult two = s.index(2), isLower = s.less(s.index(-1), a);
  OpFoldResult half = s.unsignedDiv(a, two), last = s.unsignedRem(half, two);
  OpFoldResult odd = s.max(last, s.unsignedRem(a, two));
  OpFoldResult upper = s.fmul(s.toFloat(s.add(s.sub(half, last), odd)), s.floating(2));
  return s.select(isLower, s.toFloat(a), upper);
}

} // namespace cameo::onnx
