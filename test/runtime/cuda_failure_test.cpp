// Every driver call fails in turn: each failure is a status that names the call and the error, and
// nothing is left behind.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_scenario.h"

#include <gtest/gtest.h>

#include <cstring>

namespace cuda_test {

namespace {

/// `called` is for work that cleaning up may wait for, after this has failed and returned.
Status runOn(Device &device, std::vector<float> &values, bool &called, Cleanup &cleanup) {
  const uint64_t bytes = values.size() * sizeof(float);
  const int count = static_cast<int>(values.size());
  uint64_t available = 0, total = 0;
  CAMEO_RETURN_IF_ERROR(device.memoryInfo(available, total));

  DevicePtr data = 0, copy = 0;
  CAMEO_RETURN_IF_ERROR(device.allocate(bytes, data));
  cleanup.add([&device, data] { return device.release(data); });
  CAMEO_RETURN_IF_ERROR(device.allocate(bytes, copy));
  cleanup.add([&device, copy] { return device.release(copy); });
  void *staging = nullptr;
  CAMEO_RETURN_IF_ERROR(device.allocateHost(bytes, staging));
  cleanup.add([&device, staging] { return device.releaseHost(staging); });

  Stream streams[2];
  Event events[3];
  for (Stream &stream : streams) {
    CAMEO_RETURN_IF_ERROR(device.createStream(stream));
    cleanup.add([&device, stream] { return device.destroyStream(stream); });
  }
  for (Event &event : events) {
    CAMEO_RETURN_IF_ERROR(device.createEvent(event));
    cleanup.add([&device, event] { return device.destroyEvent(event); });
  }

  Module module = nullptr;
  CAMEO_RETURN_IF_ERROR(device.loadModule(ptxSection(scalePtx), module));
  cleanup.add([&device, module] { return device.unloadModule(module); });
  Kernel scale = nullptr;
  CAMEO_RETURN_IF_ERROR(device.findKernel(module, kernelInfo("scale"), scale));
  if (device.info().arch >= 90) {
    Kernel clustered = nullptr;
    KernelInfo large{"large", "", {32, 1, 1}, 0, 0, nullptr, 0, 16 | 1 << 8 | 1 << 16};
    CAMEO_RETURN_IF_ERROR(device.findKernel(module, large, clustered));
  }

  // Comes first when all is given back: nothing that enqueued work uses goes before it is done.
  for (Stream stream : streams)
    cleanup.add([&device, stream] { return device.synchronize(stream); });

  memcpy(staging, values.data(), bytes);
  CAMEO_RETURN_IF_ERROR(device.fill(data, 0, bytes, streams[0]));
  CAMEO_RETURN_IF_ERROR(device.copyToDevice(data, staging, bytes, streams[0]));

  CAMEO_RETURN_IF_ERROR(device.checkDeviceMemory(data));
  bool pageable = true, capturing = true, passed = false;
  CAMEO_RETURN_IF_ERROR(device.isPageable(staging, pageable));
  CAMEO_RETURN_IF_ERROR(device.isCapturing(streams[0], capturing));
  EXPECT_FALSE(pageable || capturing);

  Graph graph = nullptr;
  CAMEO_RETURN_IF_ERROR(device.createGraph(graph));
  cleanup.add([&device, graph] { return device.destroyGraph(graph); });
  GraphNode launched = nullptr, copied = nullptr;
  CAMEO_RETURN_IF_ERROR(addScale(device, graph, scale, data, 5, count, launched));
  CAMEO_RETURN_IF_ERROR(device.addCopy(graph, copy, data, bytes, copied));
  CAMEO_RETURN_IF_ERROR(device.addRecord(graph, events[1]));
  CAMEO_RETURN_IF_ERROR(device.instantiate(graph));
  CAMEO_RETURN_IF_ERROR(setScale(device, graph, launched, scale, data, 2, count));
  CAMEO_RETURN_IF_ERROR(device.setCopy(graph, copied, copy, data, bytes));

  CAMEO_RETURN_IF_ERROR(device.record(events[0], streams[0]));
  CAMEO_RETURN_IF_ERROR(device.launchGraph(graph, streams[0]));
  CAMEO_RETURN_IF_ERROR(device.wait(streams[1], events[1]));
  CAMEO_RETURN_IF_ERROR(launchScale(device, scale, copy, 3, count, streams[1], 64 << 10));
  CAMEO_RETURN_IF_ERROR(device.copyOnDevice(data, copy, bytes, streams[1]));
  CAMEO_RETURN_IF_ERROR(device.copyToHost(staging, data, bytes, streams[1]));
  CAMEO_RETURN_IF_ERROR(device.record(events[2], streams[1]));
  CAMEO_RETURN_IF_ERROR(
      device.callHost(streams[1], [](void *user) { *static_cast<bool *>(user) = true; }, &called));
  CAMEO_RETURN_IF_ERROR(device.synchronizeEvent(events[2]));
  CAMEO_RETURN_IF_ERROR(device.queryEvent(events[2], passed));
  EXPECT_TRUE(passed);
  CAMEO_RETURN_IF_ERROR(device.synchronize(streams[1]));
  EXPECT_TRUE(called);
  float milliseconds = -1;
  CAMEO_RETURN_IF_ERROR(device.elapsed(events[0], events[2], milliseconds));
  EXPECT_GT(milliseconds, 0);
  memcpy(values.data(), staging, bytes);
  return device.synchronize(streams[0]);
}

} // namespace

Status runScenario(std::vector<float> &values) {
  std::unique_ptr<Device> device;
  CAMEO_RETURN_IF_ERROR(createCudaDevice(0, device, CAMEO_FAKE_CUDA));
  bool called = false;
  Cleanup cleanup;
  return cleanup.finish(runOn(*device, values, called, cleanup));
}

} // namespace cuda_test

