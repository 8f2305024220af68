// Loading of shared objects after the System V ABI, its AMD64 supplement and the generic ABI's
// relative relocations (SHT_RELR).
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/object.h"

#include "runtime/sim/check/report.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace cameo::sim {
namespace {

constexpr uint64_t kPage = 4096;
// Far above any image; keeps sums of addresses from overflowing.
constexpr uint64_t kMostBytes = uint64_t(1) << 40;

uint64_t pageBelow(uint64_t address) { return address / kPage * kPage; }
uint64_t pageAbove(uint64_t address) { return (address + kPage - 1) / kPage * kPage; }

bool fail(std::string &error, const char *what) {
  error = what;
  return false;
}

} // namespace

template <typename T> const T *Object::inFile(uint64_t offset, uint64_t count) const {
  bool fits = offset <= size_ && count <= (size_ - offset) / sizeof(T) && offset % alignof(T) == 0;
  return fits ? reinterpret_cast<const T *>(bytes_ + offset) : nullptr;
}

template <typename T> T *Object::inMemory(uint64_t address, uint64_t count) const {
  bool fits = address <= memoryBytes_ && count <= (memoryBytes_ - address) / sizeof(T) &&
              address % alignof(T) == 0;
  return fits ? reinterpret_cast<T *>(memory_ + address) : nullptr;
}

std::unique_ptr<Object> Object::load(const void *bytes, size_t size, std::string &error,
                                     bool &machineLacks) {
  machineLacks = false;
  std::unique_ptr<Object> object(new Object(bytes, size));
  if (!object->readHeaders(error) || !object->copySegments(error, machineLacks) ||
      !object->readTables(error) || !object->countSymbols(error) || !object->relocate(error) ||
      !object->protect(error, machineLacks))
    return nullptr;
  // The file's bytes need not stay.
  object->bytes_ = nullptr;
  object->header_ = nullptr;
  object->segments_ = nullptr;
  return object;
}

Object::~Object() {
  if (memory_)
    munmap(memory_, memoryBytes_);
}

bool Object::readHeaders(std::string &error) {
  header_ = inFile<Elf64_Ehdr>(0, 1);
  if (!header_)
    return fail(error, "it ends within its header");
  if (header_->e_type != ET_DYN || header_->e_machine != EM_X86_64 ||
      header_->e_phentsize != sizeof(Elf64_Phdr))
    return fail(error, "it is not a shared object for x86-64");
  segments_ = inFile<Elf64_Phdr>(header_->e_phoff, header_->e_phnum);
  if (!segments_)
    return fail(error, "it ends within its program headers");
  uint64_t end = 0;
  for (unsigned i = 0; i < header_->e_phnum; ++i) {
    const Elf64_Phdr &segment = segments_[i];
    if (segment.p_type == PT_TLS)
      return fail(error, "it has thread-local variables");
    if (segment.p_type != PT_LOAD)
      continue;
    if (!inFile<uint8_t>(segment.p_offset, segment.p_filesz) ||
        segment.p_filesz > segment.p_memsz || segment.p_vaddr > kMostBytes ||
        segment.p_memsz > kMostBytes)
      return fail(error, "a segment exceeds it");
    if (!(segment.p_flags & PF_R))
      return fail(error, "a segment cannot be read");
    // Each segment gets protection of its own.
    if (pageBelow(segment.p_vaddr) < pageAbove(end))
      return fail(error, "segments share a page or are out of order");
    end = segment.p_vaddr + segment.p_memsz;
  }
  memoryBytes_ = pageAbove(end);
  return end ? true : fail(error, "it has no segments");
}

bool Object::copySegments(std::string &error, bool &machineLacks) {
  void *memory =
      mmap(nullptr, memoryBytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    machineLacks = true;
    error = format("%llu bytes of memory: %s", (unsigned long long)memoryBytes_, strerror(errno));
    return false;
  }
  memory_ = static_cast<uint8_t *>(memory);
  for (unsigned i = 0; i < header_->e_phnum; ++i)
    if (const Elf64_Phdr &segment = segments_[i]; segment.p_type == PT_LOAD)
      memcpy(memory_ + segment.p_vaddr, bytes_ + segment.p_offset, segment.p_filesz);
  return true;
}

