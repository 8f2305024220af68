// What quantising a number is in a body, for all operators that do it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Scalars.h"

namespace cameo {

/// An f32, rounded to the nearest integer, ties to even, plus the zero point (null for none; of
/// ONNX type `to`), within the range of `to`; NaN gives the least number. A narrow float is the
/// nearest one, saturated or not.
mlir::Value quantizedScalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value zero,
                            mlir::Type to, bool saturate = true);

} // namespace cameo
