// Device allocations as the checks see them, and the shadows that remember what was done to memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/memory.h"

#include "runtime/sim/check/report.h"
#include "runtime/sim/exec/stacks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cameo::sim {
namespace {
constexpr size_t kAlignment = 256; // what cuMemAlloc guarantees, and no more
} // namespace

RaceShadow::~RaceShadow() { clear(); }

void RaceShadow::restart() {
  used_.store(0, std::memory_order_relaxed);
  atomics_.store(false, std::memory_order_relaxed);
  for (uint32_t plane = 0; plane < kGranule; ++plane) {
    longest_[plane].store(0, std::memory_order_relaxed);
    shortest_[plane].store(0xff, std::memory_order_relaxed);
  }
}

bool RaceShadow::widenSlowly(uint32_t plane, uint32_t bytes, bool atomic, size_t granules) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!planes_[plane].load()) {
    size_t rounded = (granules + 3) / 4 * 4; // records are aligned to 16 bytes
    auto *memory = static_cast<char *>(mapLazily(rounded * Plane::kBytes));
    if (!memory)
      return false;
    if (!granules_) // others may read it now; it never changes
      granules_ = rounded;
    planes_[plane].store(memory);
  }
  used_.fetch_or(1u << plane);
  if (atomic)
    atomics_.store(true);
  if (shortest_[plane].load() > bytes)
    shortest_[plane].store(uint8_t(bytes));
  if (longest_[plane].load() < bytes)
    longest_[plane].store(uint8_t(bytes));
  return true;
}

void RaceShadow::clear() {
  restart();
  for (auto &plane : planes_)
    if (char *memory = plane.exchange(nullptr))
      unmapLazily(memory, granules_ * Plane::kBytes);
}

bool allHaveMark(const uint8_t *marks, uint64_t bytes, uint8_t mark) {
  return marks[0] == mark && !memcmp(marks, marks + 1, bytes - 1);
}

Allocation::~Allocation() {
  if (initialised)
    unmapLazily(initialised, bytes);
  if (owned)
    free(begin);
}

void *Memory::allocate(uint64_t bytes, const char *name, bool tracked) {
  if (bytes > SIZE_MAX - 3 * kAlignment)
    return nullptr;
  // At least a byte, so that empty tensors have distinct addresses too.
  uint64_t rounded = (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  auto allocation = std::make_unique<Allocation>();
  // Never end to end with the next one: an access just beyond the end must not be within that.
  allocation->begin = static_cast<char *>(aligned_alloc(kAlignment, rounded + kAlignment));
  if (!allocation->begin)
    return nullptr;
  allocation->owned = true;
  allocation->bytes = bytes;
  allocation->name = name ? name : "";
  if (tracked && bytes) {
    allocation->initialised = static_cast<uint8_t *>(mapLazily(bytes));
    if (!allocation->initialised)
      return nullptr;
    memset(allocation->begin, 0xff, bytes); // NaN in every floating-point format
  }
  void *memory = allocation->begin;
  std::lock_guard<std::mutex> lock(mutex_);
  allocations_[reinterpret_cast<uintptr_t>(memory)] = std::move(allocation);
  return memory;
}

void Memory::adopt(void *memory, uint64_t bytes, const char *name) {
  auto allocation = std::make_unique<Allocation>();
  allocation->begin = static_cast<char *>(memory);
  allocation->bytes = bytes;
  allocation->name = name ? name : "";
  std::lock_guard<std::mutex> lock(mutex_);
  allocations_[reinterpret_cast<uintptr_t>(memory)] = std::move(allocation);
}

void Memory::release(void *memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  allocations_.erase(reinterpret_cast<uintptr_t>(memory));
}

void Memory::rename(const void *memory, const char *name) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = allocations_.find(reinterpret_cast<uintptr_t>(memory));
  if (it != allocations_.end())
    it->second->name = name ? name : "";
}

void Memory::mark(const void *begin, uint64_t bytes, bool initialised) {
  std::lock_guard<std::mutex> lock(mutex_);
  uintptr_t address = reinterpret_cast<uintptr_t>(begin);
  Allocation *allocation = findLocked(address);
  if (!allocation)
    return;
  if (initialised)
    allocation->hostFilled = true;
  if (!allocation->initialised)
    return;
  uint64_t offset = address - reinterpret_cast<uintptr_t>(allocation->begin);
  memset(allocation->initialised + offset, initialised ? kWritten : kUnwritten,
         std::min(bytes, allocation->bytes - offset));
}

