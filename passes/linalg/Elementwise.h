// What the lowerings of elementwise operators share: the loop around formulas on scalars.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Families.h"
#include "passes/linalg/ScalarMath.h"

namespace cameo {

/// The element of op's result from those of its operands, which are of m.type.
using Formula = mlir::Value (*)(ScalarMath &m, mlir::Operation *op, mlir::ValueRange x);

/// The tensor computed from the elements of some operands after broadcasting; constants of one
/// element are written into the body.
mlir::Value elementwiseOf(mlir::Operation *op, Lowering &l, llvm::ArrayRef<unsigned> operands,
                          const Sizes &sizes, mlir::Type elementType,
                          DispatchBuilder::ScalarFunction fn);

/// Defines op's result by `formula` on all its operands, which have one element type; 16-bit floats
/// are computed in f32.
llvm::LogicalResult lowerByFormula(mlir::Operation *op, Lowering &l, Formula formula);

template <Formula formula> llvm::LogicalResult lowerElementwise(mlir::Operation *op, Lowering &l) {
  return lowerByFormula(op, l, formula);
}

/// Formulas of operators that cells of recurrent networks have, too.
mlir::Value relu(ScalarMath &m, mlir::Value x);
mlir::Value leakyRelu(ScalarMath &m, mlir::Value x, double alpha);
mlir::Value elu(ScalarMath &m, mlir::Value x, double alpha);
mlir::Value softsign(ScalarMath &m, mlir::Value x);
mlir::Value thresholdedRelu(ScalarMath &m, mlir::Value x, double alpha);
/// slope * x + offset between 0 and 1.
mlir::Value clampedLine(ScalarMath &m, mlir::Value x, double slope, double offset);

/// Parts of registerElementwiseOperators in files of their own.
void registerActivations(LoweringRows &rows);
void registerCasts(LoweringRows &rows);
void registerBitwiseOperators(LoweringRows &rows);

} // namespace cameo
