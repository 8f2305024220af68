// The CUDA device against the fake driver: what is called, in which order, and what users read when
// something is wrong.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_scenario.h"
#include "fake_cuda_entry.h"
#include "runtime/cuda/device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace cuda_test;

namespace {

class CudaDevice : public testing::Test {
protected:
  void SetUp() override {
    fakecuda::reset();
    registerScale();
  }
  void TearDown() override {
    device.reset();
    EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
    EXPECT_EQ(fakecuda::misuses(), std::vector<std::string>());
  }

  void open(int ordinal = 0) {
    Status status = createCudaDevice(ordinal, device, CAMEO_FAKE_CUDA);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  // Opens the device and gets a stream, a buffer of `count` floats and the kernel `scale`.
  void prepare(int count) {
    open();
    ASSERT_TRUE(device->createStream(stream).ok());
    ASSERT_TRUE(device->allocate(count * sizeof(float), buffer).ok());
    ASSERT_TRUE(device->loadModule(ptxSection(scalePtx), module).ok());
    ASSERT_TRUE(device->findKernel(module, kernelInfo("scale"), scale).ok());
  }
  void dispose() {
    // The statuses are those of the failure under test, where there is one.
    (void)device->unloadModule(module);
    (void)device->release(buffer);
    (void)device->destroyStream(stream);
  }

  std::unique_ptr<Device> device;
  Stream stream = nullptr;
  DevicePtr buffer = 0;
  Module module = nullptr;
  Kernel scale = nullptr;
};

std::string messageOf(const Status &status) { return status.message(); }

// ---- Finding a driver and a device --------------------------------------------------------------

TEST_F(CudaDevice, ProbeListsDevices) {
  fakecuda::setDevices(
      {{"Small GPU", 7, 5, 1u << 30, 64 << 10}, {"Big GPU", 9, 0, 2u << 30, 227 << 10}});
  fakecuda::setDriverVersion(12040);
  CudaProbe probe = probeCudaDriver(CAMEO_FAKE_CUDA);
  ASSERT_EQ(probe.state, CudaProbe::Usable) << probe.message;
  EXPECT_EQ(probe.deviceCount, 2);
  EXPECT_EQ(probe.driverVersion, 12040u);
  ASSERT_EQ(probe.devices.size(), 2u);
  EXPECT_EQ(probe.devices[0].name, "Small GPU");
  EXPECT_EQ(probe.devices[0].arch, 75u);
  EXPECT_EQ(probe.devices[1].arch, 90u);
  EXPECT_EQ(probe.devices[1].totalMemory, 2u << 30);
  EXPECT_EQ(probe.devices[1].maxSharedBytes, 227u << 10);
  EXPECT_EQ(fakecuda::callCount("cuDevicePrimaryCtxRetain"), 0) << "a probe makes no context";
}

TEST_F(CudaDevice, NoDriverAtAll) {
  for (const char *library : {"/nonexistent/libcuda.so.1", "libcameo-no-such-driver.so.1"}) {
    CudaProbe probe = probeCudaDriver(library);
    EXPECT_EQ(probe.state, CudaProbe::NoDriver) << probe.message;
    EXPECT_EQ(probe.message.rfind("no CUDA driver: ", 0), 0u) << probe.message;
    EXPECT_EQ(createCudaDevice(0, device, library).code(), Code::NoDriver);
  }
}

TEST_F(CudaDevice, DriverThatDoesNotLoadIsNotMissing) {
  CudaProbe probe = probeCudaDriver("/etc/passwd");
  EXPECT_EQ(probe.state, CudaProbe::Failing);
  EXPECT_EQ(probe.message.rfind("the CUDA driver does not load: ", 0), 0u) << probe.message;
  EXPECT_EQ(createCudaDevice(0, device, "/etc/passwd").code(), Code::Driver);
}

TEST_F(CudaDevice, LibraryThatIsNoDriver) {
  CudaProbe probe = probeCudaDriver("libm.so.6");
  EXPECT_EQ(probe.state, CudaProbe::Failing);
  EXPECT_EQ(probe.message, "the CUDA driver libm.so.6 lacks cuGetErrorName; a driver for CUDA 11.0 "
                           "or newer is needed");
}

TEST_F(CudaDevice, DriverTooOld) {
  CudaProbe probe = probeCudaDriver(CAMEO_FAKE_CUDA_OLD);
  EXPECT_EQ(probe.state, CudaProbe::Failing);
  EXPECT_EQ(probe.message, "the CUDA driver " CAMEO_FAKE_CUDA_OLD
                           " is for CUDA 10.2; CUDA 11.0 or newer is needed");
}

TEST_F(CudaDevice, DriverWithoutAGpu) {
  fakecuda::setDevices({});
  CudaProbe probe = probeCudaDriver(CAMEO_FAKE_CUDA);
  EXPECT_EQ(probe.state, CudaProbe::Failing);
  EXPECT_EQ(probe.message,
            "cuInit: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected; "
            "the driver is for CUDA 13.0");
  Status status = createCudaDevice(0, device, CAMEO_FAKE_CUDA);
  EXPECT_EQ(status.code(), Code::Driver);
}

TEST_F(CudaDevice, OpensTheDeviceAskedFor) {
  fakecuda::setDevices({{"First", 8, 0}, {"Second", 8, 9}});
  open(1);
  EXPECT_EQ(device->info().name, "Second");
  EXPECT_EQ(device->info().arch, 89u);
  EXPECT_EQ(device->info().ordinal, 1);
  std::vector<std::string> calls = fakecuda::calls();
  EXPECT_EQ(calls.back(), "cuDevicePrimaryCtxRetain 1");
}

TEST_F(CudaDevice, DeviceThatIsNotThere) {
  for (int ordinal : {-1, 1}) {
    Status status = createCudaDevice(ordinal, device, CAMEO_FAKE_CUDA);
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_EQ(status.message(), "there is no CUDA device " + std::to_string(ordinal) +
                                    ": the driver shows 1, counted from 0");
  }
}

// ---- The normal course --------------------------------------------------------------------------

TEST_F(CudaDevice, CallsInOrder) {
  prepare(4);
  std::vector<float> values = {1, 2, 3, 4}, result(4);
  ASSERT_TRUE(device->copyToDevice(buffer, values.data(), 16, stream).ok());
  ASSERT_TRUE(launchScale(*device, scale, buffer, 2, 4, stream).ok());
  ASSERT_TRUE(device->copyToHost(result.data(), buffer, 16, stream).ok());
  ASSERT_TRUE(device->synchronize(stream).ok());
  EXPECT_EQ(result, (std::vector<float>{2, 4, 6, 8}));
  dispose();
  device.reset();
  EXPECT_EQ(fakecuda::actions(),
            (std::vector<std::string>{
                "cuInit", "cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuMemAlloc_v2",
                "cuModuleLoadDataEx", "cuModuleGetFunction", "cuMemcpyHtoDAsync_v2",
                "cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize", "cuModuleUnload",
                "cuMemFree_v2", "cuStreamDestroy_v2", "cuDevicePrimaryCtxRelease_v2"}));
}

TEST_F(CudaDevice, KernelsAreLookedUpOnce) {
  prepare(4);
  Kernel again = nullptr, other = nullptr;
  ASSERT_TRUE(device->findKernel(module, kernelInfo("scale"), again).ok());
  ASSERT_TRUE(device->findKernel(module, kernelInfo("other"), other).ok());
  EXPECT_EQ(again, scale);
  EXPECT_NE(other, scale);
  EXPECT_EQ(fakecuda::callCount("cuModuleGetFunction"), 2);
  // A kernel of the same name in another module is another kernel.
  Module second = nullptr;
  ASSERT_TRUE(device->loadModule(ptxSection(scalePtx), second).ok());
  ASSERT_TRUE(device->findKernel(second, kernelInfo("scale"), again).ok());
  EXPECT_NE(again, scale);
  ASSERT_TRUE(device->unloadModule(second).ok());
  dispose();
}

TEST_F(CudaDevice, CallersContextStaysCurrent) {
  fakecuda::setDevices({{"First", 8, 0}, {"Second", 8, 0}});
  CUcontext theirs = nullptr, current = nullptr;
  ASSERT_EQ(cuInit(0), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&theirs, 1), 0);
  ASSERT_EQ(cuCtxPushCurrent_v2(theirs), 0);
  prepare(4);
  dispose();
  ASSERT_EQ(cuCtxGetCurrent(&current), 0);
  EXPECT_EQ(current, theirs);
  ASSERT_EQ(cuCtxPopCurrent_v2(&current), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease_v2(1), 0);
}

TEST_F(CudaDevice, NoContextSwitchWhereTheCallersContextIsOurs) {
  open();
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(cuCtxPushCurrent_v2(context), 0);
  int before = fakecuda::callCount("cuCtxPushCurrent_v2");
  uint64_t available = 0, total = 0;
  ASSERT_TRUE(device->memoryInfo(available, total).ok());
  EXPECT_EQ(total, 1u << 30);
  EXPECT_EQ(fakecuda::callCount("cuCtxPushCurrent_v2"), before);
  ASSERT_EQ(cuCtxPopCurrent_v2(&context), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
}

TEST_F(CudaDevice, NothingToDoMakesNoCall) {
  open();
  size_t before = fakecuda::calls().size();
  DevicePtr memory = 1;
  void *host = &memory;
  EXPECT_TRUE(device->allocate(0, memory).ok());
  EXPECT_TRUE(device->allocateHost(0, host).ok());
  EXPECT_EQ(memory, 0u);
  EXPECT_EQ(host, nullptr);
  EXPECT_TRUE(device->release(memory).ok());
  EXPECT_TRUE(device->releaseHost(host).ok());
  EXPECT_TRUE(device->copyToDevice(0, nullptr, 0, nullptr).ok());
  EXPECT_TRUE(device->copyToHost(nullptr, 0, 0, nullptr).ok());
  EXPECT_TRUE(device->copyOnDevice(0, 0, 0, nullptr).ok());
  EXPECT_TRUE(device->fill(0, 0, 0, nullptr).ok());
  EXPECT_EQ(fakecuda::calls().size(), before);
}

TEST_F(CudaDevice, GraphReplays) {
  prepare(2);
  float *pinned = nullptr;
  void *memory = nullptr;
  ASSERT_TRUE(device->allocateHost(8, memory).ok());
  pinned = static_cast<float *>(memory);
  Graph graph = nullptr;
  GraphNode written = nullptr, scaled = nullptr;
  ASSERT_TRUE(device->createGraph(graph).ok());
  ASSERT_TRUE(device->addWrite(graph, buffer, pinned, 8, written).ok());
  ASSERT_TRUE(addScale(*device, graph, scale, buffer, 2, 2, scaled).ok());
  ASSERT_TRUE(device->instantiate(graph).ok());
  pinned[0] = 1;
  pinned[1] = 5;
  auto replay = [&] {
    ASSERT_TRUE(device->launchGraph(graph, stream).ok());
    ASSERT_TRUE(device->copyToHost(pinned, buffer, 8, stream).ok());
  };
  replay();
  // Only launches from here on have the other factor.
  ASSERT_TRUE(setScale(*device, graph, scaled, scale, buffer, 3, 2).ok());
  replay();
  EXPECT_EQ(pinned[0], 1) << "nothing runs when it is enqueued";
  ASSERT_TRUE(device->synchronize(stream).ok());
  EXPECT_EQ(pinned[0], 6);
  EXPECT_EQ(pinned[1], 30);
  ASSERT_TRUE(device->destroyGraph(graph).ok());
  ASSERT_TRUE(device->releaseHost(memory).ok());
  dispose();
}

TEST_F(CudaDevice, GraphsAreOptional) {
  using namespace cameo::runtime::cuda;
  Driver driver;
  ASSERT_TRUE(Driver::open(CAMEO_FAKE_CUDA, driver).ok());
  int count = 0, version = 0;
  ASSERT_TRUE(initialise(driver, count, version).ok());
  DeviceInfo info;
  ASSERT_TRUE(readDeviceInfo(driver, 0, info).ok());
  info.driverVersion = 11010;
  driver.cuGraphInstantiateWithFlags = nullptr;
  ASSERT_TRUE(cameo::runtime::cuda::CudaDevice::create(driver, info, device).ok());
  EXPECT_FALSE(device->hasGraphs());
  Graph graph = nullptr;
  Status status = device->createGraph(graph);
  EXPECT_EQ(status.code(), Code::Unsupported);
  EXPECT_EQ(status.message(), "no graphs: the driver is for CUDA 11.1, 11.4 has them");
}

TEST_F(CudaDevice, ManyThreads) {
  prepare(1);
  constexpr int threadCount = 8, rounds = 50, count = 33;
  std::vector<std::string> errors(threadCount);
  auto work = [&](int thread) -> Status {
    Stream own = nullptr;
    DevicePtr data = 0;
    Kernel kernel = nullptr;
    CAMEO_RETURN_IF_ERROR(device->createStream(own));
    CAMEO_RETURN_IF_ERROR(device->allocate(count * sizeof(float), data));
    for (int round = 0; round < rounds; ++round) {
      CAMEO_RETURN_IF_ERROR(device->findKernel(module, kernelInfo("scale"), kernel));
      std::vector<float> values(count, static_cast<float>(thread + 1));
      CAMEO_RETURN_IF_ERROR(device->copyToDevice(data, values.data(), count * sizeof(float), own));
      CAMEO_RETURN_IF_ERROR(
          launchScale(*device, kernel, data, static_cast<float>(round), count, own));
      CAMEO_RETURN_IF_ERROR(device->copyToHost(values.data(), data, count * sizeof(float), own));
      CAMEO_RETURN_IF_ERROR(device->synchronize(own));
      for (float value : values)
        if (value != static_cast<float>((thread + 1) * round))
          return failure(Code::Internal, "wrong value %g", value);
    }
    CAMEO_RETURN_IF_ERROR(device->release(data));
    return device->destroyStream(own);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < threadCount; ++i)
    threads.emplace_back([&, i] { errors[i] = work(i).message(); });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    EXPECT_EQ(error, "");
  EXPECT_EQ(fakecuda::callCount("cuModuleGetFunction"), 1);
  dispose();
}

// ---- What users read ----------------------------------------------------------------------------

// The driver hands memory out in blocks of 2 MiB, and its context takes some.
TEST_F(CudaDevice, OutOfMemoryNamesSizes) {
  constexpr size_t mib = 1 << 20;
  fakecuda::DeviceSpec tiny = {"Tiny GPU", 8, 0, 20 * mib};
  tiny.contextBytes = 10 * mib;
  fakecuda::setDevices({tiny});
  open();
  DevicePtr first = 0, second = 0;
  ASSERT_TRUE(device->allocate(5 * mib, first).ok());
  Status status = device->allocate(5 * mib, second);
  EXPECT_EQ(status.code(), Code::OutOfMemory);
  EXPECT_EQ(status.message(), "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; asked "
                              "for 5242880 B where 4194304 B of 20971520 B are free");
  EXPECT_EQ(second, 0u);
  ASSERT_TRUE(device->release(first).ok());
}

TEST_F(CudaDevice, FaultNamesTheKernel) {
  prepare(4);
  fakecuda::failKernel("scale", 700);
  ASSERT_TRUE(launchScale(*device, scale, buffer, 2, 4, stream).ok());
  std::string expected = "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was "
                         "encountered; the last kernel launched was scale; the GPU's context is "
                         "lost, this process cannot use it any more";
  EXPECT_EQ(messageOf(device->synchronize(stream)), "cuStreamSynchronize: " + expected);
  dispose();
}

TEST_F(CudaDevice, LaunchFailureNamesTheLaunch) {
  prepare(4);
  fakecuda::failCall("cuLaunchKernel", 1, 1);
  EXPECT_EQ(messageOf(launchScale(*device, scale, buffer, 2, 4, stream)),
            "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1): invalid argument; launching scale, grid "
            "1x1x1, block 128x1x1, 0 B of dynamic shared memory");
  dispose();
}

TEST_F(CudaDevice, LaunchLimits) {
  prepare(4);
  float factor = 1;
  int count = 4;
  void *args[] = {&buffer, &factor, &count};
  Launch launch = {scale, {1, 70000, 1}, {128, 1, 1}, 0, args};
  Status status = device->launch(launch, stream);
  EXPECT_EQ(status.code(), Code::Unsupported);
  EXPECT_EQ(status.message(), "launching scale, grid 1x70000x1, block 128x1x1, 0 B of dynamic "
                              "shared memory: a grid may be 2147483647x65535x65535 at most");
  launch.grid[1] = 1;
  launch.sharedDynamic = 200 << 10;
  status = device->launch(launch, stream);
  EXPECT_EQ(status.code(), Code::NoCode);
  EXPECT_EQ(status.message(), "launching scale, grid 1x1x1, block 128x1x1, 204800 B of dynamic "
                              "shared memory: with 0 B static, Fake GPU allows 166912 B in all");
  EXPECT_EQ(fakecuda::callCount("cuLaunchKernel"), 0);
  launch.sharedDynamic = 160 << 10; // above 48 KB, which needs the attribute
  EXPECT_TRUE(device->launch(launch, stream).ok());
  EXPECT_TRUE(device->synchronize(stream).ok());
  EXPECT_EQ(fakecuda::callCount("cuFuncSetAttribute"), 1);
  launch.sharedDynamic = 163 << 10;
  EXPECT_TRUE(device->launch(launch, stream).ok());
  launch.sharedDynamic = 48 << 10;
  EXPECT_TRUE(device->launch(launch, stream).ok());
  EXPECT_TRUE(device->synchronize(stream).ok());
  EXPECT_EQ(fakecuda::callCount("cuFuncSetAttribute"), 1) << "it was asked for all at once";
  dispose();
}

// A GPU has to be asked for clusters of more than eight blocks, and has to have room for one.
TEST_F(CudaDevice, LargeClusters) {
  auto load = [&](unsigned room) {
    fakecuda::DeviceSpec gpu{"Hopper", 9, 0};
    gpu.clusterBlocks = room;
    fakecuda::setDevices({gpu});
    open();
    fakecuda::CubinKernel code = {"k"};
    code.cluster[0] = 16;
    code.cluster[1] = code.cluster[2] = 1;
    std::vector<char> image = fakecuda::makeCubin(90, {code}, /*suffix=*/false);
    EXPECT_TRUE(
        device->loadModule({CAMEO_SECTION_CUBIN, 90, 0, image.data(), image.size()}, module).ok());
    KernelInfo info{"k", "node", {32, 1, 1}, 0, 0, nullptr, 0, 16 | 1 << 8 | 1 << 16};
    return device->findKernel(module, info, scale);
  };
  ASSERT_TRUE(load(16).ok());
  ASSERT_TRUE(device->createStream(stream).ok());
  EXPECT_TRUE(device->launch({scale, {32, 1, 1}, {32, 1, 1}, 0, nullptr}, stream).ok());
  EXPECT_TRUE(device->synchronize(stream).ok());
  dispose();
  device.reset();

  Status status = load(9);
  EXPECT_EQ(status.code(), Code::NoCode);
  EXPECT_EQ(status.message(), "kernel k needs clusters of 16 blocks, for which Hopper has no room");
  (void)device->unloadModule(module);
}

TEST_F(CudaDevice, CompilerLogIsShown) {
  open();
  fakecuda::setCompilerLog("ptxas application ptx input, line 5; error : Unknown symbol 'x'\n",
                           218);
  Status status = device->loadModule(ptxSection(scalePtx), module);
  EXPECT_EQ(status.code(), Code::NoCode);
  EXPECT_EQ(status.message(),
            "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed; "
            "loading the PTX for sm_75 on Fake GPU, sm_80, with a driver for CUDA 13.0; the "
            "driver's compiler says: ptxas application ptx input, line 5; error : Unknown symbol "
            "'x'");
}

TEST_F(CudaDevice, EndlessCompilerLogIsCut) {
  open();
  fakecuda::setCompilerLog(std::string(1 << 20, 'e'), 218);
  Status status = device->loadModule(ptxSection(scalePtx), module);
  EXPECT_EQ(status.code(), Code::NoCode);
  EXPECT_LT(status.message().size(), 10000u);
  EXPECT_GT(status.message().size(), 8000u);
}

TEST_F(CudaDevice, DriverThatRefusesCodeIsIncompatible) {
  open();
  for (int error : {200, 209, 218, 221, 222, 223, 300}) {
    fakecuda::failCall("cuModuleLoadDataEx", 1, error);
    EXPECT_EQ(device->loadModule(ptxSection(scalePtx), module).code(), Code::NoCode);
  }
}

TEST_F(CudaDevice, WrongGpuIsNamedBeforeAnythingIsLoaded) {
  open();
  Status status = device->loadModule(ptxSection(scalePtx, 90), module);
  EXPECT_EQ(status.code(), Code::NoCode);
  EXPECT_EQ(status.message(),
            "no code for Fake GPU, an sm_80 GPU: the artefact holds PTX for sm_90");
  EXPECT_EQ(fakecuda::callCount("cuModuleLoadDataEx"), 0);
}

TEST_F(CudaDevice, Cubin) {
  open();
  std::vector<char> image = fakecuda::makeCubin(80, {"scale"});
  CodeSection section = {CAMEO_SECTION_CUBIN, 80, 0, image.data(), image.size()};
  ASSERT_TRUE(device->loadModule(section, module).ok());
  Kernel missing = nullptr;
  ASSERT_TRUE(device->findKernel(module, kernelInfo("scale"), scale).ok());
  Status status = device->findKernel(module, kernelInfo("absent"), missing);
  EXPECT_EQ(status.code(), Code::Corrupt);
  EXPECT_EQ(status.message(), "the GPU code has no kernel absent, which the plan launches");
  ASSERT_TRUE(device->unloadModule(module).ok());
}

TEST_F(CudaDevice, DamagedCodeNeverReachesTheDriver) {
  open();
  std::string unterminated = scalePtx;
  CodeSection ptx = {CAMEO_SECTION_PTX, 75, 0, unterminated.data(), unterminated.size()};
  EXPECT_EQ(messageOf(device->loadModule(ptx, module)),
            "PTX for sm_75 is damaged: the text does not end");
  CodeSection empty = {CAMEO_SECTION_PTX, 75, 0, "", 0};
  EXPECT_EQ(device->loadModule(empty, module).code(), Code::Corrupt);
  CodeSection cubin = {CAMEO_SECTION_CUBIN, 80, 0, scalePtx.c_str(), scalePtx.size() + 1};
  EXPECT_EQ(messageOf(device->loadModule(cubin, module)),
            "cubin for sm_80 is damaged: it is not an ELF file");
  CodeSection simulator = {CAMEO_SECTION_SIM_IMAGE, 80, 0, "", 0};
  EXPECT_EQ(device->loadModule(simulator, module).code(), Code::InvalidArgument);
  EXPECT_EQ(fakecuda::callCount("cuModuleLoadDataEx"), 0);
}

} // namespace
