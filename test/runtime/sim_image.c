/* SPDX-License-Identifier: Apache-2.0
 * A simulator image as the code generator makes them, for the tests of the loader. */
#include "runtime/sim/abi.h"

#ifndef VERSION
#define VERSION CAMEO_SIM_ABI_VERSION
#endif

__attribute__((visibility("default"))) void scale(CameoSimThread *thread, const void *const *args) {
  float *x = *(float *const *)args[0];
  x[thread->tid[0]] *= 2;
}

static const CameoSimKernelInfo kernels[] = {{"scale", scale, 0, 64}};
static const CameoSimSite sites[] = {{"", "", ""}};

__attribute__((visibility("default"))) const CameoSimImage cameo_sim_image = {VERSION, 1, 1, 0,
                                                                              kernels, sites};
