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

static const CameoSimKernelInfo kernels[] = {
    {"scale", scale, 0, 64, 0, 0, 0, 0, {0, 0, 0}, 0, 0, 0},
    {"copy", copy, 0, 64, 0, 0, 0, 0, {0, 0, 0}, 0, 0, 0}};
static const CameoSimSite sites[] = {{"", "", "load of x"}, {"", "copy.mlir:2:3", "store to y"}};

__attribute__((visibility("default"))) const CameoSimImage cameo_sim_image = {
    VERSION, sizeof kernels / sizeof *kernels, 2, CHECKED, kernels, sites, 0, 0, 0};
