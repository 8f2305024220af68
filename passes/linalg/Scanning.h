// Running totals of long lines, which many blocks compute: what CumSum and counts are made of.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"
#include "passes/linalg/Lowering.h"

namespace cameo {

/// What the elements of a line come to up to each of them.
class RunningTotals {
public:
  /// Up to element `at[1]` of a line, with it, inside of a body: `at` is the place in [outer, length, inner].
  mlir::Value at(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange at) const;

private:
  friend RunningTotals runningTotals(Lowering &l, mlir::Location loc, kernel::CombineKind kind,
                                     const Sizes &sizes, mlir::Type type,
                                     DispatchBuilder::IndexFunction element);
  kernel::CombineKind kind;
  Lowered within, before; // of an element's run up to it; of all runs before it
};

/// Elements of [outer, length, inner] are given by their places, as numbers of 32 or 64 bits.
RunningTotals runningTotals(Lowering &l, mlir::Location loc, kernel::CombineKind kind,
                            const Sizes &sizes, mlir::Type type,
                            DispatchBuilder::IndexFunction element);

/// Lines of more elements are worth the launches of `runningTotals`, if they are few.
inline constexpr int64_t kLongScan = 8192, kFewScans = 64;

} // namespace cameo
