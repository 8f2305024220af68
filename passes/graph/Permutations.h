// Transposes as permutations, and the new ones that passes make.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/Graph.h"

namespace cameo {

using Permutation = llvm::SmallVector<int64_t, 6>;

/// Transpose(Transpose(x, first), second) is Transpose(x, composed).
Permutation composed(llvm::ArrayRef<int64_t> first, llvm::ArrayRef<int64_t> second);
Permutation inverse(llvm::ArrayRef<int64_t> permutation);
bool isIdentity(llvm::ArrayRef<int64_t> permutation);
/// Exchanges the last two of `rank` dimensions.
Permutation lastExchanged(int64_t rank);

/// What a Transpose of a value of known rank does; nothing for other operators and for null.
std::optional<Permutation> permutationOf(mlir::Operation *op);

mlir::RankedTensorType permuted(mlir::Type type, llvm::ArrayRef<int64_t> permutation);
/// Notes the sizes of an operator's first result.
void setDims(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> dims);
/// A result's `onnx.dims` after a Transpose.
void permuteDims(mlir::Operation *op, llvm::ArrayRef<int64_t> permutation);
/// A new Transpose, with the sizes that it has.
mlir::Value createTranspose(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                            llvm::ArrayRef<int64_t> permutation);

} // namespace cameo
