// Dispatches seen as rows: reductions that have one result per index of the same rows, and results
// that are such reductions, or elements computed from them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Computation.h"

#include <optional>

namespace cameo {

/// A reduction whose partial results can be combined in any order.
struct RowReduction {
  mlir::linalg::GenericOp generic;
  /// The operation that combines partial results: `yield op(accumulator, ...)`. Null for a search,
  /// which yields the best element and its position, and whose body combines partial results.
  mlir::Operation *combiner = nullptr;
  llvm::SmallVector<unsigned> reduced; // its reduction loops
};

/// What combines partial results of a reduction that starts from what does no harm if each thread
/// does; null where there is no such operation.
mlir::Operation *combinerOfPartials(mlir::linalg::GenericOp generic);

/// A result of the dispatch in terms of rows.
struct RowOutput {
  /// So many indices of a dimension (kDynamic: all of it), so far apart.
  struct Column {
    unsigned dim;
    int64_t extent, step;
  };

  mlir::Value value;
  mlir::AffineMap first;             // indices of a row to those of its first element
  llvm::SmallVector<Column> columns; // what a row has, outermost first, without extents of 1

  /// The dimension of the result that is dimension `dim` of rows; nothing where none is.
  std::optional<unsigned> sameDimension(unsigned dim) const;
};

struct Rows {
  llvm::SmallVector<RowReduction> reductions; // in order
  llvm::SmallVector<RowOutput> outputs;
  mlir::RankedTensorType rowType; // of the reductions' results
  bool alongRows = false;         // a row's elements follow one another in memory
  bool acrossRows = false;        // those at the same place of neighbouring rows do,
  unsigned beside = 0;            // through so many of the rows' last dimensions

  /// Whether threads share rows: neighbours within one, or (`across`) in neighbouring ones.
  bool isFor(bool across) const;
};

/// Nothing where the dispatch is not of this form. Read once, and kept with the computation.
const std::optional<Rows> &matchRows(const Computation &computation);

/// Elements of a row; sizes known only at run time count as `unknown`.
int64_t rowLength(const RowReduction &reduction, int64_t unknown);

} // namespace cameo
