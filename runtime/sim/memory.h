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
  uint32_t who; // thread | atomic << 10 | (bytes - 1) << 11 | site << 15

  static constexpr uint32_t kUnknownSite = (1u << 17) - 1;
  static uint32_t pack(uint32_t thread, bool atomic, uint32_t bytes, uint32_t site) {
    return thread | uint32_t(atomic) << 10 | (bytes - 1) << 11 |
           (site < kUnknownSite ? site : kUnknownSite) << 15;
  }
  uint32_t thread() const { return who & 1023; }
  bool atomic() const { return who >> 10 & 1; }
  uint32_t bytes() const { return (who >> 11 & 15) + 1; }
  uint32_t site() const { return who >> 15; }
};

/// The last plain write, and the last reads or atomics by two different threads: a later write by
/// one of the two still finds the other.
struct Cell {
  Access write;
  Access uses[2];
};

constexpr uint32_t kGranule = 16; // bytes: the widest access

/// Cells of a stretch of memory, one a granule and plane. Plane p holds the accesses that begin at
/// byte p of their granule. So an access of any size needs one cell, neighbours of any size by
/// different threads are told apart, and planes that nobody needs are never touched.
class RaceShadow {
public:
  RaceShadow() = default;
  ~RaceShadow();
  RaceShadow(const RaceShadow &) = delete;
  RaceShadow &operator=(const RaceShadow &) = delete;

  /// A launch begins: what is in the cells is out of date.
  void restart() {
    used_.store(0, std::memory_order_relaxed);
    for (auto &bytes : longest_)
      bytes.store(0, std::memory_order_relaxed);
  }
  /// The plane to note an access of `bytes` in, of `granules` cells. Null without memory. Other
  /// workers widen at the same time: what is seen of one is seen of all before it.
  Cell *note(uint32_t plane, uint32_t bytes, size_t granules) {
    if (longest_[plane].load(std::memory_order_acquire) < bytes && !widen(plane, bytes, granules))
      return nullptr;
    return planes_[plane].load(std::memory_order_acquire);
  }
  /// Planes in use since restart(), a bit each; their cells; the longest access noted in them.
  uint32_t used() const { return used_.load(std::memory_order_acquire); }
  Cell *plane(uint32_t index) const { return planes_[index].load(std::memory_order_acquire); }
  uint32_t longest(uint32_t index) const { return longest_[index].load(std::memory_order_acquire); }
  void clear();

private:
  bool widen(uint32_t plane, uint32_t bytes, size_t granules);
  std::atomic<uint32_t> used_{0};
  std::atomic<uint8_t> longest_[kGranule] = {};
  std::atomic<Cell *> planes_[kGranule] = {};
  size_t granules_ = 0;
  std::mutex mutex_;
};

/// Of the shared memory of a cluster's blocks, window by window: a byte a byte (1: initialised),
/// and the cells.
struct SharedShadow {
  uint32_t windows = 0; // that `initialised` has room for
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
  uint32_t parameter = ~0u; // BufferRange::parameter
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
