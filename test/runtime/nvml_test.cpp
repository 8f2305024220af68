// Clocks, power and energy through the stand-in for NVIDIA's management library.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/nvml.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace cameo::runtime;
using cuda::Nvml;

namespace {

constexpr char kBus[] = "0000:01:00.0";

class NvmlTest : public testing::Test {
protected:
  void TearDown() override { unsetenv("FAKENVML_FAIL"); }
  static Status open(const char *bus = kBus, const char *library = CAMEO_FAKE_NVML) {
    std::unique_ptr<Nvml> nvml;
    return Nvml::open(bus, nvml, library);
  }
};

TEST_F(NvmlTest, TellsAll) {
  std::unique_ptr<Nvml> nvml;
  ASSERT_TRUE(Nvml::open(kBus, nvml, CAMEO_FAKE_NVML).ok());
  EXPECT_EQ(nvml->driver(), "580.00.01");
  cuda::NvmlReading reading = nvml->read();
  EXPECT_GE(reading.smClock, 345u);
  EXPECT_EQ(reading.memoryClock, 2619u);
  EXPECT_EQ(reading.power, 123456u);
  EXPECT_EQ(reading.temperature, 54u);
  EXPECT_EQ(cuda::slowdownNames(reading.slowedBy), "power cap");
  uint64_t before = 0, after = 0;
  ASSERT_TRUE(nvml->energy(before).ok());
  ASSERT_TRUE(nvml->energy(after).ok());
  EXPECT_EQ(after - before, 5000u);
}

TEST_F(NvmlTest, SaysWhatIsMissing) {
  EXPECT_EQ(open(kBus, "libno-such-nvml.so.1").message(), "no libno-such-nvml.so.1");
  EXPECT_EQ(open("").message(), "the driver does not report the GPU's PCI bus");
  EXPECT_EQ(open(kBus, CAMEO_FAKE_CUDA).message(), CAMEO_FAKE_CUDA " lacks functions of NVML");
  EXPECT_EQ(open("0000:07:00.0").message(),
            "nvmlDeviceGetHandleByPciBusId_v2(0000:07:00.0): error 6");
  setenv("FAKENVML_FAIL", "nvmlInit_v2:9", 1);
  EXPECT_EQ(open().message(), "nvmlInit_v2: error 9");
}

// As on boards and in virtual machines that know only some of it.
TEST_F(NvmlTest, EachFigureMayBeMissing) {
  std::unique_ptr<Nvml> nvml;
  setenv("FAKENVML_FAIL", "nvmlSystemGet:3", 1);
  ASSERT_TRUE(Nvml::open(kBus, nvml, CAMEO_FAKE_NVML).ok());
  EXPECT_EQ(nvml->driver(), "");
  setenv("FAKENVML_FAIL", "nvmlDeviceGet:3", 1);
  cuda::NvmlReading reading = nvml->read();
  EXPECT_EQ(reading.smClock + reading.memoryClock + reading.power + reading.temperature, 0u);
  EXPECT_EQ(reading.slowedBy, 0u);
  uint64_t energy = 0;
  EXPECT_EQ(nvml->energy(energy).message(), "nvmlDeviceGetTotalEnergyConsumption: error 3");
}

TEST_F(NvmlTest, NamesWhatSlowsDown) {
  EXPECT_EQ(cuda::slowdownNames(0), "none");
  EXPECT_EQ(cuda::slowdownNames(0x60),
            "thermal slowdown by software, thermal slowdown by hardware");
  EXPECT_EQ(cuda::slowdownNames(uint64_t(1) << 40), "another reason");
}

} // namespace
