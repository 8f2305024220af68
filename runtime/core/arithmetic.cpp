// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/arithmetic.h"

#include "runtime/format.h"
#include "runtime/mutant.h"

#include <cmath>
#include <cstring>

namespace cameo::runtime {

double asDouble(int64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

int64_t asBits(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

Status integerOf(uint32_t opcode, int64_t a, int64_t b, int64_t &result) {
  switch (opcode) {
  case CAMEO_OP_ADD:
    if (__builtin_add_overflow(a, b, &result))
      return failure(Code::OutOfRange, "size arithmetic overflows: %lld + %lld", (long long)a,
                     (long long)b);
    return {};
  case CAMEO_OP_SUB:
    if (__builtin_sub_overflow(a, b, &result))
      return failure(Code::OutOfRange, "size arithmetic overflows: %lld - %lld", (long long)a,
                     (long long)b);
    return {};
  case CAMEO_OP_MUL:
    if (__builtin_mul_overflow(a, b, &result))
      return failure(Code::OutOfRange, "size arithmetic overflows: %lld * %lld", (long long)a,
                     (long long)b);
    return {};
  case CAMEO_OP_DIV:
  case CAMEO_OP_REM:
  case CAMEO_OP_FLOORDIV:
  case CAMEO_OP_CEILDIV: {
    if (b == 0)
      return failure(Code::OutOfRange, "size arithmetic divides %lld by zero", (long long)a);
    if (b == -1) { // the one quotient that overflows
      if (opcode == CAMEO_OP_REM)
        result = 0;
      else if (__builtin_sub_overflow(int64_t(0), a, &result))
        return failure(Code::OutOfRange, "size arithmetic overflows: %lld / -1", (long long)a);
      return {};
    }
    int64_t quotient = a / b, rest = a % b;
    bool negative = (rest < 0) != (b < 0);
    result = opcode == CAMEO_OP_REM ? rest : quotient;
    if (opcode == CAMEO_OP_FLOORDIV && rest && negative)
      --result;
    if (opcode == CAMEO_OP_CEILDIV && rest && !negative)
      ++result;
    return {};
  }
  case CAMEO_OP_MIN:
    result = a < b ? a : b;
    return {};
  case CAMEO_OP_MAX:
    result = a > b ? a : b;
    return {};
  case CAMEO_OP_AND:
    result = CAMEO_MUTANT(24, a & b, a && b);
    return {};
  case CAMEO_OP_OR:
    result = a | b;
    return {};
  case CAMEO_OP_XOR:
    result = a ^ b;
    return {};
  case CAMEO_OP_EQ:
    result = a == b;
    return {};
  case CAMEO_OP_NE:
    result = a != b;
    return {};
  case CAMEO_OP_LT:
    result = a < b;
    return {};
  default:
    result = a <= b;
    return {};
  }
}

Status wrappingOf(uint32_t opcode, uint64_t a, uint64_t b, int64_t &result) {
  switch (opcode) {
  case CAMEO_OP_WRAP_ADD:
    result = int64_t(a + b);
    return {};
  case CAMEO_OP_WRAP_SUB:
    result = int64_t(a - b);
    return {};
  case CAMEO_OP_WRAP_MUL:
    result = int64_t(a * b);
    return {};
  default:
    if (b == 0)
      return failure(Code::OutOfRange, "size arithmetic divides %llu by zero",
                     (unsigned long long)a);
    result = int64_t(opcode == CAMEO_OP_DIV_UNSIGNED ? a / b : a % b);
    return {};
  }
}

int64_t floatingOf(uint32_t opcode, double a, double b) {
  switch (opcode) {
  case CAMEO_OP_FADD:
    return asBits(a + b);
  case CAMEO_OP_FSUB:
    return asBits(CAMEO_MUTANT(25, a - b, b - a));
  case CAMEO_OP_FMUL:
    return asBits(a * b);
  case CAMEO_OP_FDIV:
    return asBits(a / b);
  case CAMEO_OP_FMIN: // NaN wins, as in ONNX's Min and Max
    return asBits(std::isnan(a) || a < b ? a : b);
  case CAMEO_OP_FMAX:
    return asBits(std::isnan(a) || a > b ? a : b);
  case CAMEO_OP_FEQ:
    return a == b;
  case CAMEO_OP_FLT:
    return a < b;
  default:
    return CAMEO_MUTANT(26, a <= b, a < b);
  }
}

Status toInteger(double value, int64_t &result) {
  // 2^63 is exact as a double; NaN fails both comparisons.
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0))
    return failure(Code::OutOfRange, "size arithmetic: %g is not a 64-bit integer", value);
  result = int64_t(value);
  return {};
}

} // namespace cameo::runtime
