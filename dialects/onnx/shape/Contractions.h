// Shapes of matrix products: MatMul, Gemm and Einsum.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

namespace cameo::onnx {

mlir::FailureOr<Sizes> inferMatMul(SizeBuilder &s, mlir::Operation *op,
                                   llvm::ArrayRef<Sizes> operands);
/// `operands` are A, B and, where there is one, C, each of whose sizes is 1 or the result's.
mlir::FailureOr<Sizes> inferGemm(SizeBuilder &s, mlir::Operation *op,
                                 llvm::ArrayRef<Sizes> operands);

/// An equation as loops: the result's indices, then the summed ones.
struct EinsumShape {
  Sizes loops, result; // the first loops are the result's sizes
  /// For each dimension of each operand its loop.
  llvm::SmallVector<llvm::SmallVector<int64_t>> operands;
};
mlir::FailureOr<EinsumShape> inferEinsum(SizeBuilder &s, mlir::Operation *op,
                                         llvm::ArrayRef<Sizes> operands);

} // namespace cameo::onnx
