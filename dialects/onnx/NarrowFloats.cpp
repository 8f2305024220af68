// Floats of 8 and 4 bits.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/NarrowFloats.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>

namespace cameo::onnx {

using K = ElementKind;

bool isNarrowFloat(ElementKind kind) {
  switch (kind) {
  case K::F8E4M3FN:
  case K::F8E4M3FNUZ:
  case K::F8E5M2:
  case K::F8E5M2FNUZ:
  case K::F8E8M0:
  case K::F4E2M1:
    return true;
  default:
    return false;
  }
}

NarrowFormat NarrowFormat::of(ElementKind kind) {
  switch (kind) {
  case K::F8E4M3FN:
    return {3, 7, 8, 0x7e, {}, 0x7f, true};
  case K::F8E4M3FNUZ:
    return {3, 8, 8, 0x7f, {}, 0x80, false};
  case K::F8E5M2:
    return {2, 15, 8, 0x7b, 0x7c, 0x7f, true};
  case K::F8E5M2FNUZ:
    return {2, 16, 8, 0x7f, {}, 0x80, false};
  default: // f4E2M1
    return {1, 1, 4, 0x7, {}, {}, true};
  }
}

static float decodePower(uint32_t code) {
  // 2^-127 is subnormal; the last code is NaN.
  return llvm::bit_cast<float>(code == 0 ? 0x00400000 : code == 255 ? 0x7fc00000 : code << 23);
}

float decodeNarrow(ElementKind kind, uint8_t code) {
  if (kind == K::F8E8M0)
    return decodePower(code);
  NarrowFormat format = NarrowFormat::of(kind);
  uint32_t sign = 1u << (format.bits - 1), magnitude = code & (sign - 1);
  if (format.nan && !format.infinity && (*format.nan < sign ? magnitude : code) == *format.nan)
    return llvm::bit_cast<float>(0x7fc00000);
  // Exponent and mantissa of the narrow float are those of a small float, subnormal ones too.
  float small = llvm::bit_cast<float>(magnitude << (23 - format.mantissa));
  float value = small * std::ldexp(1.0f, 127 - format.bias);
  if (format.infinity && magnitude >= *format.infinity)
    value = llvm::bit_cast<float>(magnitude == *format.infinity ? 0x7f800000 : 0x7fc00000);
  return code & sign ? llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(value) | 0x80000000) : value;
}

/// The exponent of a magnitude, rounded as asked for: the sign is lost, and infinity is NaN.
static uint8_t encodePower(uint32_t magnitude, NarrowRounding rounding) {
  if (magnitude >= 0x7f800000)
    return 255;
  uint32_t exponent = magnitude >> 23, mantissa = magnitude & 0x007fffff;
  if (rounding.powers != "down") {
    // Code 0 is 2^-127, whose float is subnormal, with half of the mantissa's range.
    bool up = rounding.powers == "up";
    uint32_t most = exponent == 0 ? (up ? 0x400000 : 0x5fffff) : up ? 0 : 0x3fffff;
    exponent += mantissa > most;
  }
  return static_cast<uint8_t>(std::min(exponent, rounding.saturate ? 254u : 255u));
}

/// The code of the nearest number to a magnitude, in a format without an end.
static uint32_t roundedCode(uint32_t magnitude, const NarrowFormat &format) {
  if (magnitude < static_cast<uint32_t>(128 - format.bias) << 23) {
    // Subnormal: the sum with a power of two whose last bit is the format's step.
    float power = std::ldexp(1.0f, 24 - format.bias - format.mantissa);
    float sum = llvm::bit_cast<float>(magnitude) + power;
    return llvm::bit_cast<uint32_t>(sum) - llvm::bit_cast<uint32_t>(power);
  }
  // Normal: half of what is dropped is added, less one bit where the last kept one is even.
  int dropped = 23 - format.mantissa;
  uint32_t rounded = magnitude + (1u << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
  return (rounded >> dropped) - (static_cast<uint32_t>(127 - format.bias) << format.mantissa);
}

uint8_t encodeNarrow(ElementKind kind, float x, NarrowRounding rounding) {
  auto raw = llvm::bit_cast<uint32_t>(x);
  uint32_t magnitude = raw & 0x7fffffff;
  if (kind == K::F8E8M0)
    return encodePower(magnitude, rounding);
  NarrowFormat format = NarrowFormat::of(kind);
  // Where there is no NaN, it becomes -0, as in ONNX's node tests.
  if (magnitude > 0x7f800000)
    return static_cast<uint8_t>(format.nan.value_or(1u << (format.bits - 1)));
  uint32_t code = roundedCode(magnitude, format);
  if (code > format.most)
    code = !rounding.saturate && format.nan ? format.infinity.value_or(*format.nan) : format.most;
  if (!format.signedZero && code == 0)
    return 0;
  return static_cast<uint8_t>(code | (raw >> 31) << (format.bits - 1));
}

} // namespace cameo::onnx