void Memory::copyMarks(const void *target, const void *source, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  Allocation *to = findLocked(reinterpret_cast<uintptr_t>(target));
  Allocation *from = findLocked(reinterpret_cast<uintptr_t>(source));
  if (!to || !to->initialised)
    return;
  uint64_t offset = uint64_t(static_cast<const char *>(target) - to->begin);
  bytes = std::min(bytes, to->bytes - offset);
  if (!from || !from->initialised) {
    memset(to->initialised + offset, kWritten, bytes);
    return;
  }
  uint64_t sourceOffset = uint64_t(static_cast<const char *>(source) - from->begin);
  bytes = std::min(bytes, from->bytes - sourceOffset);
  // As which value the bytes were written in the one place says nothing in the other.
  uint8_t *marks = to->initialised + offset;
  memmove(marks, from->initialised + sourceOffset, bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    marks[i] = marks[i] ? kWritten : kUnwritten;
}

uint8_t *Memory::marksOf(const void *begin, uint64_t &bytes, Allocation *&allocation) {
  allocation = findLocked(reinterpret_cast<uintptr_t>(begin));
  if (!allocation || !allocation->initialised)
    return nullptr;
  uint64_t offset = uint64_t(static_cast<const char *>(begin) - allocation->begin);
  bytes = std::min(bytes, allocation->bytes - offset);
  return allocation->initialised + offset;
}

void Memory::beginValue(const void *begin, uint64_t bytes, uint32_t value, const char *name) {
  std::lock_guard<std::mutex> lock(mutex_);
  Allocation *allocation = nullptr;
  uint8_t *marks = marksOf(begin, bytes, allocation);
  if (!marks)
    return;
  memset(marks, kUnwritten, bytes);
  allocation->values.resize(kFirstValueMark + kValueMarks);
  allocation->values[markOf(value)] = {name, uint64_t(marks - allocation->initialised), bytes,
                                       ++allocation->valuesBegun};
}

void Memory::markValue(const void *begin, uint64_t bytes, uint32_t value) {
  std::lock_guard<std::mutex> lock(mutex_);
  Allocation *allocation = nullptr;
  uint8_t *marks = marksOf(begin, bytes, allocation);
  for (uint64_t i = 0; marks && i < bytes; ++i)
    marks[i] = marks[i] ? markOf(value) : kUnwritten;
}

bool Memory::findOverwritten(const void *begin, uint64_t bytes, uint32_t value,
                             std::string &address, std::string &writer) {
  std::lock_guard<std::mutex> lock(mutex_);
  Allocation *allocation = nullptr;
  const uint8_t *marks = marksOf(begin, bytes, allocation);
  if (!marks || !bytes || allHaveMark(marks, bytes, markOf(value)))
    return false;
  for (uint64_t i = 0; i < bytes; ++i) {
    if (marks[i] == kUnwritten || mayBeReadAs(marks[i], markOf(value)))
      continue;
    address = format("%s+0x%llx", allocation->nameOf(markOf(value)), (unsigned long long)i);
    writer = allocation->nameOf(marks[i]);
    return true;
  }
  return false;
}

bool Memory::findUnmarked(const void *begin, uint64_t bytes, std::string &address) {
  std::lock_guard<std::mutex> lock(mutex_);
  Allocation *allocation = findLocked(reinterpret_cast<uintptr_t>(begin));
  if (!allocation || !allocation->initialised)
    return false;
  uint64_t offset = uint64_t(static_cast<const char *>(begin) - allocation->begin);
  bytes = std::min(bytes, allocation->bytes - offset);
  const void *first = memchr(allocation->initialised + offset, 0, bytes);
  if (!first)
    return false;
  offset = uint64_t(static_cast<const uint8_t *>(first) - allocation->initialised);
  address = format("%s+0x%llx", allocation->name.empty() ? "buffer" : allocation->name.c_str(),
                   (unsigned long long)offset);
  return true;
}

Allocation *Memory::findLocked(uintptr_t address) {
  auto it = allocations_.upper_bound(address);
  if (it == allocations_.begin())
    return nullptr;
  Allocation *allocation = (--it)->second.get();
  return address - it->first < allocation->bytes ? allocation : nullptr;
}

Allocation *Memory::find(const void *address) {
  std::lock_guard<std::mutex> lock(mutex_);
  return findLocked(reinterpret_cast<uintptr_t>(address));
}

std::vector<Range> Memory::ranges() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Range> result;
  for (auto &entry : allocations_) {
    Allocation &a = *entry.second;
    result.push_back({a.begin, a.bytes, a.name, &a, ~0u});
  }
  return result;
}

} // namespace cameo::sim
