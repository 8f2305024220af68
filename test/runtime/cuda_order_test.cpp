// The fake driver's order of work: streams, the default ones, events, and recording. Where work of
// two streams is not ordered, the result is that of the wrong order.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_testing.h"

#include <thread>

using namespace fakecuda;

namespace {

using CudaOrder = FakeCuda;

// (0 + 1) * 2 = 2 in order, 0 * 2 + 1 = 1 in the other.
constexpr int inOrder = 2, notOrdered = 1;

TEST_F(CudaOrder, WorkIsRunWhenSomethingWaits) {
  open();
  CUstream s = stream();
  ASSERT_EQ(launchAdd(s, 1), 0);
  EXPECT_EQ(*value(), 0);
  ASSERT_EQ(cuStreamSynchronize(s), 0);
  EXPECT_EQ(*value(), 1);
}

TEST_F(CudaOrder, StreamsAreNotOrdered) {
  open();
  CUstream a = stream(), b = stream();
  ASSERT_EQ(launchAdd(a, 1), 0);
  ASSERT_EQ(launchTwice(b), 0);
  ASSERT_EQ(cuStreamSynchronize(b), 0);
  ASSERT_EQ(cuStreamSynchronize(a), 0);
  EXPECT_EQ(*value(), notOrdered);
}

TEST_F(CudaOrder, AnEventOrdersThem) {
  open();
  CUstream a = stream(), b = stream();
  CUevent e = event();
  ASSERT_EQ(launchAdd(a, 1), 0);
  ASSERT_EQ(cuEventRecord(e, a), 0);
  ASSERT_EQ(cuStreamWaitEvent(b, e, 0), 0);
  ASSERT_EQ(cuEventRecord(e, a), 0) << "what was waited for is the first recording";
  ASSERT_EQ(launchTwice(b), 0);
  ASSERT_EQ(cuStreamSynchronize(b), 0);
  EXPECT_EQ(*value(), inOrder);
}

TEST_F(CudaOrder, DestroyedStreamsFinish) {
  open();
  CUstream a = stream(), b = stream();
  CUevent e = event();
  ASSERT_EQ(launchAdd(a, 1), 0);
  ASSERT_EQ(cuEventRecord(e, a), 0);
  ASSERT_EQ(cuStreamDestroy_v2(a), 0);
  EXPECT_EQ(*value(), 0) << "to destroy is not to wait";
  ASSERT_EQ(cuStreamWaitEvent(b, e, 0), 0);
  ASSERT_EQ(launchTwice(b), 0);
  ASSERT_EQ(cuStreamSynchronize(b), 0);
  EXPECT_EQ(*value(), inOrder);
}

// ---- The default streams ------------------------------------------------------------------------

TEST_F(CudaOrder, LegacyStreamWaitsForBlockingStreams) {
  open();
  for (CUstream later : {legacy, legacyHandle}) {
    *value() = 0;
    CUstream s = stream();
    ASSERT_EQ(launchAdd(s, 1), 0);
    ASSERT_EQ(launchTwice(later), 0);
    ASSERT_EQ(cuStreamSynchronize(later), 0);
    EXPECT_EQ(*value(), inOrder);
  }
}

TEST_F(CudaOrder, BlockingStreamsWaitForTheLegacyStream) {
  open();
  for (CUstream s : {stream(), perThread}) {
    *value() = 0;
    ASSERT_EQ(launchAdd(legacy, 1), 0);
    ASSERT_EQ(launchTwice(s), 0);
    ASSERT_EQ(cuStreamSynchronize(s), 0);
    EXPECT_EQ(*value(), inOrder);
  }
}

TEST_F(CudaOrder, NonBlockingStreamsDoNot) {
  open();
  CUstream s = stream(CU_STREAM_NON_BLOCKING);
  ASSERT_EQ(launchAdd(legacy, 1), 0);
  ASSERT_EQ(launchTwice(s), 0);
  ASSERT_EQ(cuStreamSynchronize(s), 0);
  ASSERT_EQ(cuStreamSynchronize(legacy), 0);
  EXPECT_EQ(*value(), notOrdered);

  *value() = 0;
  ASSERT_EQ(launchAdd(s, 1), 0);
  ASSERT_EQ(launchTwice(legacy), 0);
  ASSERT_EQ(cuStreamSynchronize(legacy), 0);
  ASSERT_EQ(cuStreamSynchronize(s), 0);
  EXPECT_EQ(*value(), notOrdered);
}

TEST_F(CudaOrder, ThreadsHaveAStreamEach) {
  open();
  ASSERT_EQ(launchAdd(perThread, 1), 0);
  std::thread([&] {
    CUcontext context = handle<CUcontext>(1);
    EXPECT_EQ(cuCtxPushCurrent_v2(context), 0);
    EXPECT_EQ(launchTwice(perThread), 0);
    EXPECT_EQ(cuStreamSynchronize(perThread), 0);
    EXPECT_EQ(cuCtxPopCurrent_v2(&context), 0);
  }).join();
  ASSERT_EQ(cuStreamSynchronize(perThread), 0);
  EXPECT_EQ(*value(), notOrdered);
}

TEST_F(CudaOrder, FlagsAreChecked) {
  open();
  CUstream s = nullptr;
  EXPECT_EQ(cuStreamCreate(&s, 2), CUDA_ERROR_INVALID_VALUE);
}

// ---- Queries ------------------------------------------------------------------------------------

TEST_F(CudaOrder, PollingComesToAnEnd) {
  open();
  CUstream s = stream();
  CUevent e = event();
  EXPECT_EQ(cuEventQuery(e), 0) << "was never recorded";
  setKernelTime("add", 1e6);
  ASSERT_EQ(launchAdd(s, 1), 0);
  ASSERT_EQ(cuEventRecord(e, s), 0);
  EXPECT_EQ(cuEventQuery(e), CUDA_ERROR_NOT_READY);
  int polls = 1;
  while (cuStreamQuery(s) == CUDA_ERROR_NOT_READY)
    ASSERT_LT(++polls, 100);
  EXPECT_EQ(cuEventQuery(e), 0);
  EXPECT_EQ(*value(), 1);
  EXPECT_GE(hostMicroseconds(), 1e6);
}

TEST_F(CudaOrder, HostFunctionsRunInTheStream) {
  open();
  CUstream s = stream();
  struct Seen {
    int *value, seen;
    CUresult error;
  } seen = {value(), -1, 0};
  ASSERT_EQ(launchAdd(s, 3), 0);
  ASSERT_EQ(cuLaunchHostFunc(
                s,
                [](void *user) {
                  auto *seen = static_cast<Seen *>(user);
                  seen->seen = *seen->value;
                  size_t free, total;
                  seen->error = cuMemGetInfo_v2(&free, &total);
                },
                &seen),
            0);
  ASSERT_EQ(launchAdd(s, 4), 0);
  ASSERT_EQ(cuStreamSynchronize(s), 0);
  EXPECT_EQ(seen.seen, 3);
  EXPECT_EQ(seen.error, errorNotPermitted) << "they may not call the driver";
}

// ---- Other orders than the laziest --------------------------------------------------------------

TEST_F(CudaOrder, EagerWorkIsDoneAtOnce) {
  open();
  setOrder(Order::Eager);
  ASSERT_EQ(launchAdd(stream(), 1), 0);
  EXPECT_EQ(*value(), 1);
}

TEST_F(CudaOrder, SeedsDrawOrders) {
  open();
  std::set<int> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    int results[2];
    for (int &result : results) {
      setOrder(Order::Seeded, seed);
      *value() = 0;
      CUstream a = stream(), b = stream();
      ASSERT_EQ(launchAdd(a, 1), 0);
      ASSERT_EQ(launchTwice(b), 0);
      ASSERT_EQ(cuStreamSynchronize(a), 0);
      ASSERT_EQ(cuStreamSynchronize(b), 0);
      result = *value();
      ASSERT_EQ(cuStreamDestroy_v2(a), 0);
      ASSERT_EQ(cuStreamDestroy_v2(b), 0);
    }
    EXPECT_EQ(results[0], results[1]) << "seed " << seed;
    seen.insert(results[0]);
  }
  EXPECT_EQ(seen, (std::set<int>{notOrdered, inOrder}));
}

