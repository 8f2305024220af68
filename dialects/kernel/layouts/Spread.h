// How a fragment is spread over threads: what a layout answers, and all that its users ask.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

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

/// How threads share the rows of a fragment, where those of a row have numbers that differ in some
/// bits alone, and each element is with one of them.
struct RowSharing {
  int64_t bits; // of the number: of those of a row, any combination
};

/// Nothing where rows are shared in another way, or `cols` is not how long they are.
std::optional<RowSharing> rowSharing(const Spread &spread, int64_t cols);

} // namespace cameo::kernel
