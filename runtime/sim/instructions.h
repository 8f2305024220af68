/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions of the GPU that compiled kernels leave to the engine, as both know them: part of the
 * ABI (abi.h). Plain C.
 *
 * An instruction is a 64-bit code: an opcode in the low byte, up to seven modifiers of a byte each
 * above it. Operands and results are 32-bit words in a buffer of the calling thread, operands
 * first, in PTX's order (matrix accumulators last, as in mma). 64-bit values and addresses take two
 * words, low word first; 16-bit values and predicates take one, zero-extended. Addresses are host
 * addresses.
 */
#ifndef CAMEO_SIM_INSTRUCTIONS_H
#define CAMEO_SIM_INSTRUCTIONS_H

#include <stdint.h>

/* instructions.def has them, with their modifiers. */
typedef enum CameoSimOpcode {
  CAMEO_SIM_OP_NONE = 0,
#define CAMEO_SIM_INSTRUCTION(NAME, ...) CAMEO_SIM_OP_##NAME,
#include "runtime/sim/instructions.def"
} CameoSimOpcode;

typedef enum CameoSimFact {
  /* The lanes of a warp execute it together. */
  CAMEO_SIM_COLLECTIVE = 1,
  /* It may wait for other threads without being collective. */
  CAMEO_SIM_BLOCKS = 2,
  /* Its results depend on its operands alone. */
  CAMEO_SIM_PURE = 4,
  /* Another thread may wait for what it does. */
  CAMEO_SIM_ARRIVES = 8,
  CAMEO_SIM_WRITES_GLOBAL = 16,
  /* It accesses memory through the asynchronous proxy (PTX ISA, "Memory Consistency Model:
   * Proxies"). */
  CAMEO_SIM_ASYNC_PROXY = 32
} CameoSimFact;

/* The facts of an opcode, or of a whole code: CameoSimFact bits. */
static inline uint32_t cameoSimFacts(uint64_t code) {
  switch (code & 0xff) {
#define CAMEO_SIM_INSTRUCTION(NAME, FUNCTION, KIND, FACTS, ...)                                    \
  case CAMEO_SIM_OP_##NAME:                                                                        \
    return FACTS;
#include "runtime/sim/instructions.def"
  default:
    return 0;
  }
}

/* Memory that an instruction's address lies in. */
typedef enum CameoSimSpace {
  CAMEO_SIM_GLOBAL = 0,
  CAMEO_SIM_SHARED,        /* of the thread's block */
  CAMEO_SIM_SHARED_CLUSTER /* of any block of the cluster */
} CameoSimSpace;

/* What memory a fence.proxy.async is for; or fence.proxy.tensormap, in its stead. */
typedef enum CameoSimFence {
  CAMEO_SIM_FENCE_ALL = 0,
  CAMEO_SIM_FENCE_GLOBAL,
  CAMEO_SIM_FENCE_SHARED,         /* of the thread's block */
  CAMEO_SIM_FENCE_SHARED_CLUSTER, /* of all blocks of the cluster */
  CAMEO_SIM_FENCE_MAPS
} CameoSimFence;

/* Threads among which a fence orders. */
typedef enum CameoSimScope {
  CAMEO_SIM_SCOPE_CTA = 0,
  CAMEO_SIM_SCOPE_CLUSTER,
  CAMEO_SIM_SCOPE_GPU,
  CAMEO_SIM_SCOPE_SYS /* and the host */
} CameoSimScope;

/* Types of matrix elements and of other operands. */
typedef enum CameoSimType {
  CAMEO_SIM_F16 = 0,
  CAMEO_SIM_BF16,
  CAMEO_SIM_TF32,
  CAMEO_SIM_F32,
  CAMEO_SIM_F64,
  CAMEO_SIM_S8,
  CAMEO_SIM_U8,
  CAMEO_SIM_S32,
  CAMEO_SIM_U32,
  CAMEO_SIM_S64,
  CAMEO_SIM_U64,
  CAMEO_SIM_F16X2,
  CAMEO_SIM_BF16X2,
  CAMEO_SIM_E4M3,
  CAMEO_SIM_E5M2,
  CAMEO_SIM_B128
} CameoSimType;

/* Of wgmma: A in registers, operands negated, operands with m or n as their fast dimension,
 * saturating. */
typedef enum CameoSimWgmma {
  CAMEO_SIM_WGMMA_REGISTERS = 1,
  CAMEO_SIM_WGMMA_NEGATE_A = 2,
  CAMEO_SIM_WGMMA_NEGATE_B = 4,
  CAMEO_SIM_WGMMA_TRANSPOSE_A = 8,
  CAMEO_SIM_WGMMA_TRANSPOSE_B = 16,
  CAMEO_SIM_WGMMA_SATURATE = 32
} CameoSimWgmma;

typedef enum CameoSimCombine {
  CAMEO_SIM_ADD = 0,
  CAMEO_SIM_MIN,
  CAMEO_SIM_MAX,
  CAMEO_SIM_AND,
  CAMEO_SIM_OR,
  CAMEO_SIM_XOR,
  CAMEO_SIM_EXCH,
  CAMEO_SIM_CAS,
  CAMEO_SIM_INC,
  CAMEO_SIM_DEC
} CameoSimCombine;

typedef enum CameoSimApprox {
  CAMEO_SIM_EX2 = 0,
  CAMEO_SIM_LG2,
  CAMEO_SIM_RCP,
  CAMEO_SIM_RSQRT,
  CAMEO_SIM_SQRT,
  CAMEO_SIM_SIN,
  CAMEO_SIM_COS,
  CAMEO_SIM_TANH
} CameoSimApprox;

/* PTX ISA, "Matrix Fragments": how many words a lane the accumulator of an mma or a wgmma has, from
 * word `first` on; its result follows, in as many. 0: another instruction. */
static inline uint32_t cameoSimSums(uint64_t code, uint32_t *first) {
  const uint32_t m = code >> 8 & 0xff, k = code >> 24 & 0xff, type = code >> 32 & 0xff;
  uint32_t bytes = 1;
  *first = 0;
  switch (code & 0xff) {
  case CAMEO_SIM_OP_MMA:
    if (type == CAMEO_SIM_F16 || type == CAMEO_SIM_BF16)
      bytes = 2;
    else if (type == CAMEO_SIM_TF32)
      bytes = 4;
    else if (type == CAMEO_SIM_F64)
      bytes = 8;
    *first = (m + 8) * k * bytes / 4 / 32;
    switch (code >> 48 & 0xff) {
    case CAMEO_SIM_F16:
      return m / 8;
    case CAMEO_SIM_F64:
      return m / 2;
    default:
      return m / 4;
    }
  case CAMEO_SIM_OP_WGMMA:
    *first = (code >> 40 & CAMEO_SIM_WGMMA_REGISTERS ? 4 : 2) + 3;
    return (code >> 32 & 0xff) == CAMEO_SIM_F16 ? m * 2 : m * 4;
  default:
    return 0;
  }
}

#endif
