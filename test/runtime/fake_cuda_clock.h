// The fake driver's clocks and memory sizes: models of what things take.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_FAKE_CUDA_CLOCK_H
#define CAMEO_TEST_RUNTIME_FAKE_CUDA_CLOCK_H

#include "fake_cuda.h"

#include <map>

namespace fakecuda {

/// What of the GPU a piece of work occupies.
enum class Engine { None, Kernels, Up, Down };

/// When engines are busy. Work is run in another order than a GPU would come to it, so that each
/// takes the first gap that is long enough after all that it waits for.
class Clock {
public:
  ClockModel model;

  /// When work ends that may start at `ready`.
  double run(Engine engine, double ready, double duration);
  double quantised(double microseconds) const;

  /// The calling thread's time. Threads that have made no call since the last reset() start at the
  /// latest time of all.
  double &host();
  void reset();

private:
  std::map<double, double> busy[4]; // begin, end
  uint64_t epoch = 1;
  double latest = 0;
};

/// A device's memory as the driver hands it out: blocks of 2 MiB, in which small allocations share
/// and of which large ones have some of their own.
class MemoryBlocks {
public:
  static constexpr size_t blockBytes = size_t(2) << 20, granule = 512;

  /// What is taken off the device's memory.
  size_t used = 0;

  /// The number of the block; -1: its own. False: there is no memory left.
  bool allocate(size_t bytes, size_t total, int &block);
  void release(size_t bytes, int block);

private:
  struct Block {
    size_t used = 0; // from its start; what is released is used again when all is
    int live = 0;
  };
  std::vector<Block> shared;
};

} // namespace fakecuda

#endif
