// Interpolation between elements inside dispatches: GridSample, DeformConv, and weights of Resize.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/FloatMath.h"
#include "passes/linalg/Lowering.h"

namespace cameo {

/// Keys' cubic convolution (IEEE Trans. ASSP 29, 1981) with coefficient `a`: the weight of a
/// neighbour at distance `x`, of up to 1 and of 1 to 2.
mlir::Value cubicNear(FloatMath &math, mlir::Value x, double a);
mlir::Value cubicFar(FloatMath &math, mlir::Value x, double a);

/// A neighbour of a position along one dimension.
struct WeightedTap {
  mlir::Value index;       // of an element, whatever the position
  mlir::Value weight = {}; // null: 1
  mlir::Value inside = {}; // where it does not hold, 0 is read; null: it holds
};
using AxisTaps = llvm::SmallVector<WeightedTap, 4>;

/// A position moved to where its neighbours can be numbered, without a change of what is read
/// there: all `reach` neighbours on either side of a position further outside are outside, too. A
/// NaN is in front of the first element.
mlir::Value nearInput(FloatMath &math, mlir::Value place, int64_t reach, mlir::OpFoldResult size);

/// The two neighbours of a position that `nearInput` gave (reach 1), 0 where there is no element.
/// `size` is a host integer, weights have the type of `place`.
AxisTaps linearTaps(mlir::OpBuilder &b, mlir::Location loc, mlir::Value place,
                    mlir::OpFoldResult size);

/// The sum of elements of `data`, at `lead` along its first dimensions, times the weights of their
/// taps along the others, in `sumType`.
mlir::Value weightedSum(mlir::OpBuilder &b, mlir::Location loc, const Lowered &data,
                        mlir::ValueRange lead, llvm::ArrayRef<AxisTaps> taps, mlir::Type sumType);

} // namespace cameo
