// What the tests of the fake driver itself share: a context that is current, kernels, and streams.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_FAKE_CUDA_TESTING_H
#define CAMEO_TEST_RUNTIME_FAKE_CUDA_TESTING_H

#include "fake_cuda_entry.h"

#include <gtest/gtest.h>

namespace fakecuda {

class FakeCuda : public testing::Test {
protected:
  void SetUp() override {
    reset();
    // *target += value; waits for nothing itself.
    registerKernel("add", {8, 4}, [](const Launch &launch) {
      *launch.pointer<int>(0) += launch.argument<int>(1);
    });
    registerKernel("double", {8}, [](const Launch &launch) { *launch.pointer<int>(0) *= 2; });
  }
  void TearDown() override {
    for (CUcontext popped; !contextStack().empty();)
      cuCtxPopCurrent_v2(&popped);
    reset();
  }

  // Makes device 0's context current, and loads the kernels.
  void open(DeviceSpec device = DeviceSpec()) {
    setDevices({device});
    CUcontext context = nullptr;
    ASSERT_EQ(cuInit(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    ASSERT_EQ(cuCtxPushCurrent_v2(context), 0);
    ASSERT_EQ(load({{"add", {8, 4}}, {"double", {8}}}), 0);
    add = function("add");
    twice = function("double");
    ASSERT_EQ(cuMemAlloc_v2(&memory, 64), 0);
    *value() = 0;
  }
  CUresult load(const std::vector<CubinKernel> &kernels) {
    const DeviceSpec &device = state().devices[0];
    std::vector<char> image = makeCubin(device.major * 10 + device.minor, kernels, false);
    return cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr);
  }
  CUfunction function(const char *name) {
    CUfunction result = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&result, module, name), 0);
    return result;
  }
  CUstream stream(unsigned flags = 0) {
    CUstream result = nullptr;
    EXPECT_EQ(cuStreamCreate(&result, flags), 0);
    return result;
  }
  CUevent event(unsigned flags = 0) {
    CUevent result = nullptr;
    EXPECT_EQ(cuEventCreate(&result, flags), 0);
    return result;
  }
  CUresult launch(CUfunction function, CUstream stream, std::vector<void *> arguments,
                  unsigned grid = 1, unsigned block = 32) {
    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, arguments.data(), nullptr);
  }
  CUresult launchAdd(CUstream stream, int amount) {
    return launch(add, stream, {&memory, &amount});
  }
  CUresult launchTwice(CUstream stream) { return launch(twice, stream, {&memory}); }
  float elapsed(CUevent start, CUevent stop) {
    float milliseconds = -1;
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, stop), 0);
    return milliseconds * 1000; // microseconds
  }
  // The kernels' variable, as it is on the GPU.
  int *value() const { return reinterpret_cast<int *>(memory); }

  CUstream legacy = nullptr;
  CUstream const legacyHandle = handle<CUstream>(1), perThread = handle<CUstream>(2);
  CUmodule module = nullptr;
  CUfunction add = nullptr, twice = nullptr;
  CUdeviceptr memory = 0;
};

} // namespace fakecuda

#endif
