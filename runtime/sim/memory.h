// Device allocations as the checks see them, and the shadows that remember what was done to memory.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_MEMORY_H
#define CAMEO_SIM_MEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cameo::sim {

/// Who accessed some bytes: of global memory `tag` is the launch, of shared memory the worker's
/// running number of the block.
struct Access {
  uint32_t tag;
  uint32_t block; // linear, low bits
  uint32_t stamp;
  uint32_t who; // thread | atomic << 10 | (bytes - 1) << 11 | site << 13

  static constexpr uint32_t kUnknownSite = (1u << 19) - 1;
  static uint32_t pack(uint32_t thread, bool atomic, uint32_t bytes, uint32_t site) {
    return thread | uint32_t(atomic) << 10 | (bytes - 1) << 11 |
           (site < kUnknownSite ? site : kUnknownSite) << 13;
  }
  uint32_t thread() const { return who & 1023; }
  bool atomic() const { return who >> 10 & 1; }
  uint32_t bytes() const { return (who >> 11 & 3) + 1; }
  uint32_t site() const { return who >> 13; }
};

/// The last plain write of a granule, and the last reads or atomics by two different threads: a
/// later write by one of the two still finds the other.
struct Cell {
  Access write;
  Access uses[2];
};

constexpr uint32_t kGranule = 4; // bytes a cell

/// Cells of a stretch of memory. There is a plane for each byte of a granule where an access can
/// begin, so that neighbours of 1 or 2 bytes written by different threads are told apart; planes
/// that nobody needs are never touched.
class RaceShadow {
public:
  RaceShadow() = default;
  ~RaceShadow();
  RaceShadow(const RaceShadow &) = delete;
  RaceShadow &operator=(const RaceShadow &) = delete;

  /// Of `granules` cells a plane. Thread-safe; null without memory.
  Cell *plane(uint32_t index, size_t granules) {
    Cell *cells = planes_[index].load(std::memory_order_acquire);
    return cells ? cells : create(index, granules);
  }
  Cell *existing(uint32_t index) const { return planes_[index].load(std::memory_order_acquire); }
  void clear();

private:
  Cell *create(uint32_t index, size_t granules);
  std::atomic<Cell *> planes_[kGranule] = {};
  size_t granules_ = 0;
  std::mutex mutex_;
};

/// Of a block's shared memory: a byte a byte (1: initialised), and the cells.
struct SharedShadow {
  std::unique_ptr<uint8_t[]> initialised;
  RaceShadow races;
};

struct Allocation {
  char *begin = nullptr;
  uint64_t bytes = 0;
  std::string name;
  bool owned = false;
  uint8_t *initialised = nullptr; // a byte a byte, 1: initialised; null: all of it is
  RaceShadow races;
  // Memory that the host fills and kernels only read, weights above all, needs no record of reads.
  std::atomic<bool> hostFilled{false};
  std::atomic<bool> kernelWritten{false};
  bool notesReads() const {
    return kernelWritten.load(std::memory_order_relaxed) ||
           !hostFilled.load(std::memory_order_relaxed);
  }

  Allocation() = default;
  ~Allocation();
  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;
  uintptr_t firstGranule() const { return reinterpret_cast<uintptr_t>(begin) / kGranule; }
  size_t granules() const {
    return (reinterpret_cast<uintptr_t>(begin) + bytes + kGranule - 1) / kGranule - firstGranule();
  }
};

/// What global accesses of a launch may touch.
struct Range {
  const char *begin = nullptr;
  uint64_t bytes = 0;
  std::string name;
  Allocation *allocation = nullptr;
  bool contains(const char *address, uint32_t size) const {
    uint64_t offset = uint64_t(address - begin);
    return offset < bytes && size <= bytes - offset;
  }
};

/// The range each instruction hit last.
struct RangeCache {
  static constexpr uint32_t kEntries = 64;
  Range *entries[kEntries] = {};
};

/// The device's allocations. Thread-safe.
class Memory {
public:
  /// `tracked`: uninitialised bytes are remembered.
  void *allocate(uint64_t bytes, const char *name, bool tracked);
  void adopt(void *memory, uint64_t bytes, const char *name);
  void release(void *memory);
  void rename(const void *memory, const char *name);
  void mark(const void *begin, uint64_t bytes, bool initialised);
  void copyMarks(const void *target, const void *source, uint64_t bytes);
  /// Whether some byte of the range is not initialised; names the first.
  bool findUnmarked(const void *begin, uint64_t bytes, std::string &address);
  /// The allocation that holds the address, or null.
  Allocation *find(const void *address);
  std::vector<Range> ranges();

private:
  std::map<uintptr_t, std::unique_ptr<Allocation>> allocations_; // by first byte
  std::mutex mutex_;
  Allocation *findLocked(uintptr_t address);
};

} // namespace cameo::sim

#endif
