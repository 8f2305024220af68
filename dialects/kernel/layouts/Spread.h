// How a fragment is spread over threads: what a layout answers, and all that its users ask.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"

namespace cameo::kernel {

/// Where the first element is of a value that threads have: a place that depends on the thread, d0,
/// and a distance from it that does not.
struct Place {
  mlir::AffineExpr row, column;
  int64_t rowOffset, columnOffset;
  /// Threads that have the value: the first so many.
  int64_t holders;
};

/// What each thread has of a fragment: values of `width` elements. An element may be with several
/// threads.
struct Spread {
  int64_t threads, width;
  /// Whether a value's elements are one below the other, not beside one another.
  bool alongRows = false;
  llvm::SmallVector<Place> values;

  /// Appends a value that every thread has.
  void add(mlir::AffineExpr row, mlir::AffineExpr column, int64_t rowOffset, int64_t columnOffset) {
    values.push_back({row, column, rowOffset, columnOffset, threads});
  }
};

} // namespace cameo::kernel