TEST_F(CudaOrder, SeedsKeepWhatIsOrdered) {
  open();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    setOrder(Order::Seeded, seed);
    *value() = 0;
    CUstream a = stream(), b = stream();
    CUevent e = event();
    ASSERT_EQ(launchAdd(a, 1), 0);
    ASSERT_EQ(cuEventRecord(e, a), 0);
    ASSERT_EQ(cuStreamWaitEvent(b, e, 0), 0);
    ASSERT_EQ(launchTwice(b), 0);
    ASSERT_EQ(launchAdd(legacy, 5), 0);
    ASSERT_EQ(cuStreamSynchronize(legacy), 0);
    EXPECT_EQ(*value(), inOrder + 5);
  }
}

// ---- Handles and memory that are none -----------------------------------------------------------

using CudaOrderDeathTest = FakeCuda;

TEST_F(CudaOrderDeathTest, DestroyedHandles) {
  open();
  CUstream s = stream();
  CUevent e = event();
  ASSERT_EQ(cuStreamDestroy_v2(s), 0);
  ASSERT_EQ(cuEventDestroy_v2(e), 0);
  EXPECT_DEATH(cuStreamSynchronize(s), "cuStreamSynchronize was given a destroyed stream");
  EXPECT_DEATH(cuEventQuery(e), "cuEventQuery was given a destroyed event");
  EXPECT_DEATH(cuStreamSynchronize(handle<CUstream>(0x77777777)), "what never was a stream");
  ASSERT_EQ(cuModuleUnload(module), 0);
  EXPECT_DEATH(launchAdd(legacy, 1), "was given a destroyed kernel");
  EXPECT_EQ(cuEventSynchronize(nullptr), errorInvalidHandle);
}

