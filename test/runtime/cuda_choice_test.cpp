// Which code of an artefact a GPU runs, and what the error says where none fits.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda.h"
#include "runtime/core/device.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace cameo::runtime;

namespace {

// An artefact's code sections, made from specifications such as "cubin 90a" and "ptx 80 8.5".
class Artefact {
public:
  explicit Artefact(const std::vector<std::string> &specifications,
                    const std::string &toolkit = "13.0") {
    for (const std::string &specification : specifications) {
      bool isPtx = specification.rfind("ptx", 0) == 0;
      size_t space = specification.find(' ');
      std::string arch = specification.substr(space + 1);
      uint32_t number = static_cast<uint32_t>(atoi(arch.c_str()));
      bool suffix = arch.find('a') != std::string::npos;
      std::string isa = arch.find(' ') == std::string::npos ? "7.5" : arch.substr(arch.find(' '));
      if (isPtx) {
        std::string text = "// made by a test\n.version " + isa + "\n.target sm_" +
                           std::to_string(number) + (suffix ? "a" : "") + "\n";
        images.emplace_back(text.c_str(), text.c_str() + text.size() + 1);
      } else {
        images.push_back(fakecuda::makeCubin(static_cast<int>(number), {"k"}, toolkit));
      }
      kinds.push_back(isPtx ? CAMEO_SECTION_PTX : CAMEO_SECTION_CUBIN);
      archs.push_back(number + (suffix ? CAMEO_ARCH_A : 0));
    }
  }

