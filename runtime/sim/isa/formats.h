// Small floating-point formats, converted one number at a time. Everything here has internal
// linkage: files with their own instruction set include it.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_FORMATS_H
#define CAMEO_SIM_FORMATS_H

#include <cstdint>
#include <cstring>
#ifdef __F16C__
#include <immintrin.h>
#endif

namespace cameo::sim {

static inline float floatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t bitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float f16ToFloat(uint16_t bits) {
#ifdef __F16C__
  return _cvtsh_ss(bits);
#else
  uint32_t sign = uint32_t(bits & 0x8000) << 16, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00) // infinities and NaN
    return floatOf(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
  if (magnitude < 0x400) // zero and denormals: units of 2^-24
    return floatOf(sign | bitsOf(float(magnitude) * 0x1p-24f));
  return floatOf(sign | ((magnitude << 13) + (112u << 23)));
#endif
}

/// To nearest even; NaN becomes 0x7fff, as PTX's cvt.rn.f16.f32 has it.
static inline uint16_t floatToF16(float value) {
  uint32_t bits = bitsOf(value);
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return 0x7fff;
  if (magnitude >= 0x477ff000u) // from 65520 on
    return uint16_t(sign | 0x7c00);
  if (magnitude < 0x38800000u) // below 2^-14: adding 0.5 leaves multiples of 2^-24, rounded
    return uint16_t(sign | (bitsOf(floatOf(magnitude) + 0.5f) - bitsOf(0.5f)));
  uint32_t odd = magnitude >> 13 & 1;
  return uint16_t(sign | ((magnitude - (112u << 23) + 0xfff + odd) >> 13));
}

static inline float bf16ToFloat(uint16_t bits) { return floatOf(uint32_t(bits) << 16); }

/// To nearest even; NaN becomes 0x7fff.
static inline uint16_t floatToBf16(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Exponent 4 bits, mantissa 3, no infinities; NaN is all ones.
static inline float e4m3ToFloat(uint8_t bits) {
  uint32_t sign = uint32_t(bits & 0x80) << 24, magnitude = bits & 0x7fu;
  if (magnitude == 0x7f)
    return floatOf(sign | 0x7fc00000u);
  if (magnitude < 8) // units of 2^-9
    return floatOf(sign | bitsOf(float(magnitude) * 0x1p-9f));
  return floatOf(sign | ((magnitude << 20) + (120u << 23)));
}

/// The upper half of an f16.
static inline float e5m2ToFloat(uint8_t bits) { return f16ToFloat(uint16_t(bits << 8)); }

/// What .satfinite makes of a float: the nearest number of `mantissa` bits behind the leading one,
/// ties to even, with an exponent's bias and no more than the code `most`; NaN is 0x7f.
static inline uint8_t floatToF8(float value, int mantissa, int bias, uint32_t most) {
  uint32_t bits = bitsOf(value), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return 0x7f;
  uint32_t code;
  if (magnitude < uint32_t(128 - bias)
                      << 23) { // units of the least number, which the sum rounds to
    float unit = floatOf(uint32_t(151 - bias - mantissa) << 23);
    code = bitsOf(floatOf(magnitude) + unit) - bitsOf(unit);
  } else {
    int dropped = 23 - mantissa;
    uint32_t odd = magnitude >> dropped & 1;
    code = ((magnitude + (1u << (dropped - 1)) - 1 + odd) >> dropped) -
           (uint32_t(127 - bias) << mantissa);
  }
  return uint8_t((code < most ? code : most) | (bits >> 24 & 0x80));
}

static inline uint8_t floatToE4m3(float value) { return floatToF8(value, 3, 7, 0x7e); }
static inline uint8_t floatToE5m2(float value) { return floatToF8(value, 2, 15, 0x7b); }

} // namespace cameo::sim

#endif