TEST_F(CudaOrder, HostMemoryIsNoDeviceMemory) {
  open();
  int host[2] = {};
  auto address = reinterpret_cast<CUdeviceptr>(&host[0]);
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(address, &host[1], 4, legacy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(memory, address, 4, legacy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(memory, memory + 32, 33, legacy), CUDA_ERROR_INVALID_VALUE);
  int kind = 0;
  EXPECT_EQ(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 4), 0);
  EXPECT_EQ(kind, CU_MEMORYTYPE_DEVICE);
}

// ---- Errors that stay ---------------------------------------------------------------------------

TEST_F(CudaOrder, StickyErrors) {
  open();
  CUstream s = stream();
  CUevent e = event();
  failKernel("add", 700);
  ASSERT_EQ(launchAdd(s, 1), 0);
  EXPECT_EQ(cuStreamSynchronize(s), 700);
  EXPECT_EQ(cuStreamSynchronize(s), 700);
  EXPECT_EQ(cuMemFree_v2(memory), 700);
  EXPECT_EQ(cuStreamDestroy_v2(s), 700);
  EXPECT_EQ(cuEventDestroy_v2(e), 700);
  EXPECT_EQ(cuModuleUnload(module), 700);
  EXPECT_FALSE(live().none());
  // These do not look at the GPU.
  CUcontext context = nullptr;
  int version = 0;
  EXPECT_EQ(cuCtxGetCurrent(&context), 0);
  EXPECT_EQ(cuCtxPushCurrent_v2(context), 0);
  EXPECT_EQ(cuCtxPopCurrent_v2(&context), 0);
  EXPECT_EQ(cuDriverGetVersion(&version), 0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
  EXPECT_TRUE(live().none()) << live().str();
}

} // namespace
