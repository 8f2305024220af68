// Patterns of the operands of each instruction of a plan.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_PATTERNS_H
#define CAMEO_RUNTIME_CORE_PATTERNS_H

#include <cstdint>

namespace cameo::runtime {

// The fixed operands of an opcode, a letter a word; null for what is none.
//   r register that is read  R register that is written  b buffer that is used  B buffer that is
//   defined  s string  w any word  i input  h host-resident input  o output  p tap  k kernel
//   t jump target  d element type  n count of the tail  * tail: registers that are read, of LAUNCH
//   operands as its kernel has them  + tail: registers that are written
const char *operandPattern(uint32_t opcode);

} // namespace cameo::runtime

#endif
