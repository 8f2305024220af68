/* GPUs by the name they are sold under, and what they can do at most: facts for estimates and for
 * the choice of schedules. Plain C, shared by the compiler and the runtime.
 *
 * Sources: NVIDIA's data sheets of the boards, and its architecture whitepapers (Turing, GA100,
 * GA102, Ada, Hopper, Blackwell) for multiprocessors, clocks and caches. No data sheet has the L2 cache of
 * H200 and GH200: 60 MiB is that of the whole chip. Rates a clock cycle: CUDA C++ Programming
 * Guide, "Arithmetic Instructions", and the whitepapers' Tensor Core figures. On an H200 mma.sync took 6.0
 * cycles a partition where those ask for 4, of f16, bf16, tf32 and s8 alike (operands in registers, 8
 * and 16 warps a multiprocessor, driver 580): 1365, 682 and 2700 multiply-adds a cycle. The clock was
 * 1800 MHz meanwhile, 1980 without products, 1560 under wgmma.
 *
 * Of Blackwell NVIDIA publishes what tcgen05 does, not mma.sync, and no code here uses the former:
 * rates of matrix instructions are those of sm_89 there, until one is measured, which `mma_of` says.
 * So are estimates, and schedules are chosen by what sm_89 would do with as many multiprocessors.
 * No data sheet has the L2 caches of b200, b300, thor and gb10, nor gb10's clock: they are what
 * drivers report. Multiprocessors of b200 and b300 are those that come to the sheets' FP32 at 1.98 GHz.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CAMEO_RUNTIME_BOARDS_H
#define CAMEO_RUNTIME_BOARDS_H

#include <stdint.h>
#include <string.h>

/* Multiply-adds a clock cycle and multiprocessor, by compute capability. Those of Tensor Cores are
 * of dense matrices; GeForce boards accumulate f16 products in f32 at half the rate. */
typedef struct CameoRates {
  uint32_t arch; /* 80 */
  uint32_t fp32, fp64;
  uint32_t fp16_mma, tf32_mma, int8_mma; /* 0: none */
  uint32_t mma_of;      /* whose these are: another one's where its own are not known */
  uint32_t sync_thirds; /* how many of three thirds of them mma.sync reaches; wgmma reaches all */
} CameoRates;

static const CameoRates cameoRates[] = {
    {75, 64, 2, 512, 0, 1024, 75, 3},      {80, 64, 32, 1024, 512, 2048, 80, 3},
    {86, 128, 2, 512, 256, 1024, 86, 3},   {87, 128, 2, 1024, 512, 2048, 87, 3},
    {89, 128, 2, 512, 256, 1024, 89, 3},   {90, 128, 64, 2048, 1024, 4096, 90, 2},
    {100, 128, 64, 512, 256, 1024, 89, 3}, {103, 128, 2, 512, 256, 1024, 89, 3},
    {110, 128, 2, 512, 256, 1024, 89, 3},  {120, 128, 2, 512, 256, 1024, 89, 3},
    {121, 128, 2, 512, 256, 1024, 89, 3},
};

/* Multiply-adds a clock cycle and multiprocessor by mma.sync, of one of the matrix rates above. */
static inline double cameoSyncRate(const CameoRates *rates, uint32_t rate) {
  return rate * rates->sync_thirds / 3.0;
}

/* How long things take that no data sheet says, by compute capability: what estimates of kernels' times
 * (codegen/schedule/TimeModel.h) go by. */
typedef struct CameoTiming {
  uint32_t arch;
  double
      launch_us; /* of a kernel: the gap before it, and the time in which it fills and empties the GPU */
  double gap_us;  /* between two kernels of a graph: the least of that */
  double l2_rate; /* bytes a clock cycle and multiprocessor, to and from the L2 cache */
  /* Clock cycles: from a load of global memory to its value, with others under way; from a matrix
   * instruction of a warp to one that adds to its sums; of a barrier and what surrounds it. */
  double global_latency, matrix_latency, barrier;
  /* What resources that are not the one that takes longest add, of the time that they take: they are
   * not used evenly, and of two kernels that one resource limits alike the one that uses less of the
   * others is better. */
  double contention;
  double memory_share; /* of a board's memory bandwidth, which kernels reach */
  /* Of the works that TimeModel.h counts apart: cycles of shared memory that a turn takes, and instructions of
   * a warp for a conversion, a place, a check and an access to results. 0: not known, and not estimated. */
  double turn, conversion, place, check, result;
} CameoTiming;

