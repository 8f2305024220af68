// Approximations (PTX ISA, "Floating Point Instructions", "Half Precision Floating Point
// Instructions").
//
// Model: the exact value, rounded to the type, with the PTX ISA's special values; so it is within
// the bounds that the ISA states, as a GPU is, but not the GPU's own value. Where these bounds are
// wide the value is coarsened, lest an algorithm that needs more passes here: tanh.approx.f32 to 12
// significant bits (bound: relative 2^-11), sin and cos to multiples of 2^-22 (bound: absolute
// 2^-20.9 within [-pi, pi]).
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/isa/formats.h"
#include "runtime/sim/isa/instruct.h"

#include <cmath>

namespace cameo::sim {
namespace {

float flush(float value) {
  uint32_t bits = bitsOf(value);
  return bits & 0x7f800000u ? value : floatOf(bits & 0x80000000u);
}

double exact(uint32_t function, double x) {
  switch (function) {
  case CAMEO_SIM_EX2:
    return exp2(x);
  case CAMEO_SIM_LG2:
    return log2(x);
  case CAMEO_SIM_RCP:
    return 1 / x;
  case CAMEO_SIM_RSQRT:
    return x == 0 ? copysign(INFINITY, x) : 1 / sqrt(x);
  case CAMEO_SIM_SQRT:
    return sqrt(x);
  case CAMEO_SIM_SIN:
    return std::isinf(x) ? NAN : sin(x);
  case CAMEO_SIM_COS:
    return std::isinf(x) ? NAN : cos(x);
  default:
    return tanh(x);
  }
}

/// To `bits` significant bits.
double coarsen(double value, int bits) {
  int exponent;
  double mantissa = frexp(value, &exponent);
  return std::isfinite(value) ? ldexp(nearbyint(ldexp(mantissa, bits)), exponent - bits) : value;
}

float approximate(uint32_t function, float x, bool flushes) {
  double value = exact(function, flushes ? flush(x) : x);
  if (function == CAMEO_SIM_TANH)
    value = coarsen(value, 12);
  if (function == CAMEO_SIM_SIN || function == CAMEO_SIM_COS)
    value = std::isnan(value) ? value : copysign(nearbyint(value * 0x1p22) * 0x1p-22, value);
  float result = float(value);
  return flushes ? flush(result) : result;
}

uint16_t approximateHalf(uint32_t function, uint16_t bits, bool bf16, bool flushes) {
  float x = bf16 ? bf16ToFloat(bits) : f16ToFloat(bits);
  float value = float(exact(function, flushes ? flush(x) : x));
  if (flushes)
    value = flush(value);
  return bf16 ? floatToBf16(value) : floatToF16(value);
}

} // namespace

void executeApprox(Instruction instruction, Fiber &, uint32_t *words, uint32_t) {
  uint32_t function = instruction.modifier(0), type = instruction.modifier(1);
  bool flushes = instruction.modifier(2);
  if (type == CAMEO_SIM_F32) {
    words[1] = bitsOf(approximate(function, floatOf(words[0]), flushes));
    return;
  }
  bool bf16 = type == CAMEO_SIM_BF16 || type == CAMEO_SIM_BF16X2;
  words[1] = approximateHalf(function, uint16_t(words[0]), bf16, flushes);
  if (type == CAMEO_SIM_F16X2 || type == CAMEO_SIM_BF16X2)
    words[1] |= uint32_t(approximateHalf(function, uint16_t(words[0] >> 16), bf16, flushes)) << 16;
}

} // namespace cameo::sim
