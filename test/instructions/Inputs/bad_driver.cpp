// A libcuda.so.1 with which everything succeeds and nothing is done, but for the kernel named in
// BAD_KERNEL: BAD_RESULT is 600 where it never ends, 701 where its launch is refused, or an error
// that it causes and from which the context does not recover. Where MAP_PARAMETER is a number, says
// of each launch whether that parameter is a tensor map that this driver has encoded.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/driver_types.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace cameo::runtime::cuda;

namespace {
CUresult streamResult = CUDA_SUCCESS;
const char *kernel = "";
constexpr char kMapByte = 0x5a;
} // namespace

// Those that do something are below, under their own names.
#define cuGetErrorName unusedErrorName
#define cuDeviceGetCount unusedCount
#define cuDriverGetVersion unusedVersion
#define cuModuleGetFunction unusedFunction
#define cuLaunchKernel unusedLaunch
#define cuEventQuery unusedQuery
#define cuStreamSynchronize unusedSynchronize
#define CAMEO_CUDA_SYMBOL(name, ...)                                                               \
  extern "C" CUresult name(__VA_ARGS__) { return CUDA_SUCCESS; }
#define CAMEO_CUDA_OPTIONAL CAMEO_CUDA_SYMBOL
#include "runtime/cuda/driver_symbols.def"
#undef cuGetErrorName
#undef cuDeviceGetCount
#undef cuDriverGetVersion
#undef cuModuleGetFunction
#undef cuLaunchKernel
#undef cuEventQuery
#undef cuStreamSynchronize

extern "C" {

CUresult cuGetErrorName(CUresult, const char **name) {
  *name = "CUDA_ERROR";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *name) {
  kernel = name;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void **parameters, void **) {
  if (const char *number = getenv("MAP_PARAMETER")) {
    auto *map = static_cast<const char *>(parameters[atoi(number)]);
    bool encoded = reinterpret_cast<uintptr_t>(map) % 64 == 0;
    for (int i = 0; encoded && i < 128; ++i)
      encoded = map[i] == kMapByte;
    fprintf(stderr, "%s: %s\n", kernel, encoded ? "a tensor map" : "something else");
  }
  const char *bad = getenv("BAD_KERNEL"), *result = getenv("BAD_RESULT");
  if (!bad || !result || strcmp(bad, kernel))
    return CUDA_SUCCESS;
  CUresult wanted = CUresult(atoi(result));
  if (wanted == 701) // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, of the launch alone
    return wanted;
  streamResult = wanted;
  return CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeTiled(void *map, int, uint32_t, void *, const uint64_t *,
                                const uint64_t *, const uint32_t *, const uint32_t *, int, int, int,
                                int) {
  memset(map, kMapByte, 128);
  return CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeIm2col(void *map, int, uint32_t, void *, const uint64_t *,
                                 const uint64_t *, const int *, const int *, uint32_t, uint32_t,
                                 const uint32_t *, int, int, int, int) {
  memset(map, kMapByte, 128);
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent) { return streamResult; }
CUresult cuStreamSynchronize(CUstream) {
  while (streamResult == CUDA_ERROR_NOT_READY)
    pause();
  return streamResult;
}

} // extern "C"
