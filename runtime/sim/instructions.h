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

/* After each opcode its modifiers. Order is ABI. */
typedef enum CameoSimOpcode {
  CAMEO_SIM_OP_NONE = 0,
  CAMEO_SIM_OP_MMA,            /* m, n, k, type of a, of b, of c and d, satfinite */
  CAMEO_SIM_OP_LDMATRIX,       /* matrices, transposed */
  CAMEO_SIM_OP_STMATRIX,       /* matrices, transposed */
  CAMEO_SIM_OP_REDUX,          /* CameoSimCombine, type */
  CAMEO_SIM_OP_VOTE,           /* CameoSimVote */
  CAMEO_SIM_OP_MATCH,          /* all, bytes */
  CAMEO_SIM_OP_ELECT,          /* */
  CAMEO_SIM_OP_CP_ASYNC,       /* bytes, whether a source size follows */
  CAMEO_SIM_OP_CP_COMMIT,      /* */
  CAMEO_SIM_OP_CP_WAIT,        /* groups that may stay in flight; 255: wait for all copies */
  CAMEO_SIM_OP_CP_MBARRIER,    /* noinc: an arrival at an mbarrier once the copies are done */
  CAMEO_SIM_OP_BAR_ARRIVE,     /* */
  CAMEO_SIM_OP_ATOM,           /* CameoSimCombine, type, whether the old value is wanted, space */
  CAMEO_SIM_OP_APPROX,         /* CameoSimApprox, type */
  CAMEO_SIM_OP_MBAR_INIT,      /* */
  CAMEO_SIM_OP_MBAR_INVAL,     /* */
  CAMEO_SIM_OP_MBAR_ARRIVE,    /* whether a count follows, drop, state wanted, space, .noComplete */
  CAMEO_SIM_OP_MBAR_EXPECT_TX, /* whether it arrives, too; state wanted; space */
  CAMEO_SIM_OP_MBAR_WAIT,      /* whether it blocks, whether by parity */
  CAMEO_SIM_OP_NOTHING,        /* fences and hints: order and speed alone */
  CAMEO_SIM_OP_WGMMA,          /* n / 8, type of a, of b, of d, CameoSimWgmma bits */
  CAMEO_SIM_OP_TENSOR_LOAD,    /* dimensions, im2col, multicast */
  CAMEO_SIM_OP_TENSOR_STORE,   /* dimensions, CameoSimCombine or CAMEO_SIM_EXCH: a plain store */
  CAMEO_SIM_OP_BULK_LOAD,      /* multicast */
  CAMEO_SIM_OP_BULK_STORE,     /* */
  CAMEO_SIM_OP_BULK_COMMIT,    /* */
  CAMEO_SIM_OP_BULK_WAIT, /* groups that may stay in flight, whether it waits for reads alone */
  CAMEO_SIM_OP_CLUSTER_ARRIVE,   /* whether it releases, aligned */
  CAMEO_SIM_OP_CLUSTER_WAIT,     /* aligned */
  CAMEO_SIM_OP_MAPA,             /* */
  CAMEO_SIM_OP_CTA_RANK,         /* of an address */
  CAMEO_SIM_OP_CLUSTER_LOAD,     /* words, bytes of each */
  CAMEO_SIM_OP_CLUSTER_STORE,    /* words, bytes of each */
  CAMEO_SIM_OP_ASYNC_STORE,      /* words, bytes of each */
  CAMEO_SIM_OP_ASYNC_REDUCE,     /* CameoSimCombine, type */
  CAMEO_SIM_OP_BULK_SHARED,      /* a bulk copy from shared memory to that of the cluster */
  CAMEO_SIM_OP_MBAR_COMPLETE_TX, /* space */
  CAMEO_SIM_OP_PREFETCH_MAP,     /* */
  CAMEO_SIM_OP_PARTED, /* lanes (32 bits above the modifiers 0 to 2) take a branch, others not */
  CAMEO_SIM_OP_PROXY_FENCE,     /* fence.proxy.async: CameoSimFence */
  CAMEO_SIM_OP_MBAR_INIT_FENCE, /* fence.mbarrier_init */
  CAMEO_SIM_OP_WGMMA_FENCE,     /* */
  CAMEO_SIM_OP_WGMMA_COMMIT,    /* */
  CAMEO_SIM_OP_WGMMA_WAIT,      /* groups that may stay in flight */
  CAMEO_SIM_OP_UNDEFINED, /* lanes that count; an operand at the site has no value, which it should
                             have from the site of the 32 bits above the modifiers 0 to 2, minus
                             one; 0: not known */
  CAMEO_SIM_OP_MAP_FENCE  /* fence.proxy.tensormap: whether it acquires, CameoSimScope */
} CameoSimOpcode;

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

#endif
