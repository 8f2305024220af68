// The frame of the fake driver's entry points, and what those for devices and those for streams
// share. SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_FAKE_CUDA_ENTRY_H
#define CAMEO_TEST_RUNTIME_FAKE_CUDA_ENTRY_H

#include "fake_cuda_state.h"

extern "C" {
// Declared from the one list of driver functions: a definition that differs does not compile.
#define CAMEO_CUDA_SYMBOL(name, ...)                                                               \
  __attribute__((visibility("default"))) cameo::rt::cuda::CUresult name(__VA_ARGS__);
using namespace cameo::rt::cuda;
#include "runtime/cuda/driver_symbols.def"

// What Cameo does not call, but its callers do.
#define FAKE_CUDA_SYMBOL __attribute__((visibility("default"))) cameo::rt::cuda::CUresult
FAKE_CUDA_SYMBOL cuStreamBeginCapture_v2(CUstream stream, int mode);
FAKE_CUDA_SYMBOL cuStreamEndCapture(CUstream stream, CUgraph *graph);
}

namespace fakecuda {

enum Needs { Nothing, Initialised, Context };

/// The frame of every entry point: takes the lock, records the call, and says whether it may go on.
struct Call {
  std::lock_guard<std::recursive_mutex> lock;
  CUresult error = CUDA_SUCCESS;

  Call(const char *name, Needs needs, const std::string &detail = "");
};

#define ENTER(...)                                                                                 \
  Call call(__func__, __VA_ARGS__);                                                                \
  if (call.error)                                                                                  \
  return call.error

// A release: an injected failure is reported after the release has been done, as the driver reports
// failures of earlier work.
#define ENTER_RELEASE(...) Call call(__func__, __VA_ARGS__)

template <typename Handle> uint64_t number(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}
template <typename Handle> Handle handle(uint64_t value) { return reinterpret_cast<Handle>(value); }

/// 0 and 1 are the legacy default stream, 2 is the thread's: they always exist.
inline uint64_t streamId(CUstream stream) { return number(stream) == 1 ? 0 : number(stream); }

inline std::string bytesOf(size_t bytes) { return std::to_string(bytes) + " B"; }

/// The thread's stack of current contexts.
std::vector<CUcontext> &contextStack();
int currentDevice();

struct LaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
};

/// The work of a launch, with its parameters copied; an error where the driver refuses it.
CUresult makeLaunch(const LaunchConfig &config, CUfunction function, void **parameters, Op &op);
std::string describe(const LaunchConfig &config, CUfunction function);
CUresult enqueueWork(CUstream stream, std::function<CUresult()> work);
CUresult runOp(const Op &op);

/// Runs everything enqueued so far on all streams.
CUresult drainAll();
/// Calls that a capture in this thread forbids spoil the capture.
CUresult forbiddenInCapture();

} // namespace fakecuda

#endif
