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

/// Lanes of a warp that have accessed the same bytes by one instruction, without having
/// synchronised in between.
struct alignas(16) Access {
  uint32_t owner; // the cluster of blocks: LaunchState::owner; 0: nothing is recorded
  uint32_t stamp; // of the warp: Clocks
  uint32_t who;   // warp in the cluster | atomic << 9 | (bytes - 1) << 10 | site << 14
  uint32_t lanes;

  static constexpr uint32_t kUnknownSite = (1u << 18) - 1;
  static uint32_t pack(uint32_t warp, bool atomic, uint32_t bytes, uint32_t site) {
    return warp | uint32_t(atomic) << 9 | (bytes - 1) << 10 |
           (site < kUnknownSite ? site : kUnknownSite) << 14;
  }
  uint32_t warp() const { return who & 511; }
  bool atomic() const { return who >> 9 & 1; }
  uint32_t bytes() const { return (who >> 10 & 15) + 1; }
  uint32_t site() const { return who >> 14; }
};

constexpr uint32_t kGranule = 16; // bytes: the widest access

/// Marks of bytes: kUnwritten, kWritten, or the value of an arena that they were written as. There
/// are more values than marks. Those that share one are so far from each other in the plan that
/// they seldom live together.
constexpr uint8_t kUnwritten = 0, kWritten = 1, kFirstValueMark = 2;
constexpr uint32_t kValueMarks = 256 - kFirstValueMark;
/// `value`: its number, or 0.
constexpr uint8_t markOf(uint32_t value) {
  return value ? uint8_t(kFirstValueMark + (value - 1) % kValueMarks) : kWritten;
}
/// Whether a byte with the mark `found` may be read as what has the mark `wanted`. What was written
/// without a number, by the host above all, may be read as any value, and any without one.
constexpr bool mayBeReadAs(uint8_t found, uint8_t wanted) {
  return found == wanted || (found && (found == kWritten || wanted == kWritten));
}
/// Whether all bytes, of which there is one at least, have the mark.
bool allHaveMark(const uint8_t *marks, uint64_t bytes, uint8_t mark);

/// What is remembered of the accesses that begin at one byte of their granules, by granule: the
/// last plain write, and since then the reads or atomics of two warps, where so many are not
/// ordered one after the other.
///
/// A key sums up the accesses that it stands beside: of shared memory the latest stamp, of global
/// memory the greatest owner. Most checks look at keys alone, which lie in a row.
struct Plane {
  uint32_t *writeKeys;
  uint32_t *useKeys; // 0: no use since the last write, whatever `uses` holds
  Access *writes;
  Access *uses[2];

  /// In the key of uses: further reads need not be recorded, as of any two warps that read a
  /// granule at the same time (shared memory: with the same stamp; global memory: in different
  /// clusters).
  static constexpr uint32_t kFull = 1u << 31;
  static constexpr size_t kBytes = 2 * sizeof(uint32_t) + 3 * sizeof(Access); // a granule
};

/// Planes of a stretch of memory: plane p holds the accesses that begin at byte p of their granule.
/// So an access of any size needs one entry, neighbours of any size by different threads are told
/// apart, and planes that nobody needs are never touched.
class RaceShadow {
public:
  RaceShadow() = default;
  ~RaceShadow();
  RaceShadow(const RaceShadow &) = delete;
  RaceShadow &operator=(const RaceShadow &) = delete;