bool Object::readTables(std::string &error) {
  const Elf64_Dyn *entry = nullptr;
  uint64_t count = 0;
  for (unsigned i = 0; i < header_->e_phnum; ++i)
    if (segments_[i].p_type == PT_DYNAMIC) {
      count = segments_[i].p_memsz / sizeof(Elf64_Dyn);
      entry = inMemory<Elf64_Dyn>(segments_[i].p_vaddr, count);
    }
  if (!entry)
    return fail(error, "it has no dynamic section");
  for (; count && entry->d_tag != DT_NULL; ++entry, --count) {
    uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
      // clang-format off
    case DT_SYMTAB: tables_.symbols = value; break;
    case DT_STRTAB: tables_.strings = value; break;
    case DT_STRSZ: tables_.stringBytes = value; break;
    case DT_GNU_HASH: tables_.hash = value; break;
    case DT_RELA: tables_.relocations = value; break;
    case DT_RELASZ: tables_.relocationBytes = value; break;
    case DT_JMPREL: tables_.pltRelocations = value; break;
    case DT_PLTRELSZ: tables_.pltRelocationBytes = value; break;
    case DT_RELR: tables_.relativeRelocations = value; break;
    case DT_RELRSZ: tables_.relativeRelocationBytes = value; break;
    case DT_NEEDED: return fail(error, "it needs other libraries");
    case DT_INIT: case DT_INIT_ARRAY: case DT_FINI: case DT_FINI_ARRAY:
      return fail(error, "it has initialisers or finalisers");
    // clang-format on
    default:
      break;
    }
  }
  return true;
}

// The symbol table's length is nowhere but in the hash table: its last chain ends with it.
bool Object::countSymbols(std::string &error) {
  const char *broken = "its symbol table is malformed";
  const uint32_t *head = inMemory<uint32_t>(tables_.hash, 4);
  if (!tables_.hash || !head)
    return fail(error, "it has no table of symbols");
  uint64_t bucketCount = head[0], first = head[1], bloomWords = head[2];
  uint64_t buckets = tables_.hash + 4 * sizeof(uint32_t) + bloomWords * sizeof(uint64_t);
  const uint32_t *bucket = inMemory<uint32_t>(buckets, bucketCount);
  if (!bucket)
    return fail(error, broken);
  uint64_t last = 0;
  for (uint64_t i = 0; i < bucketCount; ++i)
    last = bucket[i] > last ? bucket[i] : last;
  symbolCount_ = first;
  if (last >= first && last) {
    uint64_t chains = buckets + bucketCount * sizeof(uint32_t);
    for (symbolCount_ = last;; ++symbolCount_) {
      const uint32_t *chain = inMemory<uint32_t>(chains + (symbolCount_ - first) * 4, 1);
      if (!chain)
        return fail(error, broken);
      if (*chain & 1)
        break;
    }
    ++symbolCount_;
  }
  symbols_ = inMemory<Elf64_Sym>(tables_.symbols, symbolCount_);
  const char *strings = inMemory<char>(tables_.strings, tables_.stringBytes);
  if (!symbols_ || !strings || !tables_.stringBytes || strings[tables_.stringBytes - 1])
    return fail(error, broken);
  return true;
}

bool Object::relocate(std::string &error) {
  return relocateBy(tables_.relocations, tables_.relocationBytes, error) &&
         relocateBy(tables_.pltRelocations, tables_.pltRelocationBytes, error) &&
         relocateRelative(error);
}

