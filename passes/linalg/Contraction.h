// Pieces that contractions are described with: matrix products and convolutions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Lowering.h"

namespace cameo {

/// The type in which products of `elementType` are summed: as `accumulatorType` says, or as the
/// operator that is lowered asks.
mlir::Type sumTypeOf(mlir::Type elementType, const Lowering &lowering);
/// Writes on a product of `elementType` how it may be computed.
void setPrecision(mlir::Operation *product, mlir::Type elementType, const Lowering &lowering);

/// sum + left * right in sum's type, fused for floats; left and right have ONNX type `from`.
mlir::Value multiplyAccumulate(mlir::OpBuilder &b, mlir::Location loc, mlir::Value left,
                               mlir::Value right, mlir::Value sum, mlir::Type from);

/// The loops [b..., m, n, k] of a matrix product and where they read and write; m or n is missing
/// where the operand is a vector.
struct ProductLoops {
  mlir::AffineMap left, right, out;
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
};
/// A batch size of an operand is 1, then it is broadcast, or the result's.
ProductLoops productLoops(mlir::MLIRContext *context, const Lowered &a, const Lowered &c,
                          const Sizes &result);

/// Whether an operand's size may be 1 or not, the result's then, which only a run knows.
bool isOpenBroadcast(const Lowering &lowering, mlir::OpFoldResult size, mlir::OpFoldResult result);
/// The operand with sizes that are 1 or those of `whole` for certain: a copy where only a run knows which.
Lowered certain(Lowering &lowering, mlir::Location loc, const Lowered &operand,
                llvm::ArrayRef<mlir::OpFoldResult> whole);
/// A copy of the operand that is broadcast to `sizes` at its end.
Lowered broadcastTo(Lowering &lowering, mlir::Location loc, const Lowered &operand,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Inside a dispatch: the sum of products of two tensors over the reduction iterators, in the
/// accumulator type of `elementType`.
mlir::Value contract(mlir::OpBuilder &b, mlir::Location loc, mlir::Value left,
                     mlir::AffineMap leftMap, mlir::Value right, mlir::AffineMap rightMap,
                     const Sizes &sizes, mlir::AffineMap outMap, mlir::Type elementType,
                     llvm::ArrayRef<mlir::utils::IteratorType> iterators, Lowering &lowering);

/// Inside a dispatch: elementwise work on a sum (and more operands, by their maps), rounded to the
/// destination's type. Without `fn` only the rounding, or nothing.
mlir::Value
epilogue(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sum, mlir::Value init,
         llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::AffineMap> maps,
         mlir::Type elementType,
         llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)> fn);

} // namespace cameo
