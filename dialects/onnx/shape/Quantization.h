// Shapes of quantisation: what scales and zero points belong to, and sizes of integer products.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Windows.h"

namespace cameo::onnx {

/// What one scale is for: all of a tensor, one index of an axis, or a block of an axis.
struct QuantizationShape {
  enum { PerTensor, PerAxis, Blocked } granularity = PerTensor;
  int64_t axis = 0, block = 0;
  Sizes result;
};

/// Of QuantizeLinear or DequantizeLinear; operands are x, the scale and, where there is one, the
/// zero point.
mlir::FailureOr<QuantizationShape> inferQuantization(SizeBuilder &s, mlir::Operation *op,
                                                     llvm::ArrayRef<Sizes> operands);

/// Where an integer product has its operands: those that are absent are beyond the list.
struct IntegerProductOperands {
  unsigned x, xZero, w, wZero;
  std::optional<unsigned> xScale, wScale, yScale, yZero, bias; // of QLinear... operators
};
IntegerProductOperands integerProductOperands(mlir::Operation *op);

mlir::FailureOr<Sizes> inferIntegerMatMul(SizeBuilder &s, mlir::Operation *op,
                                          llvm::ArrayRef<Sizes> operands);
mlir::FailureOr<WindowShape> inferIntegerConv(SizeBuilder &s, mlir::Operation *op,
                                              llvm::ArrayRef<Sizes> operands);

/// Whether a parameter is one number, of whatever rank.
bool isOneNumber(const Sizes &sizes);

} // namespace cameo::onnx
