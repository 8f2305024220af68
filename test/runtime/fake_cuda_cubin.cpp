// What the fake driver understands of cubins: their target and what ptxas notes of their kernels.
//
// `.nv.info` and `.nv.info.<kernel>` are lists of records: a byte that says what form it has, an
// attribute, and either a value of 16 bits or the size of what follows. The numbers are those that
// the ptxas of CUDA 13.0 was seen to write for kernels made to differ in one thing each.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_state.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace cameo::runtime::cuda;

namespace fakecuda {
namespace {

constexpr uint16_t machineCuda = 190;
constexpr unsigned reservedShared = 1024;

enum : uint8_t { formNone = 1, formByte = 2, formValue = 3, formSized = 4 };
enum : uint8_t {              // what follows, in words of 32 bits:
  attributeMaxThreads = 0x05, // x, y, z
  attributeParameter = 0x17,  // index, ordinal | offset << 16, size << 18 | flags
  attributeBlock = 0x10,      // x, y, z
  attributeBankSize = 0x19,   // (a value) bytes of all parameters
  attributeRegisters = 0x2f,  // in .nv.info: symbol, registers
  attributeCluster = 0x3d,    // x, y, z
  compatSpecific = 0x09       // in .nv.compat, a byte: 1 where the target has the suffix `a`
};

// ABI version 8 (toolkits from 13.0) has the architecture in another byte of the flags.
bool hasNewLayout(const Elf64_Ehdr *header) { return header->e_ident[EI_ABIVERSION] >= 8; }
int cubinArch(const Elf64_Ehdr *header) {
  return (hasNewLayout(header) ? header->e_flags >> 8 : header->e_flags) & 0xff;
}

// The sections of an image that is trusted, as the driver is told no size.
class Sections {
public:
  explicit Sections(const char *image)
      : image(image), header(reinterpret_cast<const Elf64_Ehdr *>(image)),
        table(reinterpret_cast<const Elf64_Shdr *>(image + header->e_shoff)) {}

