// Index arithmetic inside dispatches, as the operators that only move elements need it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Lowering.h"

namespace cameo {

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
