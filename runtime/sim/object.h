// A shared object that depends on nothing, loaded from memory into memory. The system's loader
// takes files only, and a file in memory has a name only where /proc is mounted.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <memory>
#include <string>

namespace cameo::sim {

/// What simulator images are: position-independent x86-64 code and data without undefined symbols,
/// thread-local variables and initialisers. Anything else is refused.
class Object {
public:
  /// Null on failure, with the reason in `error`; `machineLacks` says whether it is memory, or the
  /// right to execute it, and not the object.
  static std::unique_ptr<Object> load(const void *bytes, size_t size, std::string &error,
                                      bool &machineLacks);
  ~Object();
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;

  /// Null where there is no such symbol, or not so many bytes of that alignment.
  const void *find(const char *symbol, size_t bytes, size_t alignment) const;

private:
  /// What the dynamic section says; addresses are relative to the object's beginning.
  struct Tables {
    uint64_t symbols = 0, strings = 0, stringBytes = 0, hash = 0;
    uint64_t relocations = 0, relocationBytes = 0;
    uint64_t pltRelocations = 0, pltRelocationBytes = 0;
    uint64_t relativeRelocations = 0, relativeRelocationBytes = 0;
  };

  Object(const void *bytes, size_t size)
      : bytes_(static_cast<const uint8_t *>(bytes)), size_(size) {}
  bool readHeaders(std::string &error);
  bool copySegments(std::string &error, bool &machineLacks);
  bool readTables(std::string &error);
  bool countSymbols(std::string &error);
  bool relocate(std::string &error);
  bool relocateBy(uint64_t table, uint64_t bytes, std::string &error);
  bool relocateRelative(std::string &error);
  bool protect(std::string &error, bool &machineLacks);

  /// `count` elements of the file, or of the object in memory; null where they exceed it.
  template <typename T> const T *inFile(uint64_t offset, uint64_t count) const;
  template <typename T> T *inMemory(uint64_t address, uint64_t count) const;

  const uint8_t *bytes_;
  size_t size_;
  const Elf64_Ehdr *header_ = nullptr;
  const Elf64_Phdr *segments_ = nullptr;
  Tables tables_;
  const Elf64_Sym *symbols_ = nullptr;
  uint64_t symbolCount_ = 0;
  uint8_t *memory_ = nullptr;
  uint64_t memoryBytes_ = 0;
};

} // namespace cameo::sim
