// Narrow floats by integer arithmetic on the bits of f32.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/NarrowTypes.h"

#include "passes/linalg/ScalarMath.h"
#include "runtime/mutant.h"

using namespace mlir;

namespace cameo {

using onnx::NarrowFormat;
using onnx::NarrowRounding;
using K = onnx::ElementKind;

std::optional<K> narrowFloat(Type type) {
  std::optional<K> kind = onnx::elementKind(type);
  return kind && onnx::isNarrowFloat(*kind) ? kind : std::nullopt;
}

unsigned packedBits(Type type) {
  std::optional<K> kind = onnx::elementKind(type);
  unsigned bits = kind ? onnx::elementBits(*kind) : 0;
  return bits < 8 ? bits : 0;
}

/// Arithmetic on the bits of f32: i32.
static ScalarMath bitMath(OpBuilder &b, Location loc) {
  return ScalarMath(b, loc, b.getI32Type(), /*isUnsigned=*/true);
}

static Value number(OpBuilder &b, Location loc, Value bits) {
  return b.create<arith::BitcastOp>(loc, b.getF32Type(), bits);
}

static constexpr double kF32NaN = 0x7fc00000, kF32Infinity = 0x7f800000;

//===-- To f32 --------------------------------------------------------------------------------===//

/// 2^(code - 127); 255 is NaN.
static Value decodePower(ScalarMath &m, Value code) {
  Value power = m.binary<arith::ShLIOp>(code, m.c(23));
  power = m.select(m.eq(code, m.c(0)), m.c(0x00400000), power); // 2^-127 is subnormal
  power = m.select(m.eq(code, m.c(255)), m.c(kF32NaN), power);
  return number(m.b, m.loc, power);
}

/// Whether arith has the format, whose conversions targets may have instructions for.
static bool isConverted(K kind) { return kind == K::F8E4M3FN || kind == K::F8E5M2; }

Value decodeNarrow(OpBuilder &b, Location loc, Value bits, K kind) {
  if (!isConverted(kind))
    return decodeNarrowByBits(b, loc, bits, kind);
  Type type = onnx::elementTypeOf(kind, b.getContext());
  Value narrow = b.create<arith::BitcastOp>(loc, type, bits);
  return b.create<arith::ExtFOp>(loc, b.getF32Type(), narrow);
}

Value decodeNarrowByBits(OpBuilder &b, Location loc, Value bits, K kind) {
  ScalarMath m = bitMath(b, loc);
  Value code = b.create<arith::ExtUIOp>(loc, m.type, bits);
  if (kind == K::F8E8M0)
    return decodePower(m, code);
  NarrowFormat format = NarrowFormat::of(kind);
  uint32_t sign = 1u << (format.bits - 1);
  Value magnitude = m.binary<arith::AndIOp>(code, m.c(sign - 1));
  // Exponent and mantissa of the narrow float are those of a small f32, subnormal ones too; the
  // product with a power of two is exact.
  Value small = m.binary<arith::ShLIOp>(magnitude, m.c(23 - format.mantissa));
  ScalarMath real(b, loc, b.getF32Type(), false);
  Value value = real.mul(number(b, loc, small), real.c(std::ldexp(1.0, 127 - format.bias)));
  if (format.infinity) {
    Value special =
        m.select(m.eq(magnitude, m.c(*format.infinity)), m.c(kF32Infinity), m.c(kF32NaN));
    value = real.select(m.ge(magnitude, m.c(*format.infinity)), number(b, loc, special), value);
  }
  Value signBit =
      m.binary<arith::ShLIOp>(m.binary<arith::AndIOp>(code, m.c(sign)), m.c(32 - format.bits));
  Value raw = m.binary<arith::OrIOp>(b.create<arith::BitcastOp>(loc, m.type, value), signBit);
  if (format.nan && !format.infinity) {
    Value compared = *format.nan < sign ? magnitude : code;
    raw = m.select(m.eq(compared, m.c(*format.nan)), m.c(kF32NaN), raw);
  }
  return number(b, loc, raw);
}

//===-- From f32 ------------------------------------------------------------------------------===//

/// The exponent of a magnitude, rounded as asked for: the sign is lost, and infinity is NaN.
static Value encodePower(ScalarMath &m, Value magnitude, NarrowRounding rounding) {
  Value exponent = m.binary<arith::ShRUIOp>(magnitude, m.c(23));
  Value mantissa = m.binary<arith::AndIOp>(magnitude, m.c(0x007fffff));
  if (rounding.powers != "down") {
    // Code 0 is 2^-127, whose f32 is subnormal, with half of the mantissa's range.
    bool up = rounding.powers == "up";
    Value most =
        m.select(m.eq(exponent, m.c(0)), m.c(up ? 0x400000 : 0x5fffff), m.c(up ? 0 : 0x3fffff));
    Value carries = m.lt(most, mantissa);
    exponent = m.add(exponent, m.b.create<arith::ExtUIOp>(m.loc, m.type, carries));
  }
  Value code = m.min(exponent, m.c(rounding.saturate ? 254 : 255));
  return m.select(m.le(m.c(kF32Infinity), magnitude), m.c(255), code);
}

/// The code of the nearest number to a magnitude, in a format without an end.
static Value roundedCode(ScalarMath &m, Value magnitude, const NarrowFormat &format) {
  int dropped = 23 - format.mantissa;
  // Normal: half of what is dropped is added, less one bit where the last kept one is even.
  Value odd = m.binary<arith::AndIOp>(m.binary<arith::ShRUIOp>(magnitude, m.c(dropped)), m.c(1));
  Value rounded =
      m.add(m.add(magnitude, m.c((1u << (dropped - 1)) - 1)), CAMEO_MUTANT(40, odd, m.c(1)));
  Value normal = m.sub(m.binary<arith::ShRUIOp>(rounded, m.c(dropped)),
                       m.c((127 - format.bias) << format.mantissa));
  // Subnormal: the sum with a power of two whose last bit is the format's step.
  ScalarMath real(m.b, m.loc, m.b.getF32Type(), false);
  double power = std::ldexp(1.0, 24 - format.bias - format.mantissa);
  Value sum = real.add(number(m.b, m.loc, magnitude), real.c(power));
  Value origin = m.b.create<arith::BitcastOp>(m.loc, m.type, real.c(power));
  Value subnormal = m.sub(m.b.create<arith::BitcastOp>(m.loc, m.type, sum), origin);
  uint32_t least = uint32_t(128 - format.bias) << 23;
  return m.select(m.lt(magnitude, m.c(least)), subnormal, normal);
}

Value encodeNarrow(OpBuilder &b, Location loc, Value x, K kind, NarrowRounding rounding) {
  if (!isConverted(kind) || !rounding.saturate)
    return encodeNarrowByBits(b, loc, x, kind, rounding);
  ScalarMath m(b, loc, b.getF32Type(), false);
  double most = greatestNarrow(kind);
  Value inside = m.min(m.max(x, m.c(-most)), m.c(most));
  Type type = onnx::elementTypeOf(kind, b.getContext());
  Value narrow = b.create<arith::TruncFOp>(loc, type, inside);
  return b.create<arith::BitcastOp>(loc, b.getI8Type(), narrow);
}

double greatestNarrow(K kind) {
  return onnx::decodeNarrow(kind, static_cast<uint8_t>(NarrowFormat::of(kind).most));
}

Value encodeNarrowByBits(OpBuilder &b, Location loc, Value x, K kind, NarrowRounding rounding) {
  ScalarMath m = bitMath(b, loc);
  Value raw = b.create<arith::BitcastOp>(loc, m.type, x);
  Type byte = b.getI8Type();
  Value magnitude = m.binary<arith::AndIOp>(raw, m.c(0x7fffffff));
  if (kind == K::F8E8M0)
    return b.create<arith::TruncIOp>(loc, byte, encodePower(m, magnitude, rounding));
  NarrowFormat format = NarrowFormat::of(kind);
  Value code = roundedCode(m, magnitude, format);
  // f4E2M1 has neither infinity nor NaN.
  Value beyond = m.c(format.most);
  if (!rounding.saturate && format.nan)
    beyond = m.c(format.infinity.value_or(*format.nan));
  Value inside = m.le(code, m.c(format.most));
  code = m.select(inside, code, beyond);
  Value sign = m.binary<arith::ShRUIOp>(m.binary<arith::AndIOp>(raw, m.c(0x80000000)),
                                        m.c(32 - format.bits));
  if (!format.signedZero)
    sign = m.select(m.eq(code, m.c(0)), m.c(0), sign);
  code = m.binary<arith::OrIOp>(code, sign);
  // Where there is no NaN, it becomes -0, as in ONNX's node tests.
  Value isNaN = m.lt(m.c(kF32Infinity), magnitude);
  code = m.select(isNaN, m.c(format.nan.value_or(1u << (format.bits - 1))), code);
  return b.create<arith::TruncIOp>(loc, byte, code);
}

//===-- Integers ------------------------------------------------------------------------------===//

Value wrapNarrow(OpBuilder &b, Location loc, Value byte, Type type) {
  unsigned bits = packedBits(type);
  if (bits == 0)
    return byte;
  ScalarMath m(b, loc, b.getI8Type(), false);
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isUnsigned())
    return m.binary<arith::AndIOp>(byte, m.c((1 << bits) - 1));
  return m.binary<arith::ShRSIOp>(m.binary<arith::ShLIOp>(byte, m.c(8 - bits)), m.c(8 - bits));
}

} // namespace cameo
