// Dispatches seen as products: matrix products, convolutions, perhaps with elementwise work on
// them.
//
// Loops of the description fall into batch (in both operands and the result), rows and columns (in
// one operand and the result; columns hold the innermost loop of results) and depth (reduced).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Computation.h"
#include "dialects/kernel/form/Elementwise.h"

#include <optional>

namespace cameo {

/// An operand: memory, or elementwise work on memory that is done as its elements are read. Padding
/// comes after that work.
struct Operand : Access {
  Elementwise value;
  /// Finds what its elements are computed from, read at loops of these extents; false where that is
  /// not memory or elementwise work on it, read at sums over loops. One index may be read from
  /// memory, too, where it is the same along `depth`.
  bool findValue(llvm::ArrayRef<int64_t> ranges, llvm::ArrayRef<unsigned> depth);
  bool isGathered() const {
    return llvm::any_of(value.reads, [](const Access &read) { return read.index != nullptr; });
  }
  /// Integers narrower than the sums are extended by zeros.
  bool isUnsigned = false;

  /// What is beside its elements where it is padded; null: zero.
  mlir::Value padding() const;
};

/// A value on the way from a product to the dispatch's results that threads keep: of each element
/// of the product, or one a row. It is computed from the product, values before it, and memory.
struct RowStep {
  mlir::Value value;
  mlir::AffineMap place; // loops of the product to its indices
  /// Elementwise work; of a reduction, that of its inputs (nothing for those it does not read).
  llvm::SmallVector<std::optional<Elementwise>> works;
  /// What reduces along all of the product's columns, and how it combines; null for elements.
  mlir::linalg::GenericOp reduction;
  mlir::Operation *combiner = nullptr;
};

/// See the file comment.
struct Product {
  /// Places in memory that an element of an operand is computed from at most: all of a thread's
  /// elements are in registers before the first one is computed.
  static constexpr size_t kMostReads = 8;

  mlir::linalg::GenericOp generic;
  llvm::SmallVector<Epilogue> epilogues; // the dispatch's results
  llvm::SmallVector<RowStep> steps;      // see matchProductOfRows
  /// Perhaps padded, one at most by other than zeros; maps have 0 for loops of extent 1.
  Operand row, column;
  mlir::AffineMap outMap;
  llvm::SmallVector<unsigned> batch, rows, columns, depth; // loops, outermost first
  mlir::Type sumType;
  bool mayRoundToTf32 = false;       // operands of f32
  llvm::SmallVector<int64_t> ranges; // kDynamic where unknown
  /// The operand in whose order depth runs: the column's, else the row's.
  bool depthOfColumn = false;

  int64_t extent(llvm::ArrayRef<unsigned> loops) const {
    int64_t product = 1;
    for (unsigned loop : loops) {
      if (mlir::ShapedType::isDynamic(ranges[loop]))
        return mlir::ShapedType::kDynamic;
      product *= ranges[loop];
    }
    return product;
  }
  mlir::Value sums() const { return mlir::linalg::GenericOp(generic).getResult(0); }
  /// The elementwise work on an element of the product, and on what is kept, that a result is;
  /// nothing where it is not the same for all elements.
  std::optional<Elementwise> workOf(const Epilogue &epilogue) const;
  /// Whether there is more than a handful of rows, columns and depth, which would leave most of a
  /// tile idle, and sums are numbers.
  bool fillsTiles() const;
};

/// Has depth run in the order of these indices of an operand's memory.
void orderDepth(Product &product, mlir::AffineMap place);

/// Nothing where the dispatch is not of this form. Products of vectors, which have no rows or no
/// columns, are asked for apart: they are rows as well. Read once, and kept with the computation.
const std::optional<Product> &matchProduct(const Computation &computation,
                                           bool mayBeVector = false);

/// A product of which reductions along all its columns, with elementwise work in front, between and
/// behind, make results of the product's elements: softmax of scores, a normalisation. Its steps
/// are what a block does that has whole rows. Nothing where the dispatch is not of this form.
const std::optional<Product> &matchProductOfRows(const Computation &computation);

/// The product that an operation is; nothing where it is none. Without results of the dispatch, and
/// with operands wherever they come from, whose values are not looked at.
std::optional<Product> productOf(mlir::linalg::GenericOp generic, bool mayBeVector = false);

} // namespace cameo
