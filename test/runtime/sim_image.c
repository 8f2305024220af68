/* SPDX-License-Identifier: Apache-2.0
 * A simulator image as the code generator makes them, for the tests of loader and device. */
#include "runtime/sim/abi.h"

#ifndef VERSION
#define VERSION CAMEO_SIM_ABI_VERSION
#endif
#ifndef CHECKED
#define CHECKED 0
#endif

/* x[i] *= 2 */
__attribute__((visibility("default"))) void scale(CameoSimThread *thread, const void *const *args) {
  float *x = *(float *const *)args[0];
  x[thread->tid[0]] *= 2;
}

/* y[i + shift] = x[i], instrumented: (x, y, shift) */
__attribute__((visibility("default"))) void copy(CameoSimThread *thread, const void *const *args) {
  float *x = *(float *const *)args[0], *y = *(float *const *)args[1];
  int32_t shift = *(const int32_t *)args[2];
  uint32_t i = thread->ctaid[0] * thread->ntid[0] + thread->tid[0];
  const CameoSimApi *api = thread->api;
  float value = *(float *)api->access(thread, x + i, 4, 4, 1, CAMEO_SIM_READ, 0);
  *(float *)api->access(thread, y + (i + shift), 4, 4, 1, CAMEO_SIM_WRITE, 1) = value;
}

static int64_t *reach(CameoSimThread *thread, int64_t *at, uint8_t kind) {
  return (int64_t *)thread->api->access(thread, at, 8, 8, 1, kind, kind == CAMEO_SIM_WRITE);
}

/* A trip of a loop: to = {from[0] - 1, from[1] + step, from[0] > 1}: (from, to, step), which may be one. */
__attribute__((visibility("default"))) void advance(CameoSimThread *thread,
                                                    const void *const *args) {
  int64_t *from = *(int64_t *const *)args[0], *to = *(int64_t *const *)args[1];
  int64_t step = *(const int64_t *)args[2];
  if (thread->tid[0])
    return;
  int64_t left = *reach(thread, from, CAMEO_SIM_READ) - 1;
  int64_t sum = *reach(thread, from + 1, CAMEO_SIM_READ) + step;
  *reach(thread, to, CAMEO_SIM_WRITE) = left;
  *reach(thread, to + 1, CAMEO_SIM_WRITE) = sum;
  *reach(thread, to + 2, CAMEO_SIM_WRITE) = left > 0;
}

static const CameoSimKernelInfo kernels[] = {
    {"scale", scale, 0, 64, 0, 0, 0, 0, {0, 0, 0}, 0, 0, 0},
    {"copy", copy, 0, 64, 0, 0, 0, 0, {0, 0, 0}, 0, 0, 0},
    {"advance", advance, 0, 64, 0, 0, 0, 0, {0, 0, 0}, 0, 0, 0}};
static const CameoSimSite sites[] = {{"", "", "load of x"}, {"", "copy.mlir:2:3", "store to y"}};

__attribute__((visibility("default"))) const CameoSimImage cameo_sim_image = {
    VERSION, sizeof kernels / sizeof *kernels, 2, CHECKED, kernels, sites, 0, 0, 0};
