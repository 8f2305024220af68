// Float arithmetic inside dispatches, as operators that compute positions need it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Scalars.h"

namespace cameo {

/// Float arithmetic in a body, in one type.
class FloatMath {
public:
  FloatMath(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type) : b(b), loc(loc), type(type) {}

  mlir::Value number(double value) { return scalarConstant(b, loc, type, value); }
  /// A host float in the body's type.
  mlir::Value of(mlir::OpFoldResult ofr);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  mlir::Value floor(mlir::Value x);
  mlir::Value ceil(mlir::Value x);
  /// The greater and the lesser number; of a NaN and a number, the number.
  mlir::Value greater(mlir::Value x, mlir::Value y);
  mlir::Value lesser(mlir::Value x, mlir::Value y);
  mlir::Value fromIndex(mlir::Value index);
  /// Towards zero. Saturates; NaN becomes 0.
  mlir::Value toIndex(mlir::Value x);
  /// Converts a number that is known to fit 32 bits: one instruction.
  mlir::Value toSmallIndex(mlir::Value x);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
};

/// True if a host float is this number.
bool isNumber(mlir::OpFoldResult ofr, double value);

} // namespace cameo
