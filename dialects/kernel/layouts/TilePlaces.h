// Where the tiles of a kernel are in its shared memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/MapVector.h"

namespace cameo::kernel {

struct TilePlaces {
  /// Tiles that are one behind the other because others are over them; most are alone.
  struct Group {
    int64_t bytes = 0, alignment = 1, begin = 0;
    unsigned tiles = 0;
  };
  struct At {
    unsigned group;
    int64_t offset; // bytes in it
  };
  llvm::SmallVector<Group> groups;
  llvm::MapVector<mlir::Value, At> tiles;
  int64_t bytes = 0; // of all groups, one behind the other
};

/// Places the tiles that `kernel` allocates; errors are emitted.
mlir::FailureOr<TilePlaces> placeTiles(mlir::Operation *kernel);

} // namespace cameo::kernel
