// Shapes of reductions and scans, whose axes may be known only at run time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Shapes.h"

namespace cameo::onnx {

struct ReductionShape {
  /// For each dimension whether it is reduced: 1 or 0.
  Sizes reduced;
  /// Whether all of them are numbers.
  bool known;
  Sizes result;
};
/// Reduce*.
mlir::FailureOr<ReductionShape> inferReduce(Shapes &shapes, mlir::Operation *op);

/// CumSum and CumProd, whose result has the shape of the input.
struct ScanShape {
  mlir::OpFoldResult axis; // counted from the start
  Sizes result;
};
mlir::FailureOr<ScanShape> inferScan(Shapes &shapes, mlir::Operation *op);

} // namespace cameo::onnx
