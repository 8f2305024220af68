// Values that lanes of a warp give one another.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Builders.h"

namespace cameo {

/// A value of fewer than 32 bits as i32, as threads exchange it; others as they are.
mlir::Value packed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
/// The same back.
mlir::Value unpacked(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                     mlir::Type type);

/// `value` of the lane whose number differs in `bits`. All lanes take part.
mlir::Value fromOtherLane(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          int64_t bits);

} // namespace cameo