  /// A launch begins: what is recorded is out of date.
  void restart();
  /// Makes ready for an access of `bytes` that begins in plane `plane`, which has `granules`
  /// entries. False without memory. Other workers widen at the same time: what is seen of one is
  /// seen of all before it.
  bool widen(uint32_t plane, uint32_t bytes, bool atomic, size_t granules) {
    return __builtin_expect(longest(plane) >= bytes && shortest(plane) <= bytes &&
                                (!atomic || hasAtomics()),
                            1) ||
           widenSlowly(plane, bytes, atomic, granules);
  }
  /// Planes in use since restart(), a bit each; the longest and the shortest access recorded in
  /// them.
  uint32_t used() const { return used_.load(std::memory_order_acquire); }
  uint32_t longest(uint32_t index) const { return longest_[index].load(std::memory_order_acquire); }
  uint32_t shortest(uint32_t index) const {
    return shortest_[index].load(std::memory_order_acquire);
  }
  /// Whether there have been atomics since restart().
  bool hasAtomics() const { return atomics_.load(std::memory_order_acquire); }
  Plane plane(uint32_t index) const {
    char *at = planes_[index].load(std::memory_order_acquire);
    auto *keys = reinterpret_cast<uint32_t *>(at);
    auto *records = reinterpret_cast<Access *>(keys + 2 * granules_);
    return {keys, keys + granules_, records, {records + granules_, records + 2 * granules_}};
  }
  /// Planes that hold accesses which may touch bytes [first, first + count) of their granule.
  uint32_t planesOf(uint32_t first, uint32_t count) const {
    uint32_t result = used() & ((1u << (first + count)) - 1);
    for (uint32_t rest = result & ((1u << first) - 1); rest; rest &= rest - 1)
      if (uint32_t plane = uint32_t(__builtin_ctz(rest)); plane + longest(plane) <= first)
        result &= ~(1u << plane);
    return result;
  }
  void clear();

private:
  bool widenSlowly(uint32_t plane, uint32_t bytes, bool atomic, size_t granules);
  std::atomic<uint32_t> used_{0};
  std::atomic<uint8_t> longest_[kGranule] = {};
  std::atomic<uint8_t> shortest_[kGranule] = {};
  std::atomic<bool> atomics_{false};
  std::atomic<char *> planes_[kGranule] = {};
  size_t granules_ = 0; // rounded up
  std::mutex mutex_;
};

/// The shadow of the shared memory of a cluster's blocks, window by window: a byte a byte (kUnwritten or
/// kWritten), and the cells.
struct SharedShadow {
  uint32_t windows = 0; // that `initialised` has room for
  std::unique_ptr<uint8_t[]> initialised;
  RaceShadow races;
};

/// A value in the arena, the last that has had its mark.
struct ArenaValue {
  std::string name;
  uint64_t offset = 0, bytes = 0; // in the allocation
  uint64_t order = 0;             // among those that have begun, from 1 on
};

struct Allocation {
  char *begin = nullptr;
  uint64_t bytes = 0;
  std::string name;
  bool owned = false;
  uint8_t *initialised = nullptr; // a mark a byte; null: all of it is
  std::vector<ArenaValue> values; // by mark; empty until one has begun
  uint64_t valuesBegun = 0;
  /// The name in reports of the value with a mark.
  const char *nameOf(uint8_t mark) const {
    return mark < values.size() && !values[mark].name.empty() ? values[mark].name.c_str()
                                                              : "a value without a name";
  }
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
  bool readOnly = false;    // nothing in this launch writes what the range contains
  bool initialised = false; // all of it; false: perhaps not
  uint8_t mark = kWritten;  // of what is written through it
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
  void beginValue(const void *begin, uint64_t bytes, uint32_t value, const char *name);
  void markValue(const void *begin, uint64_t bytes, uint32_t value);
  void copyMarks(const void *target, const void *source, uint64_t bytes);
  /// Whether some byte of the range is not initialised; names the first.
  bool findUnmarked(const void *begin, uint64_t bytes, std::string &address);
  /// True if some byte of the value was last written as another's; names it and that.
  bool findOverwritten(const void *begin, uint64_t bytes, uint32_t value, std::string &address,
                       std::string &writer);
  /// The allocation that holds the address, or null.
  Allocation *find(const void *address);
  std::vector<Range> ranges();

private:
  std::map<uintptr_t, std::unique_ptr<Allocation>> allocations_; // by first byte
  std::mutex mutex_;
  Allocation *findLocked(uintptr_t address);
  /// The marks of a range, as much of it as one allocation has; null where there are none.
  uint8_t *marksOf(const void *begin, uint64_t &bytes, Allocation *&allocation);
};

} // namespace cameo::sim

#endif
