// Arithmetic of a plan's registers: 64 bits each, integers or doubles by the instruction.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_ARITHMETIC_H
#define CAMEO_RUNTIME_CORE_ARITHMETIC_H

#include "runtime/core/status.h"

#include <cstdint>

namespace cameo::runtime {

double asDouble(int64_t bits);
int64_t asBits(double value);

// From CAMEO_OP_ADD to CAMEO_OP_LE: an overflow and a division by zero are failures.
Status integerOf(uint32_t opcode, int64_t a, int64_t b, int64_t &result);
// From CAMEO_OP_WRAP_ADD to CAMEO_OP_REM_UNSIGNED.
Status wrappingOf(uint32_t opcode, uint64_t a, uint64_t b, int64_t &result);
// From CAMEO_OP_FADD to CAMEO_OP_FLE: a double's bits, or 0 or 1.
int64_t floatingOf(uint32_t opcode, double a, double b);
// Towards zero; a failure beyond 64 bits.
Status toInteger(double value, int64_t &result);

} // namespace cameo::runtime

#endif
