// Lines in order, and places in them: what operators are made of that sort, compact or scatter.
//
// What is sorted is a number of 64 bits: a key of 32 bits in front, the place that it comes from behind. No two are
// equal, so that any sort of them is stable, and the place is what is sought.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Lowering.h"

namespace cameo {

/// The most elements of a line, whose places have to be positive numbers of 32 bits.
inline constexpr int64_t kLongestSortedLine = (int64_t(1) << 31) - 1;

/// Numbers (i64) of lines in ascending order.
class SortedLines {
public:
  /// Number `place` of a line, inside of a body; there is such a number.
  mlir::Value at(mlir::OpBuilder &b, mlir::Location loc, mlir::Value line, mlir::Value place) const;

private:
  friend class LineSorter;
  Lowered sorted, merged;      // by one block a line; from several runs
  mlir::OpFoldResult isMerged; // 0 or 1
};

/// The number that a line has at a place, inside of a body.
using LineFunction = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                                    mlir::Value line, mlir::Value place)>;

/// Sorts `lines` lines of `length` numbers (i64, no two of a line equal, none the greatest that there is). The first
/// `kept` of each may be asked for.
SortedLines sortLines(Lowering &l, mlir::Location loc, mlir::OpFoldResult lines,
                      mlir::OpFoldResult length, mlir::OpFoldResult kept, LineFunction number);

/// A number to sort of a key (i64, within 32 bits) and an index; and both of it.
mlir::Value packKey(mlir::OpBuilder &b, mlir::Location loc, mlir::Value key, mlir::Value place);
mlir::Value keyOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value packed);
mlir::Value placeOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value packed);

/// A scalar of an ONNX type as an integer (i64) that is less where it comes earlier in ascending order, or in descending:
/// NaN is greater than all numbers, zeros are equal. It has 32 bits unless the type has 64.
mlir::Value sortKey(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, mlir::Type type,
                    bool isDescending);

/// Places of lines in the order of their keys, those of equal ones in their own.
class LineOrder {
public:
  /// The place that number `place` in order is at, inside of a body.
  mlir::Value at(mlir::OpBuilder &b, mlir::Location loc, mlir::Value line, mlir::Value place) const;

private:
  friend LineOrder orderLines(Lowering &l, mlir::Location loc, mlir::OpFoldResult lines,
                              mlir::OpFoldResult length, mlir::OpFoldResult kept, bool hasWideKeys,
                              LineFunction key);
  SortedLines sorted;
  std::optional<SortedLines> byLowBits; // what was sorted by the high ones
};

/// `key` gives an integer (i64), within 32 bits unless `hasWideKeys`. The first `kept` places of each line may be asked
/// for.
LineOrder orderLines(Lowering &l, mlir::Location loc, mlir::OpFoldResult lines,
                     mlir::OpFoldResult length, mlir::OpFoldResult kept, bool hasWideKeys,
                     LineFunction key);

/// How many indices from `low` to `high` come before the first for which `isBefore` does not hold, and `low`.
mlir::Value searchIndex(
    mlir::OpBuilder &b, mlir::Location loc, mlir::Value low, mlir::Value high,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value index)> isBefore);

} // namespace cameo
