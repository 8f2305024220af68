// Bounds of the numbers that an operator's first result holds, from those of its operands: the rules that rows of
// Policy.cpp name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Operation.h"

#include <cmath>
#include <limits>

namespace cameo {

struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  /// The largest finite constant that got into the value by sums, factors and choices: that of a
  /// mask, which is a bound of nothing but can be expected among its elements.
  double reach = 0;
  /// The small number that was added to keep it from 0, where bounds do not tell.
  double guard = 0;
  /// True of squares, exponentials and the like of what has no bounds.
  bool grows = false;

  bool isKnown() const { return std::isfinite(least) && std::isfinite(most); }
  double magnitude() const { return std::max(std::abs(least), std::abs(most)); }
};

/// Of a constant's elements.
NumberRange rangeOfConstant(mlir::ElementsAttr value);

using BoundsRule = NumberRange (*)(mlir::Operation *, llvm::ArrayRef<NumberRange> operands);

namespace bounds {
NumberRange unit(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange signedUnit(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange first(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange any(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange firstTwo(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange where(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange add(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange neg(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange sub(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange mul(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange reciprocal(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange div(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange relu(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange shrinks(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange absolute(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange rounds(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange squareRoot(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange exponential(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange softplus(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange clip(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange maximum(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange minimum(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange power(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange sums(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange conversion(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange dequantized(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
NumberRange sampled(mlir::Operation *op, llvm::ArrayRef<NumberRange> operands);
} // namespace bounds

} // namespace cameo