bool Object::relocateBy(uint64_t table, uint64_t bytes, std::string &error) {
  uint64_t count = bytes / sizeof(Elf64_Rela), base = reinterpret_cast<uint64_t>(memory_);
  const Elf64_Rela *entry = inMemory<Elf64_Rela>(table, count);
  if (!entry)
    return fail(error, "its relocations exceed it");
  for (; count; ++entry, --count) {
    uint64_t *place = inMemory<uint64_t>(entry->r_offset, 1);
    uint64_t symbol = ELF64_R_SYM(entry->r_info);
    uint32_t type = ELF64_R_TYPE(entry->r_info);
    if (!place || symbol >= symbolCount_)
      return fail(error, "a relocation exceeds it");
    switch (type) {
    case R_X86_64_RELATIVE:
      *place = base + uint64_t(entry->r_addend);
      break;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
      if (symbols_[symbol].st_shndx == SHN_UNDEF)
        return fail(error, "a symbol is undefined");
      *place = base + symbols_[symbol].st_value + uint64_t(entry->r_addend);
      break;
    default:
      error = format("relocation of unknown type %u", type);
      return false;
    }
  }
  return true;
}

// A word is the address of a place, or, if odd, says which of the next 63 words are places as well.
bool Object::relocateRelative(std::string &error) {
  uint64_t count = tables_.relativeRelocationBytes / sizeof(uint64_t), next = 0;
  const uint64_t *entry = inMemory<uint64_t>(tables_.relativeRelocations, count);
  if (!entry)
    return fail(error, "its relocations exceed it");
  auto relocateAt = [&](uint64_t address) {
    uint64_t *place = inMemory<uint64_t>(address, 1);
    if (place)
      *place += reinterpret_cast<uint64_t>(memory_);
    return place != nullptr;
  };
  for (; count; ++entry, --count) {
    bool good = true;
    if (*entry % 2 == 0) {
      good = relocateAt(*entry);
      next = *entry + sizeof(uint64_t);
    } else {
      for (unsigned bit = 1; bit < 64; ++bit)
        if (*entry >> bit & 1)
          good &= relocateAt(next + (bit - 1) * sizeof(uint64_t));
      next += 63 * sizeof(uint64_t);
    }
    if (!good)
      return fail(error, "a relocation exceeds it");
  }
  return true;
}

bool Object::protect(std::string &error, bool &machineLacks) {
  for (unsigned i = 0; i < header_->e_phnum; ++i) {
    const Elf64_Phdr &segment = segments_[i];
    uint64_t begin = pageBelow(segment.p_vaddr), end = pageAbove(segment.p_vaddr + segment.p_memsz);
    int protection = PROT_READ;
    if (segment.p_type == PT_GNU_RELRO) // constant once it is relocated
      end = pageBelow(segment.p_vaddr + segment.p_memsz);
    else if (segment.p_type == PT_LOAD)
      protection |=
          (segment.p_flags & PF_W ? PROT_WRITE : 0) | (segment.p_flags & PF_X ? PROT_EXEC : 0);
    else
      continue;
    if (begin >= end)
      continue;
    if (end > memoryBytes_)
      return fail(error, "a segment exceeds it");
    if (mprotect(memory_ + begin, end - begin, protection) != 0) {
      machineLacks = true;
      error = format("the system does not let memory be executed: %s", strerror(errno));
      return false;
    }
  }
  return true;
}

const void *Object::find(const char *symbol, size_t bytes, size_t alignment) const {
  const char *strings = inMemory<char>(tables_.strings, tables_.stringBytes);
  const size_t length = strlen(symbol) + 1;
  for (uint64_t i = 0; i < symbolCount_; ++i) {
    const Elf64_Sym &known = symbols_[i];
    // Relocations may have been written anywhere, over the strings' last NUL as well.
    if (known.st_shndx != SHN_UNDEF && known.st_name < tables_.stringBytes &&
        length <= tables_.stringBytes - known.st_name &&
        memcmp(strings + known.st_name, symbol, length) == 0)
      return known.st_value % alignment ? nullptr : inMemory<uint8_t>(known.st_value, bytes);
  }
  return nullptr;
}

} // namespace cameo::sim
