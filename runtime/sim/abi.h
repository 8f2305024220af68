/* SPDX-License-Identifier: Apache-2.0
 *
 * What simulated kernels and the simulator agree on. Plain C, shared by the compiler's code
 * generator and the runtime's engine.
 *
 * A simulator image is an ELF shared object without undefined symbols. It exports, for every
 * kernel `k`, a function `k` of type CameoSimKernel, and `cameo_sim_image` of type CameoSimImage.
 * Kernels reach the engine and the C library only through the thread context they are given, so an
 * image loads wherever the engine is, in an executable or in a shared library.
 *
 * A kernel has one or two forms. Its scalar form runs one thread; threads wait for each other in
 * the engine, each on a stack of its own. Its vectorised form runs 32 threads, all of which exist:
 * it is called with the context of the warp's first thread, those of the others follow at
 * thread_stride, and of the engine's functions it calls `barrier` and `warp_sync` once for the
 * whole warp, `instruction` and `access` with the context of the thread concerned, and
 * `warp_instruction`, `warp_matrices`, `warp_copies` and `warp_access`.
 */
#ifndef CAMEO_SIM_ABI_H
#define CAMEO_SIM_ABI_H

#include <stdint.h>

#define CAMEO_SIM_ABI_VERSION 11u

typedef struct CameoSimThread CameoSimThread;

/* args[i] points to the value of parameter i, as cuLaunchKernel's kernelParams: 128 bytes for a
 * tensor map, up to 8 for all else. */
typedef void (*CameoSimKernel)(CameoSimThread *thread, const void *const *args);

typedef enum CameoSimShuffle {
  CAMEO_SIM_SHFL_IDX = 0,
  CAMEO_SIM_SHFL_UP = 1,
  CAMEO_SIM_SHFL_DOWN = 2,
  CAMEO_SIM_SHFL_BFLY = 3
} CameoSimShuffle;

typedef enum CameoSimVote {
  CAMEO_SIM_VOTE_ANY = 0,
  CAMEO_SIM_VOTE_ALL = 1,
  CAMEO_SIM_VOTE_UNI = 2,
  CAMEO_SIM_VOTE_BALLOT = 3
} CameoSimVote;

typedef enum CameoSimAccess {
  CAMEO_SIM_READ = 0,
  CAMEO_SIM_WRITE = 1,
  CAMEO_SIM_ATOMIC = 2
} CameoSimAccess;

/* How image.def's members are declared. */
#define CAMEO_SIM_MEMBER_TEXT(NAME) const char *NAME;
#define CAMEO_SIM_MEMBER_ENTRY(NAME) CameoSimKernel NAME;
#define CAMEO_SIM_MEMBER_WORD(NAME) uint32_t NAME;
#define CAMEO_SIM_MEMBER_OFFSET(NAME) int32_t NAME;
#define CAMEO_SIM_MEMBER_SIZES(NAME) uint32_t NAME[3];
#define CAMEO_SIM_MEMBER_COUNTS(NAME) uint32_t NAME[CAMEO_SIM_COUNTS];
#define CAMEO_SIM_MEMBER_ROWS(NAME, ROW) const ROW *NAME;

typedef struct CameoSimAccessSite {
#define CAMEO_SIM_ACCESS_SITE(KIND, ...) CAMEO_SIM_MEMBER_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
} CameoSimAccessSite;

#define CAMEO_SIM_ALL_LANES 0xffffffffu

/* What the instructions of a basic block do besides access to shared and global memory, of which
 * the engine is told access by access: operations on one element each, and bytes. As the code
 * generator wrote them, before LLVM. Order is ABI. */
typedef enum CameoSimCount {
  CAMEO_SIM_COUNT_F32_FMA = 0,
  CAMEO_SIM_COUNT_F32,
  CAMEO_SIM_COUNT_F64_FMA,
  CAMEO_SIM_COUNT_F64,
  CAMEO_SIM_COUNT_F16,     /* and bf16 */
  CAMEO_SIM_COUNT_INTEGER, /* logic, comparisons, selections and addresses, too */
  CAMEO_SIM_COUNT_CONVERSION,
  CAMEO_SIM_COUNT_SPECIAL,    /* roots, exponentials and the like, as one each */
  CAMEO_SIM_COUNT_LOCAL_READ, /* bytes of a thread's own memory */
  CAMEO_SIM_COUNT_LOCAL_WRITTEN,
  CAMEO_SIM_COUNTS
} CameoSimCount;