  int count() const { return header->e_shnum; }
  const Elf64_Shdr &at(int index) const { return table[index]; }
  const char *name(int index) const {
    return image + table[header->e_shstrndx].sh_offset + table[index].sh_name;
  }
  const char *data(int index) const { return image + table[index].sh_offset; }
  // The section called `prefix` and the kernel's name; -1: none.
  int find(const std::string &name) const {
    for (int i = 0; i < count(); ++i)
      if (name == this->name(i))
        return i;
    return -1;
  }

private:
  const char *image;
  const Elf64_Ehdr *header;
  const Elf64_Shdr *table;
};

struct RecordHead {
  uint8_t form, attribute;
  uint16_t value;
};
struct Record : RecordHead {
  std::vector<uint32_t> words;
};

std::vector<Record> readRecords(const Sections &sections, int section) {
  std::vector<Record> records;
  if (section < 0)
    return records;
  const char *at = sections.data(section), *end = at + sections.at(section).sh_size;
  while (end - at >= 4) {
    Record record;
    memcpy(static_cast<RecordHead *>(&record), at, sizeof(RecordHead));
    at += sizeof(RecordHead);
    if (record.form == formSized) {
      if (record.value > end - at)
        break;
      record.words.resize(record.value / 4);
      memcpy(record.words.data(), at, record.words.size() * 4);
      at += record.value;
    }
    records.push_back(std::move(record));
  }
  return records;
}

void copyThree(const Record &record, unsigned *to) {
  if (record.words.size() >= 3)
    std::copy_n(record.words.begin(), 3, to);
}

CUresult readKernel(const Sections &sections, Kernel &kernel) {
  int info = sections.find(".nv.info." + kernel.name);
  kernel.parametersKnown = info >= 0;
  unsigned bank = 0, most[3] = {};
  std::map<unsigned, Parameter> parameters;
  for (const Record &record : readRecords(sections, info)) {
    if (record.attribute == attributeBankSize && record.form == formValue)
      bank = record.value;
    else if (record.attribute == attributeBlock)
      copyThree(record, kernel.block);
    else if (record.attribute == attributeCluster)
      copyThree(record, kernel.cluster);
    else if (record.attribute == attributeMaxThreads)
      copyThree(record, most);
    else if (record.attribute == attributeParameter && record.words.size() == 3)
      parameters[record.words[1] & 0xffff] = {record.words[1] >> 16, record.words[2] >> 18};
  }
  kernel.maxThreads = most[0] * most[1] * most[2];
  size_t end = 0;
  for (auto &[ordinal, parameter] : parameters) {
    if (ordinal != kernel.parameters.size() || parameter.offset < end)
      return CUDA_ERROR_INVALID_IMAGE;
    end = parameter.offset + parameter.size;
    kernel.parameters.push_back(parameter);
  }
  return end == bank ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

// Registers are noted for all kernels in one section, by symbol.
void readRegisters(const Sections &sections, Module &module) {
  int symbols = sections.find(".symtab"), names = sections.find(".strtab");
  if (symbols < 0 || names < 0)
    return;
  auto *table = reinterpret_cast<const Elf64_Sym *>(sections.data(symbols));
  size_t count = sections.at(symbols).sh_size / sizeof(Elf64_Sym);
  for (const Record &record : readRecords(sections, sections.find(".nv.info"))) {
    if (record.attribute != attributeRegisters || record.words.size() != 2 ||
        record.words[0] >= count)
      continue;
    auto kernel = module.kernels.find(sections.data(names) + table[record.words[0]].st_name);
    if (kernel != module.kernels.end())
      kernel->second.registers = record.words[1];
  }
}

bool isSpecific(const Sections &sections) {
  for (const Record &record : readRecords(sections, sections.find(".nv.compat")))
    if (record.form == formByte && record.attribute == compatSpecific)
      return record.value & 0xff;
  return false;
}

// GPUs of Jetson and the like run no cubins but their own, and no others run theirs (CUDA C++
// Programming Guide, "Binary Compatibility").
bool isTegra(int arch) {
  return arch == 53 || arch == 62 || arch == 72 || arch == 87 || arch == 101 || arch == 110;
}

bool fits(int arch, bool specific, const DeviceSpec &device) {
  int own = device.major * 10 + device.minor;
  if (specific || isTegra(own) || isTegra(arch))
    return arch == own;
  return arch / 10 == device.major && arch % 10 <= device.minor;
}

} // namespace

bool isCubin(const void *image) { return !memcmp(image, ELFMAG, SELFMAG); }

std::string describeCubin(const void *image) {
  auto *header = static_cast<const Elf64_Ehdr *>(image);
  bool specific =
      header->e_machine == machineCuda && isSpecific(Sections(static_cast<const char *>(image)));
  return "cubin sm_" + std::to_string(cubinArch(header)) + (specific ? "a" : "");
}

CUresult readCubin(const char *image, const DeviceSpec &device, int driverVersion, Module &module) {
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(image);
  if (header->e_machine != machineCuda || (hasNewLayout(header) && driverVersion < 13000))
    return CUDA_ERROR_INVALID_IMAGE;
  Sections sections(image);
  if (!fits(cubinArch(header), isSpecific(sections), device))
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  for (int i = 0; i < sections.count(); ++i)
    if (!strncmp(sections.name(i), ".text.", 6)) {
      Kernel kernel;
      kernel.name = sections.name(i) + 6;
      if (CUresult error = readKernel(sections, kernel))
        return error;
      if (int shared = sections.find(".nv.shared." + kernel.name); shared >= 0) {
        // Where a kernel has clusters to come the reserved KiB is part of the section.
        size_t bytes = sections.at(shared).sh_size;
        bool reserved = cubinArch(header) >= 90 && bytes >= reservedShared;
        kernel.sharedStatic = static_cast<int>(bytes - (reserved ? reservedShared : 0));
      }
      module.kernels[kernel.name] = std::move(kernel);
    }
  readRegisters(sections, module);
  return CUDA_SUCCESS;
}

namespace {

// ---- Making one ---------------------------------------------------------------------------------

class CubinWriter {
public:
  explicit CubinWriter(int arch, bool newLayout) {
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_ABIVERSION] = newLayout ? 8 : 7;
    header.e_type = ET_EXEC;
    header.e_machine = machineCuda;
    header.e_flags = newLayout ? arch << 8 : arch;
    header.e_shentsize = sizeof(Elf64_Shdr);
    sections.resize(1);
  }

