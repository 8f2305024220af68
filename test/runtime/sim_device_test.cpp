// The simulator behind the runtime's device interface.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/device.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <vector>

using namespace cameo::runtime;

namespace {

class SimDeviceTest : public testing::Test {
protected:
  void open(const char *checks, const char *imagePath = SIM_TEST_CHECKED_IMAGE) {
    SimOptions options;
    ASSERT_TRUE(parseSimChecks(checks, options).ok());
    options.threads = 2;
    ASSERT_TRUE(createSimDevice(options, device).ok());
    std::ifstream file(imagePath, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    section = {CAMEO_SECTION_SIM_IMAGE, 0, 0, bytes.data(), bytes.size()};
  }
  void load() {
    ASSERT_TRUE(device->loadModule(section, module).ok());
    ASSERT_TRUE(device->findKernel(module, copyInfo, copyKernel).ok());
    ASSERT_TRUE(device->allocate(kBytes, x).ok());
    ASSERT_TRUE(device->allocate(kBytes, y).ok());
    device->nameMemory(x, "x");
    device->nameMemory(y, "y");
    for (size_t i = 0; i < kCount; ++i)
      host.push_back(float(i));
    ASSERT_TRUE(device->copyToDevice(x, host.data(), kBytes, nullptr).ok());
  }
  Status copy(int32_t shift, const uint64_t *argBytes = nullptr) {
    void *args[] = {&x, &y, &shift};
    Launch launch{copyKernel, {4, 1, 1}, {64, 1, 1}, 0, args, argBytes};
    return device->launch(launch, nullptr);
  }
  void TearDown() override {
    if (module)
      EXPECT_TRUE(device->unloadModule(module).ok());
  }

  static constexpr size_t kCount = 256, kBytes = kCount * 4;
  const uint32_t argTypes[3] = {CAMEO_ARG_BUFFER, CAMEO_ARG_BUFFER, CAMEO_ARG_I32};
  const KernelInfo copyInfo{"copy", "Identity_3", {64, 1, 1}, 0, CAMEO_KERNEL_NO_SYNC, argTypes, 3};
  std::unique_ptr<Device> device;
  std::vector<char> bytes;
  CodeSection section{};
  Module module = nullptr;
  Kernel copyKernel = nullptr;
  DevicePtr x = 0, y = 0;
  std::vector<float> host;
};

TEST_F(SimDeviceTest, Describes) {
  open("none");
  EXPECT_EQ(device->info().kind, DeviceKind::Simulator);
  EXPECT_EQ(device->info().name, "simulator (2 threads)");
  EXPECT_EQ(device->info().maxSharedBytes, 232448u);
  uint64_t available = 0, total = 0;
  EXPECT_TRUE(device->memoryInfo(available, total).ok());
  EXPECT_GT(available, 0u);
  EXPECT_GE(total, available);
}

TEST_F(SimDeviceTest, RunsKernelsAndCopies) {
  for (const char *checks : {"none", "all"}) {
    open(checks);
    load();
    ASSERT_TRUE(copy(0).ok());
    std::vector<float> result(kCount);
    ASSERT_TRUE(device->copyToHost(result.data(), y, kBytes, nullptr).ok());
    EXPECT_EQ(result, host);
    ASSERT_TRUE(device->fill(x, 0, kBytes, nullptr).ok());
    ASSERT_TRUE(device->copyOnDevice(y, x, kBytes, nullptr).ok());
    ASSERT_TRUE(device->copyToHost(result.data(), y, kBytes, nullptr).ok());
    EXPECT_EQ(result, std::vector<float>(kCount));
    EXPECT_TRUE(device->release(x).ok());
    EXPECT_TRUE(device->release(y).ok());
    EXPECT_TRUE(device->unloadModule(module).ok());
    module = nullptr;
    host.clear();
  }
}

TEST_F(SimDeviceTest, StreamsAndEvents) {
  open("none");
  Stream stream = nullptr;
  Event start = nullptr, stop = nullptr;
  ASSERT_TRUE(device->createStream(stream).ok());
  ASSERT_TRUE(device->createEvent(start).ok());
  ASSERT_TRUE(device->createEvent(stop).ok());
  EXPECT_TRUE(device->record(start, stream).ok());
  EXPECT_TRUE(device->wait(stream, start).ok());
  EXPECT_TRUE(device->record(stop, stream).ok());
  EXPECT_TRUE(device->synchronizeEvent(stop).ok());
  float milliseconds = -1;
  EXPECT_TRUE(device->elapsed(start, stop, milliseconds).ok());
  EXPECT_GE(milliseconds, 0.f);
  EXPECT_FALSE(device->hasGraphs());
  EXPECT_TRUE(device->destroyEvent(start).ok());
  EXPECT_TRUE(device->destroyEvent(stop).ok());
  EXPECT_TRUE(device->destroyStream(stream).ok());
}

TEST_F(SimDeviceTest, FaultsAreStatuses) {
  open("all");
  load();
  Status status = copy(1);
  EXPECT_EQ(status.code(), Code::KernelFault);
  EXPECT_EQ(status.message(),
            "out-of-bounds access of global memory: write of 4 B at y+0x400 "
            "(of 1024 B) (store to y, copy.mlir:2:3)\n"
            "out-of-bounds access of global memory: write of 4 B at y+0x400 (of 1024 B) "
            "(store to y, copy.mlir:2:3)\n"
            "  in kernel copy, node Identity_3, block (3,0,0), warp 1, lane 31\n"
            "to see it again: --device=sim --sim-checks=bounds,init,race,sync --sim-seed=0");
  EXPECT_TRUE(copy(0).ok()) << "the device must stay usable";
}

TEST_F(SimDeviceTest, KernelsAreHeldToTheirArguments) {
  open("all");
  load();
  const uint64_t bytesOfAll[3] = {kBytes, kBytes, 0}, bytesOfHalf[3] = {kBytes, kBytes / 2, 0};
  EXPECT_TRUE(copy(0, bytesOfAll).ok());
  Status status = copy(0, bytesOfHalf);
  EXPECT_EQ(status.code(), Code::KernelFault);
  EXPECT_NE(status.message().find("argument 1+0x200 (of 512 B)"), std::string::npos)
      << status.message();
  // Memory of the caller's own.
  std::vector<float> mine(kCount);
  y = reinterpret_cast<DevicePtr>(mine.data());
  EXPECT_TRUE(copy(0, bytesOfAll).ok());
  EXPECT_EQ(mine, host);
  EXPECT_EQ(copy(0).code(), Code::KernelFault) << "its size must be known";
}

TEST_F(SimDeviceTest, WhatNobodyWroteIsNotRead) {
  open("init");
  load();
  ASSERT_TRUE(copy(0).ok());
  std::vector<float> result(kCount);
  EXPECT_TRUE(device->copyToHost(result.data(), y, kBytes, nullptr).ok());
  device->discard(y + 64, 4);
  Status status = device->copyToHost(result.data(), y, kBytes, nullptr);
  EXPECT_EQ(status.code(), Code::KernelFault);
  EXPECT_EQ(status.message(),
            "copy of 1024 B to the host: no kernel and no copy has written the byte at y+0x40");
  ASSERT_TRUE(device->copyOnDevice(x, y, kBytes, nullptr).ok());
  EXPECT_EQ(copy(0).code(), Code::KernelFault) << "copies carry it on";
}

TEST_F(SimDeviceTest, RefusesWhatItCannotRun) {
  open("race", SIM_TEST_IMAGE);
  Status status = device->loadModule(section, module);
  EXPECT_EQ(status.code(), Code::NoCode);
  EXPECT_NE(status.message().find("not instrumented"), std::string::npos) << status.message();

  open("sync", SIM_TEST_IMAGE); // needs no instrumentation
  ASSERT_TRUE(device->loadModule(section, module).ok());
  KernelInfo info = copyInfo;
  info.name = "absent";
  status = device->findKernel(module, info, copyKernel);
  EXPECT_EQ(status.message(), "the simulator image has no kernel absent");

  section.kind = CAMEO_SECTION_PTX;
  Module other = nullptr;
  EXPECT_EQ(device->loadModule(section, other).code(), Code::InvalidArgument);
  DevicePtr memory = 0;
  EXPECT_EQ(device->allocate(~0ull, memory).code(), Code::OutOfMemory);
  EXPECT_EQ(device->allocate(1ull << 60, memory).code(), Code::OutOfMemory);
  SimOptions options;
  EXPECT_EQ(parseSimChecks("rice", options).code(), Code::InvalidArgument);
}

} // namespace
