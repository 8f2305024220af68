// The fake driver's clock, which tells ways of timing apart, and its memory.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_testing.h"

using namespace fakecuda;

namespace {

class CudaClock : public FakeCuda {
protected:
  void SetUp() override {
    FakeCuda::SetUp();
    ClockModel exact;
    exact.resolution = 0.001;
    setClock(exact);
    setKernelTime("add", 3);
    setKernelTime("double", 3);
  }
};

// Every event is reached before the launch that it is to time has been submitted.
TEST_F(CudaClock, LaunchesTimedOneByOneShowTheHost) {
  open();
  CUstream s = stream();
  float sum = 0;
  CUevent events[20];
  for (CUevent &e : events)
    e = event();
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(cuEventRecord(events[2 * i], s), 0);
    ASSERT_EQ(launchAdd(s, 1), 0);
    ASSERT_EQ(cuEventRecord(events[2 * i + 1], s), 0);
    ASSERT_EQ(cuStreamSynchronize(s), 0);
    sum += elapsed(events[2 * i], events[2 * i + 1]);
  }
  EXPECT_NEAR(sum, 10 * (3 + 2), 0.1) << "a launch costs the host 2 us";
}

TEST_F(CudaClock, ReplayedGraphsDoNot) {
  open();
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CUgraphNode last = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), 0);
  int amount = 1;
  void *arguments[] = {&memory, &amount};
  CUDA_KERNEL_NODE_PARAMS kernel = {add, 1, 1, 1, 32, 1, 1, 0, arguments, nullptr};
  std::vector<CUevent> events(11);
  for (size_t i = 0; i < events.size(); ++i) {
    events[i] = event();
    ASSERT_EQ(cuGraphAddEventRecordNode(&last, graph, &last, i ? 1 : 0, events[i]), 0);
    if (i + 1 < events.size()) {
      ASSERT_EQ(cuGraphAddKernelNode(&last, graph, &last, 1, &kernel), 0);
    }
  }
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  CUstream s = stream();
  CUevent begin = event(), end = event();
  ASSERT_EQ(cuEventRecord(begin, s), 0);
  double before = hostMicroseconds();
  ASSERT_EQ(cuGraphLaunch(executable, s), 0);
  EXPECT_NEAR(hostMicroseconds() - before, 5, 0.01);
  ASSERT_EQ(cuEventRecord(end, s), 0);
  ASSERT_EQ(cuEventSynchronize(end), 0);
  float sum = 0;
  for (size_t i = 1; i < events.size(); ++i)
    sum += elapsed(events[i - 1], events[i]);
  EXPECT_NEAR(sum, 30, 0.01);
  EXPECT_NEAR(elapsed(begin, end), 35, 0.01) << "the GPU waits for the graph's launch";
  EXPECT_EQ(*value(), 10);
}

TEST_F(CudaClock, QueuesHideTheHost) {
  open();
  CUstream s = stream();
  CUevent begin = event(), end = event();
  ASSERT_EQ(cuEventRecord(begin, s), 0);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(launchAdd(s, 1), 0);
  ASSERT_EQ(cuEventRecord(end, s), 0);
  ASSERT_EQ(cuEventSynchronize(end), 0);
  EXPECT_NEAR(elapsed(begin, end), 2 + 100 * 3, 0.1);
  EXPECT_GE(hostMicroseconds(), 302) << "who waits has waited";
}

TEST_F(CudaClock, KernelsShareTheGpuAndCopiesDoNot) {
  open();
  setKernelTime("add", 1000);
  void *host = nullptr;
  CUdeviceptr big = 0;
  constexpr size_t bytes = 25'000'000;
  ASSERT_EQ(cuMemHostAlloc(&host, bytes, 0), 0);
  ASSERT_EQ(cuMemAlloc_v2(&big, bytes), 0);
  CUstream a = stream(), b = stream();
  CUevent begin = event(), ends[2] = {event(), event()};
  for (bool copy : {false, true}) {
    ASSERT_EQ(cuEventRecord(begin, a), 0);
    ASSERT_EQ(launchAdd(a, 1), 0);
    ASSERT_EQ(copy ? cuMemcpyHtoDAsync_v2(big, host, bytes, b) : launchAdd(b, 1), 0);
    ASSERT_EQ(cuEventRecord(ends[0], a), 0);
    ASSERT_EQ(cuEventRecord(ends[1], b), 0);
    ASSERT_EQ(cuEventSynchronize(ends[0]), 0);
    ASSERT_EQ(cuEventSynchronize(ends[1]), 0);
    float longest = std::max(elapsed(begin, ends[0]), elapsed(begin, ends[1]));
    EXPECT_NEAR(longest, copy ? 1000 : 2000, 10);
  }
}

