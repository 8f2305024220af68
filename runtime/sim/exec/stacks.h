// Stacks of a worker's fibers, and the shared-memory window of its block.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_STACKS_H
#define CAMEO_SIM_STACKS_H

#include <cstddef>
#include <cstdint>

namespace cameo::sim {

/// A row of equal stacks in one mapping, kept between launches. Pages are committed when touched.
class Stacks {
public:
  Stacks() = default;
  ~Stacks();
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;

  /// Room for `count` stacks of at least `bytes`, with a guard page below each where `guard` is
  /// set. False without memory.
  bool reserve(uint32_t count, size_t bytes, bool guard);
  /// Where the stack of fiber `index` starts to grow down; 16-byte aligned. Tops are staggered:
  /// the hot frames of lanes that run in lockstep must not all fall into one set of the L1 cache.
  char *top(uint32_t index) const { return base_ + stride_ * (index + 1) - (index * 5 % 32) * 128; }
  bool guarded() const { return guarded_; }
  /// Marks the lowest words, and tells whether they are still marked: without guard pages, the way
  /// to see an overflow.
  void mark(uint32_t index) const;
  bool intact(uint32_t index) const;

private:
  char *base_ = nullptr;
  size_t stride_ = 0;
  uint32_t count_ = 0;
  bool guarded_ = false;
  bool guardsRefused_ = false;
  void unmap();
};

/// Windows of kSharedWindow bytes in a row, aligned to that size.
class SharedWindow {
public:
  SharedWindow() = default;
  ~SharedWindow();
  SharedWindow(const SharedWindow &) = delete;
  SharedWindow &operator=(const SharedWindow &) = delete;
  bool reserve(uint32_t count);
  char *data() const { return data_; }

private:
  char *data_ = nullptr;
  uint32_t count_ = 0;
};

/// Zeroed memory that is committed when touched; null without memory.
void *mapLazily(size_t bytes);
void unmapLazily(void *memory, size_t bytes);

} // namespace cameo::sim

#endif