  void add(const std::string &name, uint32_t type, const std::string &content = "",
           size_t size = 0) {
    Elf64_Shdr section = {};
    section.sh_name = static_cast<uint32_t>(names.size());
    section.sh_type = type;
    section.sh_offset = sizeof(header) + contents.size();
    section.sh_size = size ? size : content.size();
    names += name + '\0';
    contents += content;
    contents.resize((contents.size() + 7) / 8 * 8);
    sections.push_back(section);
  }

  std::vector<char> finish(const std::string &toolkit) {
    add("", SHT_NOTE, "Cuda compilation tools, release " + toolkit + ", V" + toolkit + ".88");
    add(".shstrtab", SHT_STRTAB);
    sections.back().sh_offset = sizeof(header) + contents.size();
    sections.back().sh_size = names.size();
    contents += names;
    contents.resize((contents.size() + 7) / 8 * 8);
    header.e_shnum = static_cast<uint16_t>(sections.size());
    header.e_shstrndx = static_cast<uint16_t>(sections.size() - 1);
    header.e_shoff = sizeof(header) + contents.size();
    std::string image(reinterpret_cast<char *>(&header), sizeof(header));
    image += contents;
    image.append(reinterpret_cast<char *>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
    return std::vector<char>(image.begin(), image.end());
  }

private:
  Elf64_Ehdr header = {};
  std::vector<Elf64_Shdr> sections;
  std::string names = std::string(1, '\0'), contents;
};

void addRecord(std::string &to, uint8_t form, uint8_t attribute, uint16_t value,
               std::initializer_list<uint32_t> words = {}) {
  RecordHead record = {form, attribute, value};
  to.append(reinterpret_cast<char *>(&record), sizeof(record));
  for (uint32_t word : words)
    to.append(reinterpret_cast<char *>(&word), 4);
}

std::string infoOf(const CubinKernel &kernel) {
  std::string info;
  uint32_t offset = 0, ordinal = 0;
  for (size_t bytes : kernel.sizes) {
    auto size = static_cast<uint32_t>(bytes), unit = std::min(size, 8u);
    offset = (offset + unit - 1) / unit * unit;
    addRecord(info, formSized, attributeParameter, 12,
              {0, ordinal++ | offset << 16, size << 18 | 0x1f000});
    offset += size;
  }
  if (offset)
    addRecord(info, formValue, attributeBankSize, static_cast<uint16_t>(offset));
  if (kernel.block[0])
    addRecord(info, formSized, attributeBlock, 12,
              {kernel.block[0], kernel.block[1], kernel.block[2]});
  if (kernel.maxThreads)
    addRecord(info, formSized, attributeMaxThreads, 12, {kernel.maxThreads, 1, 1});
  if (kernel.cluster[0])
    addRecord(info, formSized, attributeCluster, 12,
              {kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]});
  return info;
}

} // namespace

std::vector<char> makeCubin(int arch, const std::vector<std::string> &kernels,
                            const std::string &toolkit) {
  CubinWriter cubin(arch, atof(toolkit.c_str()) >= 13);
  for (const std::string &kernel : kernels)
    cubin.add(".text." + kernel, SHT_PROGBITS);
  return cubin.finish(toolkit);
}

std::vector<char> makeCubin(int arch, const std::vector<CubinKernel> &kernels, bool suffix) {
  CubinWriter cubin(arch, true);
  std::string names(1, '\0'), symbols, registers, compat;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const CubinKernel &kernel = kernels[i];
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<uint32_t>(names.size());
    names += kernel.name + '\0';
    symbols.append(reinterpret_cast<char *>(&symbol), sizeof(symbol));
    addRecord(registers, formSized, attributeRegisters, 8,
              {static_cast<uint32_t>(i), kernel.registers});
    cubin.add(".text." + kernel.name, SHT_PROGBITS);
    cubin.add(".nv.info." + kernel.name, SHT_LOPROC, infoOf(kernel));
    if (unsigned bytes = kernel.sharedStatic + (arch >= 90 ? reservedShared : 0))
      cubin.add(".nv.shared." + kernel.name, SHT_NOBITS, "", bytes);
  }
  addRecord(compat, formByte, compatSpecific, suffix);
  cubin.add(".nv.compat", SHT_LOPROC, compat);
  cubin.add(".nv.info", SHT_LOPROC, registers);
  cubin.add(".symtab", SHT_SYMTAB, symbols);
  cubin.add(".strtab", SHT_STRTAB, names);
  return cubin.finish("13.0");
}

} // namespace fakecuda
