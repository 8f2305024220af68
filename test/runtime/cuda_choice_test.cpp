// Which code of an artefact a GPU runs, and what the error says where none fits.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda.h"
#include "runtime/core/device.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace cameo::rt;

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
  size_t chosen = 0;
  Status status = chooseCudaCode(artefact.sections(), device, chosen);
  if (status.ok())
    return held[chosen];
  EXPECT_EQ(status.code(), Code::NoCode);
  return status.message();
}

TEST(CudaChoice, EveryGpuAgainstEveryTarget) {
  std::vector<std::string> held = {"cubin 75", "cubin 80",  "cubin 86", "cubin 89",
                                   "cubin 90", "cubin 90a", "ptx 75"};
  const std::pair<uint32_t, const char *> expected[] = {
      {75, "cubin 75"},  {80, "cubin 80"}, {86, "cubin 86"}, {87, "cubin 86"}, {89, "cubin 89"},
      {90, "cubin 90a"}, {100, "ptx 75"},  {103, "ptx 75"},  {110, "ptx 75"},  {120, "ptx 75"}};
  for (auto &[arch, choice] : expected)
    EXPECT_EQ(choose(held, gpu(arch)), choice) << "on sm_" << arch;
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
  size_t chosen = 0;
  ASSERT_TRUE(chooseCudaCode(sections, gpu(80), chosen).ok());
  EXPECT_EQ(chosen, 1u);
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
            "driver for CUDA 13.0, PTX for sm_80 (PTX ISA 8.5) needs a driver for CUDA 12.5");
}

TEST(CudaChoice, UnknownNeedsAreLeftToTheDriver) {
  EXPECT_EQ(choose({"ptx 80 99.1"}, gpu(80, 12000)), "ptx 80 99.1");
  CodeSection bare = {CAMEO_SECTION_PTX, 80, 0, "no version here", 16};
  size_t chosen = 7;
  ASSERT_TRUE(chooseCudaCode({bare}, gpu(80), chosen).ok());
  EXPECT_EQ(chosen, 0u);
}

TEST(CudaChoice, DamagedCodeIsNotReadBeyondItsEnd) {
  for (const char *text : {".version", ".version ", ".version 8", ".version 8.", ".version x"}) {
    std::vector<char> exact(text, text + strlen(text));
    CodeSection section = {CAMEO_SECTION_PTX, 80, 0, exact.data(), exact.size()};
    size_t chosen = 0;
    EXPECT_TRUE(chooseCudaCode({section}, gpu(80), chosen).ok()) << text;
  }
}

} // namespace
