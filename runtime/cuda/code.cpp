// Which code of an artefact a GPU runs. A cubin runs on GPUs of the same major architecture with
// the same or a higher minor one, but on Tegra exactly its own; PTX is compiled by the driver for
// its own and every later architecture; code with the feature suffix `a` runs on exactly its own.
// Sources: CUDA C++ Programming Guide, "Binary Compatibility" and "PTX Compatibility".
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/code.h"

#include "runtime/cuda/driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cameo::runtime {

namespace cuda {

namespace {

// The first CUDA version whose driver compiles a PTX ISA version (PTX ISA, "Release Notes"); 0 for
// versions newer than this table, which are left to the driver to judge.
int driverForPtx(int isaMajor, int isaMinor) {
  static const struct {
    int major, minor, driver;
  } table[] = {{6, 0, 9000},  {6, 1, 9010},  {6, 2, 9020},  {6, 3, 10000}, {6, 4, 10010},
               {6, 5, 10020}, {7, 0, 11000}, {7, 1, 11010}, {7, 2, 11020}, {7, 3, 11030},
               {7, 4, 11040}, {7, 5, 11050}, {7, 6, 11060}, {7, 7, 11070}, {7, 8, 11080},
               {8, 0, 12000}, {8, 1, 12010}, {8, 2, 12020}, {8, 3, 12030}, {8, 4, 12040},
               {8, 5, 12050}, {8, 6, 12070}, {8, 7, 12080}, {8, 8, 12090}, {9, 0, 13000}};
  for (const auto &row : table)
    if (row.major == isaMajor && row.minor == isaMinor)
      return row.driver;
  return 0;
}

// A view of the section up to `limit` bytes, for searching.
const char *find(const CodeSection &section, uint64_t limit, const char *text) {
  return static_cast<const char *>(
      memmem(section.data, section.size < limit ? section.size : limit, text, strlen(text)));
}

// Parses `M.m` from memory that need not end in NUL.
bool parseVersion(const CodeSection &section, const char *at, int &major, int &minor) {
  const char *end = static_cast<const char *>(section.data) + section.size;
  auto number = [&](int &value) {
    const char *begin = at;
    for (value = 0; at < end && *at >= '0' && *at <= '9' && at - begin < 4; ++at)
      value = value * 10 + (*at - '0');
    return at != begin;
  };
  while (at < end && (*at == ' ' || *at == '\t'))
    ++at;
  if (!number(major) || at == end || *at != '.')
    return false;
  ++at;
  return number(minor);
}

// "Binary compatibility is supported only for the desktop" (CUDA C++ Programming Guide): neither on
// Tegra nor between Tegra and others.
bool isTegra(uint32_t arch) {
  for (uint32_t tegra : {53u, 62u, 72u, 87u, 101u, 110u})
    if (arch == tegra)
      return true;
  return false;
}

bool archFits(const CodeSection &section, uint32_t deviceArch) {
  uint32_t arch = section.arch & ~CAMEO_ARCH_A;
  if (section.arch & CAMEO_ARCH_A)
    return arch == deviceArch;
  if (section.kind == CAMEO_SECTION_CUBIN && (isTegra(arch) || isTegra(deviceArch)))
    return arch == deviceArch;
  if (section.kind == CAMEO_SECTION_CUBIN)
    return arch / 10 == deviceArch / 10 && arch <= deviceArch;
  return arch <= deviceArch;
}

// Cubins before PTX, exact features first, then the highest architecture.
uint32_t preference(const CodeSection &section) {
  return (section.kind == CAMEO_SECTION_CUBIN ? 1u << 30 : 0) + section.arch;
}

} // namespace

std::string codeText(const CodeSection &section) {
  return std::string(section.kind == CAMEO_SECTION_CUBIN ? "cubin" : "PTX") + " for sm_" +
         std::to_string(section.arch & ~CAMEO_ARCH_A) + (section.arch & CAMEO_ARCH_A ? "a" : "");
}

CodeNeeds codeNeeds(const CodeSection &section) {
  CodeNeeds needs;
  int major = 0, minor = 0;
  if (section.kind == CAMEO_SECTION_PTX) {
    // The directive comes first, after comments at most.
    const char *version = find(section, 16384, ".version");
    if (version && parseVersion(section, version + strlen(".version"), major, minor)) {
      needs.driver = driverForPtx(major, minor);
      needs.because = "PTX ISA " + std::to_string(major) + "." + std::to_string(minor);
    }
  } else {
    // Every ptxas notes its release. Drivers run the cubins of all toolkits of their own major
    // version and of earlier ones (CUDA Compatibility, "Minor Version Compatibility").
    static const char note[] = "Cuda compilation tools, release ";
    const char *release = find(section, section.size, note);
    if (release && parseVersion(section, release + sizeof(note) - 1, major, minor)) {
      needs.driver = major * 1000;
      needs.because = "made by CUDA " + std::to_string(major) + "." + std::to_string(minor);
    }
  }
  return needs;
}

} // namespace cuda

using namespace cuda;

Status orderCudaCode(const std::vector<CodeSection> &sections, const DeviceInfo &device,
                     std::vector<CodeCandidate> &order) {
  order.clear();
  std::string held;
  for (size_t i = 0; i < sections.size(); ++i) {
    const CodeSection &section = sections[i];
    if (section.kind != CAMEO_SECTION_CUBIN && section.kind != CAMEO_SECTION_PTX)
      continue;
    held += (held.empty() ? "" : ", ") + codeText(section);
    if (!archFits(section, device.arch))
      continue;
    CodeNeeds needs = codeNeeds(section);
    std::string refusal;
    if (device.driverVersion && static_cast<uint32_t>(needs.driver) > device.driverVersion)
      refusal = codeText(section) + " (" + needs.because + ") needs a driver for CUDA " +
                versionText(needs.driver);
    order.push_back({i, std::move(refusal)});
  }
  if (order.empty())
    return failure(Code::NoCode, "no code for %s, an sm_%u GPU: the artefact holds %s",
                   device.name.c_str(), device.arch, held.empty() ? "none for GPUs" : held.c_str());
  std::sort(order.begin(), order.end(), [&](const CodeCandidate &a, const CodeCandidate &b) {
    uint32_t left = preference(sections[a.index]), right = preference(sections[b.index]);
    return left != right ? left > right : a.index < b.index;
  });
  return Status();
}

Status allCodeRefused(const DeviceInfo &device, const std::vector<std::string> &refusals) {
  std::string text;
  for (const std::string &refusal : refusals)
    text += (text.empty() ? "" : "; ") + refusal;
  return failure(Code::NoCode, "the driver of %s is for CUDA %s: %s", device.name.c_str(),
                 versionText(static_cast<int>(device.driverVersion)).c_str(), text.c_str());
}

} // namespace cameo::runtime
