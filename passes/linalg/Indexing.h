// Index arithmetic inside dispatches and small tensors on the host, as the operators that only move
// elements need them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Lowering.h"

namespace cameo {

/// An axis counted from the end made one from the start; nothing where it is outside of the rank.
std::optional<int64_t> normalizedAxis(int64_t axis, int64_t rank);
/// The same, reported for `op`.
mlir::FailureOr<int64_t> normalizedAxis(mlir::Operation *op, Lowering &l, int64_t axis,
                                        int64_t rank);
/// Reports or checks at run time that axes are in range and given once each.
llvm::LogicalResult checkAxes(mlir::Operation *op, Lowering &l,
                              llvm::ArrayRef<mlir::OpFoldResult> axes, int64_t rank);
/// "axis 4 is outside [-3, 3)".
std::string outsideText(int64_t axis, int64_t rank);

/// Axes from an attribute or host values, normalized, each at most once; reports for `op`.
mlir::FailureOr<llvm::SmallVector<int64_t>>
normalizedAxes(mlir::Operation *op, Lowering &l, llvm::ArrayRef<int64_t> axes, int64_t rank);

/// Axes as normalizedAxes has them, where they are known only at run time: for each dimension 1 if
/// it is among them, else 0. That each axis is in range and given once is checked at run time.
mlir::FailureOr<Sizes> amongAxes(mlir::Operation *op, Lowering &l,
                                 llvm::ArrayRef<mlir::OpFoldResult> axes, int64_t rank);

/// The sizes that are left, `count` of them, when the dimensions with 1 in `removed` are taken
/// away.
Sizes remainingSizes(Lowering &l, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     llvm::ArrayRef<mlir::OpFoldResult> removed, int64_t count);

/// Whether a value of the plan depends on what an input holds, not on shapes alone.
bool readsInput(mlir::Value value);

/// A tensor whose values are on the host.
struct HostArray {
  llvm::SmallVector<int64_t> shape;
  Sizes values; // row-major
  mlir::OpFoldResult at(llvm::ArrayRef<int64_t> indices) const;
};

/// The host values of an operand with a shape known at compile time; no report.
mlir::FailureOr<HostArray> hostArray(mlir::Operation *op, unsigned operand, Lowering &l);

/// Sizes known at compile time and few elements, or failure.
mlir::FailureOr<llvm::SmallVector<int64_t>> hostShape(llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Values of a host tensor of this shape, from its indices.
Sizes hostElements(llvm::ArrayRef<int64_t> shape,
                   llvm::function_ref<mlir::OpFoldResult(llvm::ArrayRef<int64_t> indices)> element);

/// Index arithmetic in a body; operations with neutral operands are left out.
class IndexMath {
public:
  IndexMath(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::Value of(mlir::OpFoldResult ofr) { return bodyValue(b, loc, ofr); }
  mlir::Value add(mlir::Value x, mlir::OpFoldResult y);
  mlir::Value sub(mlir::Value x, mlir::OpFoldResult y);
  mlir::Value mul(mlir::Value x, mlir::OpFoldResult y);
  /// x modulo y, in [0, y) for negative x too; y > 0.
  mlir::Value modulo(mlir::Value x, mlir::OpFoldResult y);
  /// x moved into [0, size).
  mlir::Value clamp(mlir::Value x, mlir::OpFoldResult size);
  /// Negative x counts from `size`; the result is in [0, size).
  mlir::Value wrapNegative(mlir::Value x, mlir::OpFoldResult size);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::OpFoldResult y);
  /// Whether 0 <= x < size.
  mlir::Value inside(mlir::Value x, mlir::OpFoldResult size);
  mlir::Value both(mlir::Value x, mlir::Value y); // i1; either may be null for true
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// scf.if: only the branch taken is computed.
  mlir::Value choose(mlir::Value condition,
                     llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location)> then,
                     llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location)> otherwise);
  /// The only element of a tensor of rank 0, or whose sizes are all 1.
  mlir::Value only(const Lowered &tensor);
  mlir::Value element(const Lowered &tensor, mlir::ValueRange indices);
  /// An integer scalar as an index.
  mlir::Value toIndex(mlir::Value integer, mlir::Type onnxType);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace cameo
