// What is known of the numbers that values hold, and whether 16 bits hold them.
//
// Bounds come from constants, from operators that have them (a Sigmoid is between 0 and 1), from
// arithmetic on bounds, and from ranges that were recorded. Products give none: what their operands
// allow at most is far more than what they yield.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/NumberBounds.h"
#include "passes/precision/Policy.h"
#include "passes/precision/RecordedRanges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cameo {

class NumberRanges {
public:
  /// What was recorded is a sample: other data may go `headroom` times as far.
  NumberRanges(mlir::func::FuncOp function, const RecordedRanges &recorded, double headroom = 2);

  NumberRange of(mlir::Value value) const { return ranges.lookup(value); }
  /// How many of the recorded ranges are of values of this function.
  unsigned recordedValues() const { return used; }

  /// Why a node cannot have this value in that precision: what is there and what there may be;
  /// empty where nothing is known against it.
  std::string whyNot(mlir::Value value, Precision precision) const;
  /// True where the number that keeps a value from 0 has few digits in FP16, or none.
  bool guardSinks(mlir::Value value, Precision precision) const;
  /// True of a divisor that FP16 has few digits of where it is least, also if nothing keeps it from 0.
  bool divisorSinks(mlir::Value value, Precision precision) const;
  /// Why a node is not of that precision for what it reads and writes; empty as above.
  std::string whyNot(mlir::Operation *op, const Converted &converted, Precision precision) const;

private:
  std::string whyTooLarge(mlir::Value value, Precision precision) const;
  std::string whyTooSmall(mlir::Value value, Precision precision) const;
  bool grows(mlir::Operation *op, const NumberRange &range) const;
  double guardOf(mlir::Operation *op) const;
  NumberRange computed(mlir::Operation *op) const;
  NumberRange inferred(mlir::Operation *op) const;
  void narrow(mlir::Value value, const RecordedRanges &recorded);

  double headroom;
  llvm::DenseMap<mlir::Value, NumberRange> ranges;
  unsigned used = 0;
};

/// x * x and Pow(x, 2).
bool isSquare(mlir::Operation *op);

/// The largest finite number of a low precision.
double largestOf(Precision precision);
/// A magnitude up to which all integers are numbers of a low precision.
double exactIntegers(Precision precision);

} // namespace cameo
