// Factors of scores, in front of the product that makes them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cameo {

/// True where a Softmax or an Attention reads what comes of a node by sums, factors and data movement.
bool leadsToSoftmax(mlir::Operation *op);

/// The factor of a node that multiplies or divides by a constant, its second operand; nothing for others.
std::optional<double> factorOf(mlir::Operation *op);

/// Moves factors below 1, or divisors above, from scores, and from what products make of two computed values, to the
/// left operand of the product; those of a Gemm to its alpha:
///
///   %s = onnx.MatMul(%q, %k)                 %d = onnx.Div(%q, %eight)
///   %d = onnx.Div(%s, %eight)         ==>    %s = onnx.MatMul(%d, %k)
///   %w = onnx.Softmax(%d)                    %w = onnx.Softmax(%s)
///
/// Scores are stored as they are scaled then, and not first as what FP16 may not have.
void scaleScoresEarly(mlir::func::FuncOp function);

} // namespace cameo
