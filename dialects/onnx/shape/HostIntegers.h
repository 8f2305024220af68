// Arithmetic on host values that stand for integers of a type.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

namespace cameo::onnx {

/// A value is a number of the type, in 64 bits: sign-extended, or zero-extended where the type is
/// unsigned. Results wrap around as the type does. Only what signed integers of 32 and 64 bits
/// compute from sizes does not: there a run is refused that leaves the type. No model means it, and
/// sizes that do not wrap are equal to one another where their formulas are.
class HostIntegers {
public:
  /// Checks at run time are `op`'s.
  HostIntegers(SizeBuilder &s, mlir::Operation *op, mlir::Type type);

  mlir::OpFoldResult add(mlir::OpFoldResult a, mlir::OpFoldResult b) const;
  mlir::OpFoldResult sub(mlir::OpFoldResult a, mlir::OpFoldResult b) const;
  mlir::OpFoldResult mul(mlir::OpFoldResult a, mlir::OpFoldResult b) const;
  /// Towards zero. Division by zero ends the run.
  mlir::OpFoldResult div(mlir::OpFoldResult a, mlir::OpFoldResult b) const;
  /// With the sign of `a`.
  mlir::OpFoldResult rem(mlir::OpFoldResult a, mlir::OpFoldResult b) const;
  /// With the sign of `b`, as in Python.
  mlir::OpFoldResult mod(mlir::OpFoldResult a, mlir::OpFoldResult b) const;
  mlir::OpFoldResult negated(mlir::OpFoldResult a) const;
  mlir::OpFoldResult abs(mlir::OpFoldResult a) const;
  mlir::OpFoldResult min(mlir::OpFoldResult a, mlir::OpFoldResult b) const;
  mlir::OpFoldResult max(mlir::OpFoldResult a, mlir::OpFoldResult b) const;
  mlir::OpFoldResult less(mlir::OpFoldResult a, mlir::OpFoldResult b) const;

  /// An integer of any other type as one of this type: its low bits.
  mlir::OpFoldResult fromInteger(mlir::OpFoldResult a) const;
  /// A host float as one of this type, as devices convert: NaN is 0, others are the nearest number
  /// of 32 bits (64 for types of 64, and for unsigned ones of 32), cut to the type's low bits.
  mlir::OpFoldResult fromFloat(mlir::OpFoldResult a) const;
  mlir::OpFoldResult toFloat(mlir::OpFoldResult a) const;

private:
  bool isWideUnsigned() const { return isUnsigned && width == 64; }
  bool wraps(llvm::ArrayRef<mlir::OpFoldResult> operands) const;
  mlir::OpFoldResult lowBits(mlir::OpFoldResult a) const;
  mlir::OpFoldResult fitting(mlir::OpFoldResult a) const;
  mlir::OpFoldResult saturated(mlir::OpFoldResult a, unsigned bits) const;

  SizeBuilder &s;
  mlir::Operation *op;
  unsigned width;
  bool isUnsigned;
};

} // namespace cameo::onnx