/* Those of 90 are fitted to 2584 kernels' times on an H200, within what its own constants leave open
 * (docs/gpu-pack.md). The others are assumptions, the same for all: launches of 2 us; a gap of 0.5 us
 * (NVIDIA's technical blog, "Getting Started with CUDA Graphs"); GA100's 5120 bytes a cycle for 108
 * multiprocessors (its whitepaper); somewhat more than the 500 to 700 cycles of one load alone that is not in
 * a cache. */
static const CameoTiming cameoTimings[] = {
    {75, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
    {80, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
    {86, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
    {87, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
    {89, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
    {90, 1.35, 0.48, 45.5, 328, 28.8, 41, 0.145, 0.826, 2.23, 1.34, 37.6, 17.4, 23.0},
    {100, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
    {103, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
    {110, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
    {120, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
    {121, 2, 0.5, 47, 800, 33, 40, 0.1, 1, 0, 0, 0, 0, 0},
};

typedef struct CameoBoard {
  const char *name;
  uint32_t arch;
  uint32_t sm_count;
  uint32_t clock_mhz;        /* boost */
  uint32_t matrix_clock_mhz; /* boost with the Tensor Cores at work */
  uint32_t memory_gbps;
  uint32_t l2_kib;
  uint32_t memory_gb;
} CameoBoard;

/* The first of an architecture is what code for it is made for where no board is named. */
static const CameoBoard cameoBoards[] = {
    {"t4", 75, 40, 1590, 1590, 320, 4096, 16},
    {"rtx2080ti", 75, 68, 1545, 1545, 616, 5632, 11},
    {"a100-40", 80, 108, 1410, 1410, 1555, 40960, 40},
    {"a100-80-sxm", 80, 108, 1410, 1410, 2039, 40960, 80},
    {"a100-80-pcie", 80, 108, 1410, 1410, 1935, 40960, 80},
    {"a30", 80, 56, 1440, 1440, 933, 24576, 24},
    {"a10", 86, 72, 1695, 1695, 600, 6144, 24},
    {"a40", 86, 84, 1740, 1740, 696, 6144, 48},
    {"a6000", 86, 84, 1800, 1800, 768, 6144, 48},
    {"rtx3090", 86, 82, 1695, 1695, 936, 6144, 24},
    {"rtx3080", 86, 68, 1710, 1710, 760, 5120, 10},
    {"orin-agx-64", 87, 16, 1300, 1300, 205, 4096, 64},
    {"l4", 89, 58, 2040, 2040, 300, 49152, 24},
    {"l40s", 89, 142, 2520, 2520, 864, 98304, 48},
    {"rtx6000-ada", 89, 142, 2505, 2505, 960, 98304, 48},
    {"rtx4090", 89, 128, 2520, 2520, 1008, 73728, 24},
    {"rtx4080", 89, 76, 2505, 2505, 717, 65536, 16},
    {"rtx4060", 89, 24, 2460, 2460, 272, 24576, 8},
    {"h100-sxm", 90, 132, 1980, 1800, 3350, 51200, 80},
    {"h100-pcie", 90, 114, 1755, 1620, 2000, 51200, 80},
    {"h200", 90, 132, 1980, 1800, 4800, 61440, 141},
    {"gh200", 90, 132, 1980, 1800, 4000, 61440, 96},
    {"b200", 100, 148, 1980, 1980, 8000, 129024, 180},
    {"b300", 103, 148, 1980, 1980, 8000, 129024, 288},
    {"thor", 110, 20, 1575, 1575, 273, 32768, 128},
    {"rtx5090", 120, 170, 2407, 2407, 1792, 98304, 32},
    {"rtx5080", 120, 84, 2617, 2617, 960, 65536, 16},
    {"gb10", 121, 48, 2418, 2418, 273, 24576, 128},
};

/* Whether that is what the board is called: a100 is the first of a100-40, a100-80-sxm, ... */
static inline int cameoIsBoard(const CameoBoard *board, const char *name) {
  size_t length = strlen(name);
  return length && strncmp(board->name, name, length) == 0 &&
         (board->name[length] == 0 || board->name[length] == '-');
}

#endif
