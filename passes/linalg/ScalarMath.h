// Arithmetic on scalars inside dispatches, as formulas are written.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Scalars.h"

namespace cameo {

/// Arithmetic on scalars of one type, float or integer, so that formulas read as such.
class ScalarMath {
public:
  /// `type` is the type computed in, signless; unsigned integers are said to be so.
  ScalarMath(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, bool isUnsigned)
      : b(b), loc(loc), type(type), isUnsigned(isUnsigned) {}

  bool isFloat() const { return mlir::isa<mlir::FloatType>(type); }
  unsigned width() const { return type.getIntOrFloatBitWidth(); }
  /// A constant of `type`.
  mlir::Value c(double value) { return scalarConstant(b, loc, type, value); }

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  /// Integers: towards zero, x / 0 = 0, the least value over -1 wraps.
  mlir::Value div(mlir::Value x, mlir::Value y);
  /// Sign of the dividend (C); integers: x rem 0 = 0.
  mlir::Value rem(mlir::Value x, mlir::Value y);
  /// x * y + z: floats, rounded once.
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  /// NaN if either is.
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value neg(mlir::Value x);
  mlir::Value abs(mlir::Value x);

  /// Comparisons are false where either is NaN.
  mlir::Value eq(mlir::Value x, mlir::Value y);
  mlir::Value lt(mlir::Value x, mlir::Value y);
  mlir::Value le(mlir::Value x, mlir::Value y);
  mlir::Value gt(mlir::Value x, mlir::Value y) { return lt(y, x); }
  mlir::Value ge(mlir::Value x, mlir::Value y) { return le(y, x); }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// The opposite of an i1.
  mlir::Value negation(mlir::Value bit);

  template <typename Op> mlir::Value unary(mlir::Value x) { return b.create<Op>(loc, x); }
  template <typename Op> mlir::Value binary(mlir::Value x, mlir::Value y) {
    return b.create<Op>(loc, x, y);
  }
  mlir::Value exp(mlir::Value x);
  mlir::Value expm1(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  /// 1 / (1 + exp(-x))
  mlir::Value sigmoid(mlir::Value x);
  /// log(1 + exp(x)), without overflow
  mlir::Value softplus(mlir::Value x);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
  bool isUnsigned;
};

} // namespace cameo