using namespace cuda_test;

namespace {

const char *const driverFunctions[] = {
#define CAMEO_CUDA_SYMBOL(name, ...) #name,
#include "runtime/cuda/driver_symbols.def"
};

bool namesErrors(const std::string &function) { return function.rfind("cuGetError", 0) == 0; }

// These report only failures of earlier work, where nothing is left to be done about them.
bool failureIsIgnored(const std::string &function) {
  return function == "cuCtxPopCurrent_v2" || function == "cuDevicePrimaryCtxRelease_v2";
}

// Without a current context nothing can be released but by the end of the context.
bool preventsRelease(const std::string &function) {
  return function == "cuCtxGetCurrent" || function == "cuCtxPushCurrent_v2";
}

class CudaFailure : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    fakecuda::reset();
    registerScale();
  }
};

TEST_P(CudaFailure, IsAStatusAndNothingIsLeft) {
  const std::string function = GetParam();
  if (namesErrors(function))
    return; // covered by every failure's message
  std::vector<float> values(64, 1);
  fakecuda::setDevices({{"Fake GPU", 9, 0}});
  ASSERT_TRUE(runScenario(values).ok());
  const int count = fakecuda::callCount(function);
  ASSERT_GT(count, 0) << "the scenario does not use this driver function";

  for (int nth = 1; nth <= count; ++nth) {
    SCOPED_TRACE("failure of call " + std::to_string(nth));
    fakecuda::reset();
    registerScale();
    fakecuda::setDevices({{"Fake GPU", 9, 0}});
    fakecuda::failCall(function, nth, 999);
    Status status = runScenario(values);
    ASSERT_TRUE(fakecuda::failureHappened());
    if (failureIsIgnored(function)) {
      EXPECT_TRUE(status.ok()) << status.message();
    } else {
      EXPECT_EQ(status.code(), Code::Driver);
      EXPECT_EQ(status.message().rfind(function + ": CUDA_ERROR_UNKNOWN (999): unknown error", 0),
                0u)
          << status.message();
    }
    EXPECT_EQ(fakecuda::live().contexts, 0);
    if (preventsRelease(function))
      continue;
    EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
    EXPECT_EQ(fakecuda::misuses(), std::vector<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDriverFunction, CudaFailure, testing::ValuesIn(driverFunctions),
                         [](const auto &info) { return std::string(info.param); });

TEST(CudaFailure, ScenarioComputes) {
  fakecuda::reset();
  registerScale();
  std::vector<float> values = {1, 2, -3};
  Status status = runScenario(values);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(values, (std::vector<float>{6, 12, -18}));
  EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
}

TEST(CudaFailure, ProbeReportsEveryFailure) {
  fakecuda::reset();
  CudaProbe probe = probeCudaDriver(CAMEO_FAKE_CUDA);
  ASSERT_EQ(probe.state, CudaProbe::Usable) << probe.message;
  std::vector<std::string> calls = fakecuda::calls();
  for (const char *function : driverFunctions) {
    int count = 0;
    for (const std::string &call : calls)
      count += call.substr(0, call.find(' ')) == function;
    for (int nth = 1; nth <= count; ++nth) {
      fakecuda::reset();
      fakecuda::failCall(function, nth, 999);
      probe = probeCudaDriver(CAMEO_FAKE_CUDA);
      EXPECT_EQ(probe.state, CudaProbe::Failing) << function;
      EXPECT_EQ(probe.deviceCount, 0);
      EXPECT_EQ(probe.message.rfind(std::string(function) + ": CUDA_ERROR_UNKNOWN (999)", 0), 0u)
          << probe.message;
    }
  }
}

TEST(CudaFailure, CodesWithoutAName) {
  fakecuda::reset();
  fakecuda::failCall("cuInit", 1, 4321);
  CudaProbe probe = probeCudaDriver(CAMEO_FAKE_CUDA);
  EXPECT_EQ(probe.state, CudaProbe::Failing);
  EXPECT_EQ(probe.message, "cuInit: error (4321): the driver has no text for it; the driver is for "
                           "CUDA 13.0");
}

} // namespace