  std::vector<CodeSection> sections() const {
    std::vector<CodeSection> result;
    for (size_t i = 0; i < images.size(); ++i)
      result.push_back({kinds[i], archs[i], 0, images[i].data(), images[i].size()});
    return result;
  }

private:
  std::vector<std::vector<char>> images;
  std::vector<CameoSectionKind> kinds;
  std::vector<uint32_t> archs;
};

DeviceInfo gpu(uint32_t arch, uint32_t driver = 13000) {
  DeviceInfo info;
  info.arch = arch;
  info.name = "Test GPU";
  info.driverVersion = driver;
  return info;
}

// The chosen specification, or the error's message.
std::string choose(const std::vector<std::string> &held, const DeviceInfo &device,
                   const std::string &toolkit = "13.0") {
  Artefact artefact(held, toolkit);
  std::vector<CodeCandidate> order;
  Status status = orderCudaCode(artefact.sections(), device, order);
  std::vector<std::string> refusals;
  for (const CodeCandidate &candidate : order) {
    if (candidate.refusal.empty())
      return held[candidate.index];
    refusals.push_back(candidate.refusal);
  }
  if (status.ok())
    status = allCodeRefused(device, refusals);
  EXPECT_EQ(status.code(), Code::NoCode);
  return status.message();
}

// Every candidate in its order, those that the driver is too old for in brackets.
std::string inOrder(const std::vector<std::string> &held, const DeviceInfo &device) {
  Artefact artefact(held);
  std::vector<CodeCandidate> order;
  EXPECT_TRUE(orderCudaCode(artefact.sections(), device, order).ok());
  std::string text;
  for (const CodeCandidate &candidate : order) {
    const std::string &name = held[candidate.index];
    text += (text.empty() ? "" : ", ") + (candidate.refusal.empty() ? name : "[" + name + "]");
  }
  return text;
}

TEST(CudaChoice, EveryGpuAgainstEveryTarget) {
  std::vector<std::string> held = {"cubin 75", "cubin 80",  "cubin 86", "cubin 89",
                                   "cubin 90", "cubin 90a", "ptx 75"};
  const std::pair<uint32_t, const char *> expected[] = {
      {75, "cubin 75"},  {80, "cubin 80"}, {86, "cubin 86"}, {87, "ptx 75"},  {89, "cubin 89"},
      {90, "cubin 90a"}, {100, "ptx 75"},  {103, "ptx 75"},  {110, "ptx 75"}, {120, "ptx 75"}};
  for (auto &[arch, choice] : expected)
    EXPECT_EQ(choose(held, gpu(arch)), choice) << "on sm_" << arch;
}

// Of Blackwell: a cubin runs on later minor versions of its major one, but for Tegra's.
TEST(CudaChoice, WithinAMajorVersion) {
  std::vector<std::string> held = {"cubin 80", "cubin 90a", "cubin 100", "cubin 120", "ptx 80"};
  const std::pair<uint32_t, const char *> expected[] = {{100, "cubin 100"}, {103, "cubin 100"},
                                                        {110, "ptx 80"},    {120, "cubin 120"},
                                                        {121, "cubin 120"}, {130, "ptx 80"}};
  for (auto &[arch, choice] : expected)
    EXPECT_EQ(choose(held, gpu(arch)), choice) << "on sm_" << arch;
  EXPECT_EQ(choose({"cubin 103", "cubin 121", "ptx 80"}, gpu(100)), "ptx 80");
  EXPECT_EQ(choose({"cubin 103", "cubin 121", "ptx 80"}, gpu(120)), "ptx 80");
}

TEST(CudaChoice, DefaultTargets) {
  std::vector<std::string> held = {"cubin 80", "ptx 80"};
  const std::pair<uint32_t, const char *> expected[] = {{80, "cubin 80"}, {86, "cubin 80"},
                                                        {89, "cubin 80"}, {90, "ptx 80"},
                                                        {100, "ptx 80"},  {120, "ptx 80"}};
  for (auto &[arch, choice] : expected)
    EXPECT_EQ(choose(held, gpu(arch)), choice) << "on sm_" << arch;
}

TEST(CudaChoice, OrderInTheFileDoesNotMatter) {
  EXPECT_EQ(choose({"ptx 80", "ptx 75", "cubin 80", "cubin 86"}, gpu(86)), "cubin 86");
  EXPECT_EQ(choose({"cubin 86", "cubin 80", "ptx 75", "ptx 80"}, gpu(86)), "cubin 86");
  EXPECT_EQ(choose({"ptx 75", "ptx 80"}, gpu(90)), "ptx 80");
  EXPECT_EQ(choose({"ptx 80", "ptx 75"}, gpu(90)), "ptx 80");
}

TEST(CudaChoice, FeatureSuffixRunsOnItsOwnArchitectureOnly) {
  EXPECT_EQ(choose({"cubin 90a"}, gpu(90)), "cubin 90a");
  EXPECT_EQ(choose({"ptx 90a", "ptx 80"}, gpu(90)), "ptx 90a");
  EXPECT_EQ(choose({"ptx 90a", "ptx 80"}, gpu(100)), "ptx 80");
  EXPECT_EQ(choose({"cubin 90a", "ptx 90a"}, gpu(100)),
            "no code for Test GPU, an sm_100 GPU: the artefact holds cubin for sm_90a, PTX for "
            "sm_90a");
}

TEST(CudaChoice, OnTegraCubinsMatchExactly) {
  std::vector<std::string> held = {"cubin 70", "cubin 72",  "cubin 80",  "cubin 86",
                                   "cubin 87", "cubin 100", "cubin 110", "ptx 75"};
  const std::pair<uint32_t, const char *> expected[] = {
      {72, "cubin 72"}, {75, "cubin 70"},   {87, "cubin 87"},  {89, "cubin 86"},
      {101, "ptx 75"},  {103, "cubin 100"}, {110, "cubin 110"}};
  for (auto &[arch, choice] : expected)
    EXPECT_EQ(choose(held, gpu(arch)), choice) << "on sm_" << arch;
}

TEST(CudaChoice, WhatFollowsWhereTheDriverRefuses) {
  EXPECT_EQ(inOrder({"ptx 75", "ptx 80", "cubin 80", "cubin 86", "cubin 75"}, gpu(86)),
            "cubin 86, cubin 80, ptx 80, ptx 75");
  EXPECT_EQ(inOrder({"ptx 80", "cubin 90a", "ptx 90a", "cubin 90"}, gpu(90)),
            "cubin 90a, cubin 90, ptx 90a, ptx 80");
  EXPECT_EQ(inOrder({"cubin 80", "ptx 80"}, gpu(80, 12040)), "[cubin 80], ptx 80");
}

TEST(CudaChoice, NoCodeForThisGpu) {
  EXPECT_EQ(
      choose({"cubin 80", "ptx 80"}, gpu(75)),
      "no code for Test GPU, an sm_75 GPU: the artefact holds cubin for sm_80, PTX for sm_80");
  EXPECT_EQ(choose({"cubin 89"}, gpu(86)),
            "no code for Test GPU, an sm_86 GPU: the artefact holds cubin for sm_89");
  EXPECT_EQ(choose({}, gpu(80)),
            "no code for Test GPU, an sm_80 GPU: the artefact holds none for GPUs");
}

TEST(CudaChoice, SimulatorImagesArePassedOver) {
  Artefact artefact({"cubin 80"});
  std::vector<CodeSection> sections = artefact.sections();
  sections.insert(sections.begin(), {CAMEO_SECTION_SIM_IMAGE, 80, 0, "", 0});
  std::vector<CodeCandidate> order;
  ASSERT_TRUE(orderCudaCode(sections, gpu(80), order).ok());
  ASSERT_EQ(order.size(), 1u);
  EXPECT_EQ(order[0].index, 1u);
}

TEST(CudaChoice, OldDriverTakesWhatItCanRun) {
  // A cubin needs a driver of its toolkit's major version, PTX one that knows its ISA version.
  EXPECT_EQ(choose({"cubin 80", "ptx 80"}, gpu(80, 12040)), "ptx 80");
  EXPECT_EQ(choose({"cubin 80", "ptx 80"}, gpu(80, 12040), "12.8"), "cubin 80");
  EXPECT_EQ(choose({"ptx 80 8.5", "ptx 75 7.0"}, gpu(80, 12040)), "ptx 75 7.0");
  EXPECT_EQ(choose({"ptx 80 8.5", "ptx 75 7.0"}, gpu(80, 12050)), "ptx 80 8.5");
}

TEST(CudaChoice, OldDriverIsNamedWithWhatIsNeeded) {
  EXPECT_EQ(choose({"cubin 80", "ptx 80 8.5"}, gpu(80, 12020)),
            "the driver of Test GPU is for CUDA 12.2: cubin for sm_80 (made by CUDA 13.0) needs a "
            "driver for CUDA 13.0; PTX for sm_80 (PTX ISA 8.5) needs a driver for CUDA 12.5");
}

TEST(CudaChoice, UnknownNeedsAreLeftToTheDriver) {
  EXPECT_EQ(choose({"ptx 80 99.1"}, gpu(80, 12000)), "ptx 80 99.1");
  CodeSection bare = {CAMEO_SECTION_PTX, 80, 0, "no version here", 16};
  std::vector<CodeCandidate> order;
  ASSERT_TRUE(orderCudaCode({bare}, gpu(80), order).ok());
  EXPECT_EQ(order[0].refusal, "");
}

TEST(CudaChoice, DamagedCodeIsNotReadBeyondItsEnd) {
  for (const char *text : {".version", ".version ", ".version 8", ".version 8.", ".version x"}) {
    std::vector<char> exact(text, text + strlen(text));
    CodeSection section = {CAMEO_SECTION_PTX, 80, 0, exact.data(), exact.size()};
    std::vector<CodeCandidate> order;
    EXPECT_TRUE(orderCudaCode({section}, gpu(80), order).ok()) << text;
  }
}

} // namespace
