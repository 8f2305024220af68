// What the lowerings of elementwise operators share: formulas on scalars and the loop around them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Families.h"

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

/// Element types an operator takes.
enum Accepted : unsigned { kBools = 1, kIntegers = 2, kFloats = 4, kNumbers = 6, kAll = 7 };

/// The element of op's result from those of its operands, which are of m.type.
using Formula = mlir::Value (*)(ScalarMath &m, mlir::Operation *op, mlir::ValueRange x);

/// Reports an operand whose element type is not accepted.
llvm::LogicalResult checkElementType(mlir::Operation *op, Lowering &l, unsigned operand,
                                     unsigned accepted);

/// The tensor computed from the elements of some operands after broadcasting; constants of one
/// element are written into the body.
mlir::Value elementwiseOf(mlir::Operation *op, Lowering &l, llvm::ArrayRef<unsigned> operands,
                          const Sizes &sizes, mlir::Type elementType,
                          DispatchBuilder::ScalarFunction fn);

/// Defines op's result by `formula` on all its operands, which have one element type; 16-bit floats
/// are computed in f32.
llvm::LogicalResult lowerByFormula(mlir::Operation *op, Lowering &l, unsigned accepted,
                                   Formula formula);

template <Formula formula, unsigned accepted>
llvm::LogicalResult lowerElementwise(mlir::Operation *op, Lowering &l) {
  return lowerByFormula(op, l, accepted, formula);
}

/// Parts of registerElementwiseOperators in files of their own.
void registerActivations(OperatorTable &table);
void registerCasts(OperatorTable &table);
void registerBitwiseOperators(OperatorTable &table);

/// The host function of an elementwise operator, or null.
HostFunction hostElementwise(llvm::StringRef operatorName);

} // namespace cameo