/* How a traced value is to be written. */
typedef enum CameoSimValue {
  CAMEO_SIM_VALUE_INTEGER = 0, /* signed */
  CAMEO_SIM_VALUE_FLOAT,
  CAMEO_SIM_VALUE_BF16,
  CAMEO_SIM_VALUE_POINTER,
  CAMEO_SIM_VALUE_NONE
} CameoSimValue;

/* One-argument and two-argument functions of the C library that kernels may call; the code
 * generator refuses any other external function. Order is ABI. */
/* clang-format does not come to rest on lists of macro calls. */
/* clang-format off */
#define CAMEO_SIM_MATH1(X) \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(erf) X(cbrt)
/* clang-format on */
#define CAMEO_SIM_MATH2(X) X(pow) X(fmod) X(atan2)

typedef struct CameoSimStep {
#define CAMEO_SIM_STEP(KIND, ...) CAMEO_SIM_MEMBER_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
} CameoSimStep;

/* What cp.async is given by the lanes of a warp. */
typedef struct CameoSimWarpCopy {
  char *targets[32];
  char *sources[32];
  uint32_t sizes[32]; /* of the sources, for instructions that have one */
} CameoSimWarpCopy;

/* Calls from kernels into the engine. `site` indexes the image's site table. Every call may switch
 * to another fiber; the thread context stays valid. */
