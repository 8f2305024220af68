// Where the elements of a plan's tensors are: in memory of their own, row-major, or in a part of
// another tensor's.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Rt.h"

#include <optional>

namespace cameo::rt {

/// A number times sizes that are known only at run time: values of the plan or, where `dim` is not
/// negative, sizes of a tensor.
struct Extent {
  struct Size {
    mlir::Value value;
    int64_t dim = -1;
    bool operator==(const Size &other) const { return value == other.value && dim == other.dim; }
  };
  int64_t factor = 1;
  llvm::SmallVector<Size> sizes;

  bool operator==(const Extent &other) const;
  Extent operator*(const Extent &other) const;
  std::optional<int64_t> known() const {
    return sizes.empty() ? std::optional(factor) : std::nullopt;
  }
  /// As a value of the plan.
  mlir::Value value(mlir::OpBuilder &b, mlir::Location loc) const;
};

/// A tensor's size along a dimension. Sizes that are one value of the plan are equal here.
Extent sizeOf(mlir::Value tensor, int64_t dim);

/// Element `i` of a tensor is at offset + sum(i[d] * strides[d]) in the memory of `root`.
struct Layout {
  mlir::Value root; // a tensor whose memory is its own: row-major and in one piece
  /// The sum of these products, in elements.
  llvm::SmallVector<std::pair<mlir::OpFoldResult, Extent>> offset;
  llvm::SmallVector<Extent> strides; // in elements
  /// Dimensions from this one on are one piece, row-major; `piece` elements.
  int64_t firstInner = 0;
  Extent piece;
  bool isContiguous = true; // all are one piece

  /// The largest power of two, at most `most`, that divides the place of each piece, and its size.
  int64_t alignment(int64_t most) const;
};

/// The constant that a tensor is, perhaps under another shape; null for others.
GetConstantOp constantOf(mlir::Value tensor);

/// What a value of the plan was written to: the destination that a dispatch or a launch has for it,
/// the storage that was assembled, the place that holds a state; null for others.
mlir::Value destinationOf(mlir::Value tensor);

/// Whether the tensor is in memory of its own from its beginning on: everything but views, what was
/// written to them, and reshapes of such.
bool hasOwnMemory(mlir::Value tensor);

/// Nothing where a reshape asks for what strides cannot say.
std::optional<Layout> layoutOf(mlir::Value tensor);

} // namespace cameo::rt
