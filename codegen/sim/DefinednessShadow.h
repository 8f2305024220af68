// A definedness shadow, as MemorySanitizer has it, of the values that may be undefined
// (UndefinedValues.h): a value of the same shape whose bits are ones where the value's are
// undefined, computed along with it. Local arrays that may be read before they are written have a
// shadow array.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/sim/UndefinedValues.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <deque>

namespace cameo {

class DefinednessShadow {
public:
  /// Of values that `undefined` knows of.
  DefinednessShadow(const UndefinedValues &undefined, mlir::OpBuilder &builder)
      : undefined(undefined), builder(builder), loc(builder.getUnknownLoc()) {}

  /// Whether any bit of `value`, which may be undefined, is so: made at `user`.
  mlir::Value anyAt(mlir::Operation *user, mlir::Value value);

  /// Once all are asked for: passes and stores what they are made of.
  void complete();

  /// Lets values that are undefined at their source, as far as they were asked for, be zero.
  void defineSources();

private:
  template <typename Op, typename... Arguments> Op make(Arguments &&...arguments) {
    return builder.create<Op>(loc, std::forward<Arguments>(arguments)...);
  }
  mlir::Value zeros(mlir::Type type);
  mlir::Value ones(mlir::Type type);
  mlir::Value any(mlir::Value bits);
  /// All ones where `flag`, one or one an element, is true.
  mlir::Value spread(mlir::Value flag, mlir::Type type);
  /// Null, or zeros, for what cannot be undefined.
  mlir::Value of(mlir::Value value);
  mlir::Value orZeros(mlir::Value value);
  mlir::Value ofResult(mlir::Operation *op);
  mlir::Value ofShuffle(mlir::LLVM::ShuffleVectorOp op);
  mlir::Value ofLogic(mlir::Operation *op, bool isAnd);
  mlir::Value ofArithmetic(mlir::Operation *op);
  /// Null: it is none by a constant within the width.
  mlir::Value ofShift(mlir::Operation *op);
  mlir::Value besideArray(mlir::LLVM::AllocaOp array);
  mlir::Value besideAddress(mlir::Value address);
  void pass(mlir::BlockArgument argument);

  const UndefinedValues &undefined;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, mlir::Value> known, addresses;
  llvm::DenseMap<mlir::Operation *, mlir::Value> arrays;
  std::deque<mlir::BlockArgument> arguments; // whose bits are still to be passed
  std::deque<mlir::LLVM::StoreOp> stores;    // whose values' bits are still to be stored
  llvm::SmallVector<mlir::Operation *> sources;
};

} // namespace cameo
