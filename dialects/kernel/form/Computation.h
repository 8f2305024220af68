// A dispatch as schedule classes read it: what makes one element of several, and what is
// elementwise work on that.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Movement.h"

#include "llvm/ADT/DenseSet.h"

#include <memory>
#include <optional>

namespace cameo {

struct Product;
struct Windows;
struct Rows;

/// A condition on the place of an element: `at` of its indices is in [0, size).
struct Bound {
  mlir::AffineExpr at;
  int64_t size;
};

/// A result of a dispatch whose every element is elementwise work on one element of the root, and
/// on no two the same: perhaps a part of the root, perhaps in another order or shape.
struct Epilogue {
  mlir::Value value;
  /// Indices of an element of the root to those of what is computed from it.
  mlir::AffineMap place;
  /// Elements of the root that have a place in the result: those for which all of these hold.
  llvm::SmallVector<Bound> bounds;
};

/// Visits each value and operation once, however often it is used.
class Computation {
public:
  explicit Computation(kernel::DispatchOp op);

  kernel::DispatchOp op;
  llvm::SmallVector<mlir::Value> results;
  /// Operations that results are computed from, each after those that it reads.
  llvm::SmallVector<mlir::Operation *> operations;
  /// Those of them that make one element of several: reductions and scans.
  llvm::SmallVector<mlir::Operation *> combining;
  /// Whether there is nothing along a loop, or along a dimension of what is read or computed, as far
  /// as sizes are known.
  bool isEmpty = false;
  /// Where there is one such operation, with one result, and all results of the dispatch are
  /// elementwise work on that (or it): the operation's result.
  mlir::Value root;
  /// The dispatch's results in terms of the root, where there is one.
  llvm::SmallVector<Epilogue> epilogues;

private:
  void findRoot();

  // The forms that it is of, each read when it is asked for first.
  friend const std::optional<Product> &matchProduct(const Computation &computation,
                                                    bool mayBeVector);
  friend const std::optional<Product> &matchProductOfRows(const Computation &computation);
  friend const std::optional<Windows> &matchWindows(const Computation &computation);
  friend const std::optional<Rows> &matchRows(const Computation &computation);
  mutable std::shared_ptr<const std::optional<Product>> product, productOfRows;
  mutable std::shared_ptr<const std::optional<Windows>> windows;
  mutable std::shared_ptr<const std::optional<Rows>> rows;
};

/// What indices have to be for `map` of them, which is of extents `shape`, to be an element of the
/// root: an epilogue without a value. Nothing where several are for one element of the root, or
/// one cannot tell.
std::optional<Epilogue> solvedFor(mlir::AffineMap map, llvm::ArrayRef<int64_t> shape,
                                  mlir::RankedTensorType root);

/// The dimension of the result that is dimension `dim` of the root; nothing where none is.
std::optional<unsigned> sameDimension(const Epilogue &epilogue, unsigned dim);

} // namespace cameo
