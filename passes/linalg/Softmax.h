// The softmax of a tensor, for operators that have one among other steps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Generics.h"

namespace cameo {

/// A dispatch with the softmax of `x` along `axis`, or its logarithm; in `x`'s type, computed in
/// `precision`, by default the type in which sums of it are. A row of nothing but -inf is zeros where it `mayHideAll`,
/// else NaN.
Lowered softmax(Lowering &l, mlir::Location loc, const Lowered &x, int64_t axis, bool isLog = false,
                mlir::Type precision = {}, bool mayHideAll = false);

} // namespace cameo
