// Shapes of operators that change nothing but the shape: Reshape, Flatten, Squeeze and Unsqueeze.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

namespace cameo::onnx {

/// The quotient of two products of sizes without the factors that both have.
class SizeQuotient {
public:
  SizeQuotient(SizeBuilder &s, llvm::ArrayRef<mlir::OpFoldResult> numerator,
               llvm::ArrayRef<mlir::OpFoldResult> denominator);

  bool isOne() const { return above == below && aboveOpen.empty() && belowOpen.empty(); }
  /// Whether the denominator has a factor of 0.
  bool isUndefined() const { return below == 0; }
  /// Only where it is defined. A divisor of 0 goes with no elements at all.
  mlir::OpFoldResult value() const;

private:
  mlir::OpFoldResult product(int64_t known, llvm::ArrayRef<mlir::OpFoldResult> open) const;

  SizeBuilder &s;
  int64_t above, below; // products of what is known
  Sizes aboveOpen, belowOpen;
};

} // namespace cameo::onnx
