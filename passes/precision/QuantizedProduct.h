// Products of two dequantised operands, which are products of their integers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/QuantizedValue.h"

namespace cameo {

/// A product whose two operands are dequantised, with what is left of it in constants.
struct QuantizedProduct {
  mlir::Operation *op;
  QuantizedValue x, w;
  std::vector<double> scales; // one, or one a channel of the result
  double factor = 1;          // of the sum
  mlir::Value addend;         // null for none
  double addendFactor = 1;
  bool transposesW = false;

  /// Nothing for other operators; where both operands are dequantised and it is none all the same,
  /// `why` says so.
  static std::optional<QuantizedProduct> of(mlir::Operation *op, std::string &why);
  bool isConvolution() const { return mlir::isa<onnx::ConvOp>(op); }
};

/// Whether cameo-fold-dequantize-into-products makes the operator a product of integers.
bool isIntegerProduct(mlir::Operation *op);

/// Whether it is of INT8: such a product, or what quantises or dequantises for one.
bool isQuantized(mlir::Operation *op);

/// Constants of floats that are added, dequantised where they are quantised; nothing for others.
std::optional<std::vector<double>> addedNumbers(mlir::Value value);

int64_t rankOf(mlir::Value value);

} // namespace cameo