typedef struct CameoSimApi {
  uint32_t version;       /* CAMEO_SIM_ABI_VERSION */
  uint32_t thread_stride; /* bytes between the contexts of a warp's threads */
  /* bar.sync id, count (threads; 0 means all threads of the block). */
  void (*barrier)(CameoSimThread *, uint32_t id, uint32_t count, uint32_t site);
  /* shfl.sync with PTX semantics of operands b and c; the result's bit 32 is the predicate. */
  uint64_t (*shuffle)(CameoSimThread *, uint32_t kind, uint32_t mask, uint32_t value, uint32_t b,
                      uint32_t c, uint32_t site);
  /* vote.sync; any, all, uni give 0 or 1. */
  uint32_t (*vote)(CameoSimThread *, uint32_t kind, uint32_t mask, uint32_t predicate,
                   uint32_t site);
  void (*warp_sync)(CameoSimThread *, uint32_t mask, uint32_t site);
  /* Instrumented images only: before each access of shared or global memory. address is a host
   * address; space as in PTX addressing (1 global, 3 shared, 7 of the cluster) in its low byte,
   * above it the number of the parameter that the address is derived from, plus one, or 0 where
   * that is not known; alignment is what the instruction requires, in bytes. Returns the address to
   * access: the one given, or a scratch location of `bytes` bytes after a reported fault, so that
   * the kernel can go on. */
  void *(*access)(CameoSimThread *, void *address, uint32_t bytes, uint32_t alignment,
                  uint32_t space, uint32_t kind, uint32_t site);
  /* Instructions of instructions.h, with operands in `words`, where results come to lie. The second
   * function is for those that wait for other threads: `mask` names the lanes of the warp that
   * execute a collective one. */
  void (*instruction)(CameoSimThread *, uint64_t code, uint32_t *words, uint32_t site);
  void (*blocking_instruction)(CameoSimThread *, uint64_t code, uint32_t mask, uint32_t *words,
                               uint32_t site);
  /* Collective instructions, from the vectorised form: word i of lane l, of `count` words a lane,
   * is words[32 * i + l]. */
  void (*warp_instruction)(CameoSimThread *, uint64_t code, uint32_t *words, uint32_t count,
                           uint32_t site);
  /* `count` matrix instructions, from the vectorised form. Their operands and results are rows of
   * 32 words: word i of lane l is rows[32 * places[first + i] + l]. A result may lie where the
   * accumulator lies that it is made of. No instruction's operands but for accumulators are results
   * of those before it in the same call. */
  void (*warp_matrices)(CameoSimThread *, const CameoSimStep *steps, uint32_t count, uint32_t *rows,
                        const uint32_t *places);
  /* `count` instructions of cp.async, its commits and waits, of all lanes of a warp, from the warp
   * form: in a kernel that has no others. `copies` has what they are given, for each that copies.
   */
  void (*warp_copies)(CameoSimThread *, const CameoSimStep *steps, uint32_t count,
                      const CameoSimWarpCopy *copies);
  /* C library functions: float and double versions, in the lists' order. */
#define CAMEO_SIM_DECLARE1(NAME)                                                                   \
  float (*NAME##f)(float);                                                                         \
  double (*NAME)(double);
#define CAMEO_SIM_DECLARE2(NAME)                                                                   \
  float (*NAME##f)(float, float);                                                                  \
  double (*NAME)(double, double);
  CAMEO_SIM_MATH1(CAMEO_SIM_DECLARE1)
  CAMEO_SIM_MATH2(CAMEO_SIM_DECLARE2)
#undef CAMEO_SIM_DECLARE1
#undef CAMEO_SIM_DECLARE2
  /* Instrumented images only: as access, from the vectorised form, for `count` instructions, which
   * are in order but for reads among each other and writes among each other. Those that differ in
   * their sites and offsets alone follow one another. Returns 0 if they may access the addresses
   * they have. If not, returns 1, and `allowed` has the addresses instead: lane l of instruction i
   * is to access allowed[32 * i + l]. What lies at `accesses` is the same throughout a launch. */
  uint32_t (*warp_access)(CameoSimThread *, const CameoSimAccessSite *accesses, uint32_t count,
                          char *const *addresses, const uint8_t *lanes, char **allowed);
  /* Traced images only: the instruction at `site` has been executed, with `count` elements of
   * `bits` bits each as its result, whose kind is a CameoSimValue. */
  void (*trace)(CameoSimThread *, const void *elements, uint32_t count, uint32_t bits,
                uint32_t kind, uint32_t site);
} CameoSimApi;

/* What a kernel reads directly; the engine's own state follows it. */
struct CameoSimThread {
  const CameoSimApi *api;
  /* This block's shared memory window, 256 KiB aligned. Those of a cluster's blocks follow one
   * another in the order of their ranks. */
  char *shared;
  uint32_t tid[3];
  uint32_t ctaid[3];
  uint32_t ntid[3];
  uint32_t nctaid[3];
  uint32_t lane;
  uint32_t warp;
  uint32_t clusterid[3];
  uint32_t nclusterid[3];
  uint32_t cluster_ctaid[3];
  uint32_t cluster_nctaid[3];
  uint32_t cluster_ctarank;
  uint32_t cluster_nctarank;
  /* The vectorised form: draws the order of lanes where it can be seen. 0: lowest first. */
  uint32_t lane_order;
  uint32_t reserved;
  /* Instrumented images only: executions[i] counts how often threads execute basic block i of the
   * kernel. The kernel does the counting. */
  uint64_t *executions;
};

typedef struct CameoSimSite {
#define CAMEO_SIM_SITE(KIND, ...) CAMEO_SIM_MEMBER_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
} CameoSimSite;

typedef struct CameoSimKernelInfo {
#define CAMEO_SIM_KERNEL_INFO(KIND, ...) CAMEO_SIM_MEMBER_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
} CameoSimKernelInfo;

typedef struct CameoSimBasicBlock {
#define CAMEO_SIM_BASIC_BLOCK(KIND, ...) CAMEO_SIM_MEMBER_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
} CameoSimBasicBlock;

typedef struct CameoSimTarget {
#define CAMEO_SIM_TARGET(KIND, ...) CAMEO_SIM_MEMBER_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
} CameoSimTarget;

typedef struct CameoSimImage {
#define CAMEO_SIM_IMAGE(KIND, ...) CAMEO_SIM_MEMBER_##KIND(__VA_ARGS__)
#include "runtime/sim/image.def"
} CameoSimImage;

#endif
