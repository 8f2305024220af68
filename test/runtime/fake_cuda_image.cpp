// What the fake driver understands of PTX and cubins: their target, kernels and parameters.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_state.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>

using namespace cameo::rt::cuda;

namespace fakecuda {
namespace {

constexpr uint16_t machineCuda = 190;

// Size of one parameter declaration: `.param .u64 .ptr .align 16 p`, `.param .align 8 .b8 p[16]`.
size_t parameterSize(const std::string &text) {
  size_t bytes = 0;
  for (size_t at = text.find('.'); at != std::string::npos; at = text.find('.', at + 1)) {
    char kind = at + 1 < text.size() ? text[at + 1] : 0;
    if (strchr("usbf", kind) && kind && isdigit(text[at + 2])) {
      bytes = strtoul(text.c_str() + at + 2, nullptr, 10) / 8;
      break;
    }
  }
  size_t bracket = text.find('[');
  return bracket == std::string::npos ? bytes
                                      : bytes * strtoul(text.c_str() + bracket + 1, nullptr, 10);
}

CUresult readPtx(const std::string &text, const DeviceSpec &device, int driverVersion,
                 Module &module, std::string &log) {
  size_t version = text.find(".version"), target = text.find(".target sm_");
  if (version == std::string::npos || target == std::string::npos) {
    log = "ptxas fatal   : Missing .version directive at start of file";
    return 218;
  }
  double isa = atof(text.c_str() + version + 8);
  // Enough of the table of PTX ISA versions to tell old drivers: 7.x came with CUDA 11, 8.x
  // with 12.
  int needed = isa >= 9 ? 13000 : isa >= 8.7 ? 12080 : isa >= 8 ? 12000 : isa >= 7 ? 11000 : 10000;
  if (isa >= 8 && isa < 8.6)
    needed = 12000 + 10 * static_cast<int>((isa - 8) * 10 + 0.5);
  if (needed > driverVersion) {
    log = "ptxas fatal   : Unsupported .version";
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  char *end;
  int arch = static_cast<int>(strtol(text.c_str() + target + 11, &end, 10));
  int own = device.major * 10 + device.minor;
  if (arch > own || (*end == 'a' && arch != own))
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  for (size_t at = text.find(".entry"); at != std::string::npos; at = text.find(".entry", at + 1)) {
    size_t open = text.find_first_of("({", at);
    if (open == std::string::npos)
      return 218;
    Kernel kernel;
    size_t begin = text.find_first_not_of(" \t\n", at + 6);
    kernel.name = text.substr(begin, text.find_last_not_of(" \t\n", open - 1) + 1 - begin);
    kernel.parametersKnown = true;
    if (text[open] == '(') {
      std::string list = text.substr(open + 1, text.find(')', open) - open - 1);
      for (size_t from = list.find(".param"); from != std::string::npos;) {
        size_t next = list.find(".param", from + 1);
        kernel.parameters.push_back(parameterSize(list.substr(from + 6, next - from - 6)));
        from = next;
      }
    }
    module.kernels[kernel.name] = kernel;
  }
  return CUDA_SUCCESS;
}

// ABI version 8 (toolkits from 13.0) has the architecture in another byte of the flags.
bool hasNewLayout(const Elf64_Ehdr *header) { return header->e_ident[EI_ABIVERSION] >= 8; }
int cubinArch(const Elf64_Ehdr *header) {
  return (hasNewLayout(header) ? header->e_flags >> 8 : header->e_flags) & 0xff;
}

CUresult readCubin(const char *image, const DeviceSpec &device, int driverVersion, Module &module) {
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(image);
  if (header->e_machine != machineCuda)
    return CUDA_ERROR_INVALID_IMAGE;
  int arch = cubinArch(header);
  if (hasNewLayout(header) && driverVersion < 13000)
    return CUDA_ERROR_INVALID_IMAGE;
  if (arch / 10 != device.major || arch % 10 > device.minor)
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  auto *sections = reinterpret_cast<const Elf64_Shdr *>(image + header->e_shoff);
  const char *names = image + sections[header->e_shstrndx].sh_offset;
  for (int i = 0; i < header->e_shnum; ++i) {
    const char *name = names + sections[i].sh_name;
    if (!strncmp(name, ".text.", 6))
      module.kernels[name + 6].name = name + 6;
  }
  for (int i = 0; i < header->e_shnum; ++i) {
    const char *name = names + sections[i].sh_name;
    if (!strncmp(name, ".nv.shared.", 11) && module.kernels.count(name + 11))
      module.kernels[name + 11].sharedStatic = static_cast<int>(sections[i].sh_size);
  }
  return CUDA_SUCCESS;
}

} // namespace

CUresult readImage(const void *image, const DeviceSpec &device, int driverVersion, Module &module,
                   std::string &log) {
  auto *bytes = static_cast<const char *>(image);
  if (!memcmp(bytes, ELFMAG, SELFMAG))
    return readCubin(bytes, device, driverVersion, module);
  return readPtx(bytes, device, driverVersion, module, log);
}

std::string describeImage(const void *image) {
  auto *bytes = static_cast<const char *>(image);
  if (!memcmp(bytes, ELFMAG, SELFMAG))
    return "cubin sm_" + std::to_string(cubinArch(static_cast<const Elf64_Ehdr *>(image)));
  const char *target = strstr(bytes, ".target ");
  return target ? "PTX " + std::string(target + 8, strcspn(target + 8, " ,\n")) : "text";
}

std::vector<char> makeCubin(int arch, const std::vector<std::string> &kernels,
                            const std::string &toolkit) {
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> sections(1);
  auto add = [&](const std::string &name, uint32_t type) {
    Elf64_Shdr section = {};
    section.sh_name = static_cast<uint32_t>(names.size());
    section.sh_type = type;
    names += name + '\0';
    sections.push_back(section);
  };
  for (const std::string &kernel : kernels)
    add(".text." + kernel, SHT_PROGBITS);
  add(".shstrtab", SHT_STRTAB);
  std::string note = "Cuda compilation tools, release " + toolkit + ", V" + toolkit + ".88";

  bool newLayout = atof(toolkit.c_str()) >= 13;
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_ABIVERSION] = newLayout ? 8 : 7;
  header.e_type = ET_EXEC;
  header.e_machine = machineCuda;
  header.e_flags = newLayout ? arch << 8 : arch;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = static_cast<uint16_t>(sections.size() - 1);
  header.e_shoff = sizeof(header);
  sections.back().sh_offset = sizeof(header) + sections.size() * sizeof(Elf64_Shdr);
  sections.back().sh_size = names.size();

  std::vector<char> image(reinterpret_cast<char *>(&header),
                          reinterpret_cast<char *>(&header) + sizeof(header));
  auto *table = reinterpret_cast<char *>(sections.data());
  image.insert(image.end(), table, table + sections.size() * sizeof(Elf64_Shdr));
  image.insert(image.end(), names.begin(), names.end());
  image.insert(image.end(), note.begin(), note.end());
  image.push_back('\0');
  return image;
}

} // namespace fakecuda