TEST_F(CudaClock, BigGridsTakeLonger) {
  open();
  setClock(ClockModel());
  ASSERT_EQ(load({{"k"}}), 0);
  CUfunction k = function("k");
  CUevent begin = event(), end = event();
  const std::pair<unsigned, float> expected[] = {{1, 2}, {800, 2}, {864, 4}, {8640, 22}};
  for (auto &[grid, microseconds] : expected) {
    ASSERT_EQ(launch(k, legacy, {}, 1), 0);
    for (int i = 0; i < 10; ++i) // the host is ahead
      ASSERT_EQ(launch(k, legacy, {}, 86400, 256), 0);
    ASSERT_EQ(cuEventRecord(begin, legacy), 0);
    ASSERT_EQ(launch(k, legacy, {}, grid, 256), 0);
    ASSERT_EQ(cuEventRecord(end, legacy), 0);
    ASSERT_EQ(cuEventSynchronize(end), 0);
    EXPECT_EQ(elapsed(begin, end), microseconds) << grid << " blocks";
  }
}

TEST_F(CudaClock, EventsWithoutTiming) {
  open();
  CUevent timed = event(), untimed = event(CU_EVENT_DISABLE_TIMING);
  float milliseconds = 0;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, timed, timed), errorInvalidHandle) << "not recorded";
  ASSERT_EQ(cuEventRecord(timed, legacy), 0);
  ASSERT_EQ(cuEventRecord(untimed, legacy), 0);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, timed, timed), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuEventSynchronize(untimed), 0);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, timed, untimed), errorInvalidHandle);
  EXPECT_EQ(elapsed(timed, timed), 0);
}

TEST_F(CudaClock, CompilingTakesTime) {
  open();
  double before = hostMicroseconds();
  ASSERT_EQ(load({{"k"}}), 0);
  EXPECT_LT(hostMicroseconds() - before, 10);
  before = hostMicroseconds();
  const char *ptx = ".version 7.5\n.target sm_75\n.visible .entry k()\n{ ret; }\n";
  ASSERT_EQ(cuModuleLoadDataEx(&module, ptx, 0, nullptr, nullptr), 0);
  EXPECT_GT(hostMicroseconds() - before, 1000);
}

// ---- Memory -------------------------------------------------------------------------------------

using CudaMemory = FakeCuda;

TEST_F(CudaMemory, IsHandedOutInBlocks) {
  constexpr size_t mib = 1 << 20;
  DeviceSpec device;
  device.memory = 100 * mib;
  device.contextBytes = 50 * mib;
  open(device);
  auto available = [] {
    size_t free = 0, total = 0;
    EXPECT_EQ(cuMemGetInfo_v2(&free, &total), 0);
    return free;
  };
  EXPECT_EQ(available(), 48 * mib) << "a block of 2 MiB for the 64 B that open() has";
  std::vector<CUdeviceptr> small(4);
  for (CUdeviceptr &pointer : small)
    ASSERT_EQ(cuMemAlloc_v2(&pointer, 1000), 0);
  EXPECT_EQ(available(), 48 * mib) << "they share the block";
  CUdeviceptr large = 0, more = 0;
  ASSERT_EQ(cuMemAlloc_v2(&large, 3 * mib), 0);
  EXPECT_EQ(available(), 44 * mib);
  EXPECT_EQ(cuMemAlloc_v2(&more, 44 * mib + 1), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(cuMemAlloc_v2(&more, 44 * mib), 0);
  for (CUdeviceptr pointer : {large, more, small[0], small[1], small[2], small[3], memory})
    ASSERT_EQ(cuMemFree_v2(pointer), 0);
  EXPECT_EQ(available(), 50 * mib);
  EXPECT_EQ(cuMemFree_v2(large), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaMemory, PageLockedMemoryHasALimit) {
  DeviceSpec device;
  device.pinnedBytes = 1 << 20;
  open(device);
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&first, 600 << 10, 0), 0);
  EXPECT_EQ(cuMemHostAlloc(&second, 600 << 10, 0), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(cuMemFreeHost(first), 0);
  EXPECT_EQ(cuMemHostAlloc(&second, 600 << 10, 0), 0);
}

} // namespace
