// Host arithmetic of a launch plan: arith and math on scalars as instructions over 64-bit
// registers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/PlanWriter.h"

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace cameo {

/// Integers of all widths are held as 64-bit integers (index and i64 exactly; narrower ones may not
/// overflow; sums and products of i64 wrap around), booleans as 0 or 1, floats as doubles, rounded after each operation where they are
/// narrower (exact for f32: a double has more than twice its bits).
class PlanScalars {
public:
  explicit PlanScalars(PlanWriter &plan) : plan(plan) {}

  /// The instructions of an op of the arith and math dialects.
  mlir::LogicalResult emit(mlir::Operation &op);
  uint32_t get(mlir::Value value) const { return registers.lookup(value); }
  /// As a double or as an integer, whatever it is.
  uint32_t convert(mlir::Value value, bool toFloat);
  void set(mlir::Value value, uint32_t number) { registers[value] = number; }

private:
  mlir::LogicalResult emitConstant(mlir::Operation &op);
  mlir::LogicalResult emitCompare(mlir::Operation &op);
  mlir::LogicalResult emitFloatCompare(mlir::Operation &op);
  uint32_t rounded(uint32_t number, mlir::Type type);
  uint32_t truncated(uint32_t number, unsigned width);

  PlanWriter &plan;
  llvm::DenseMap<mlir::Value, uint32_t> registers;
};

} // namespace cameo
