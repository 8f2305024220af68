// Stacks of a worker's fibers, and the shared-memory window of its block.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/stacks.h"

#include "runtime/sim/exec/worker.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace cameo::sim {
namespace {
constexpr size_t kPage = 4096;
constexpr size_t kStagger = 4096; // what Stacks::top takes off at most
constexpr uint64_t kMark[2] = {0x43414d454f535441ull, 0x434b4d41524b5321ull};
} // namespace

void *mapLazily(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmapLazily(void *memory, size_t bytes) {
  if (memory)
    munmap(memory, bytes);
}

Stacks::~Stacks() { unmap(); }

void Stacks::unmap() {
  unmapLazily(base_, stride_ * count_);
  base_ = nullptr;
  stride_ = 0;
  count_ = 0;
  guarded_ = false;
}

bool Stacks::reserve(uint32_t count, size_t bytes, bool guard) {
  guard &= !guardsRefused_;
  size_t stride = (bytes + kStagger + kPage - 1) / kPage * kPage + (guard ? kPage : 0);
  if (stride <= stride_ && count <= count_ && (guarded_ || !guard))
    return true;
  stride = std::max(stride, stride_);
  count = std::max(count, count_);
  guard |= guarded_;
  unmap();
  base_ = static_cast<char *>(mapLazily(stride * count));
  if (!base_)
    return false;
  stride_ = stride;
  count_ = count;
  guarded_ = guard;
  for (uint32_t i = 0; guarded_ && i < count; ++i) {
    if (mprotect(base_ + stride * i, kPage, PROT_NONE) == 0)
      continue;
    // The kernel's limit of mappings: go on with marks.
    mprotect(base_, stride * i, PROT_READ | PROT_WRITE);
    guarded_ = false;
    guardsRefused_ = true;
  }
  return true;
}

void Stacks::mark(uint32_t index) const { memcpy(base_ + stride_ * index, kMark, sizeof kMark); }

bool Stacks::intact(uint32_t index) const {
  return memcmp(base_ + stride_ * index, kMark, sizeof kMark) == 0;
}

SharedWindow::~SharedWindow() { unmapLazily(data_, size_t(count_) * kSharedWindow); }

bool SharedWindow::reserve(uint32_t count) {
  if (count <= count_)
    return true;
  unmapLazily(data_, size_t(count_) * kSharedWindow);
  data_ = nullptr;
  count_ = 0;
  size_t bytes = size_t(count) * kSharedWindow;
  char *more = static_cast<char *>(mapLazily(bytes + kSharedWindow));
  if (!more)
    return false;
  size_t before = -reinterpret_cast<uintptr_t>(more) & (kSharedWindow - 1);
  data_ = more + before;
  count_ = count;
  unmapLazily(before ? more : nullptr, before);
  unmapLazily(data_ + bytes, kSharedWindow - before);
  return true;
}

} // namespace cameo::sim
