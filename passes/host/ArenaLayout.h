// Places in the arena: offsets for buffers whose lifetimes are known, some of them with sizes that
// are known only at run time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace cameo {

/// Alignment of everything in the arena and in the weight section, in bytes.
inline constexpr int64_t kBufferAlignment = 256;

/// A buffer of `size` units that is in use from step `first` to step `last`, both included.
struct ArenaRequest {
  int64_t size;
  int64_t first, last;
};

/// Where each request goes, in units, and where the last one ends. Requests whose steps overlap do
/// not overlap in memory. The largest are placed first, each in the smallest gap that it fits;
/// where millions of pairs share steps, those that are used first.
struct ArenaLayout {
  llvm::SmallVector<int64_t> offsets;
  int64_t extent = 0;
  /// Where a unit is a number of bytes u known only at run time, a request stands at
  /// alignTo(offset * u) + level * kBufferAlignment: requests that share steps stay apart although
  /// the rounding moves each of them, and the whole takes
  /// alignTo(extent * u) + levels * kBufferAlignment bytes.
  llvm::SmallVector<int64_t> levels;
  int64_t levelCount = 0;
};

/// Offsets are multiples of `alignment` units.
ArenaLayout layOutArena(llvm::ArrayRef<ArenaRequest> requests, int64_t alignment);

/// The most units in use at one step: no layout takes less.
int64_t maxLiveUnits(llvm::ArrayRef<ArenaRequest> requests);

} // namespace cameo
