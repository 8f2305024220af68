// What kernels of products take that multiply on the lanes of multiprocessors: the tiles that there
// are, and their time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/ContractionKernel.h"
#include "codegen/schedule/TimeModel.h"

namespace cameo {

/// A product as the estimate sees it.
struct ContractionWork {
  double rows, columns, batch, depth;
  mlir::Type sumType;
  double rowBytes, columnBytes;   // that are loaded for an element of an operand
  double rowVector, columnVector; // elements that are loaded at once
  double resultBytes;             // of an element
  double dramBytes;
  std::vector<KernelWork> beside = {}; // other launches that it needs
  RowWork ofRows = {};                 // on the way to the results
  IndexBytes indices = {};
  /// Loads of several elements go along depth, and lines of the tile across it.
  bool isRowTurned = false, isColumnTurned = false;
};

struct TimedContraction {
  ContractionTile tile;
  double microseconds; // estimated
  KernelWork work;
};

/// What a kernel with that tile takes.
KernelWork contractionKernel(const ContractionTile &tile, const ContractionWork &work,
                             const Target &target);

/// The tiles that the target can run, the fastest first.
llvm::SmallVector<TimedContraction, 0> contractionTiles(const ContractionWork &work,
                                                        const Target &target);

/// Depth of the tiles.
inline constexpr int64_t kContractionDepth = 16;
} // namespace cameo
