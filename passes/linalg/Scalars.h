// Scalars inside dispatches: constants, values of the plan and conversions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/Passes.h"

namespace cameo {

/// What elements are in tensors of the plan: ui8 -> i8, also of narrow types (NarrowTypes.h); other
/// types as they are.
mlir::Type signless(mlir::Type type);
/// A constant of index type inside a body.
mlir::Value indexConstant(mlir::OpBuilder &b, mlir::Location loc, int64_t value);
/// A scalar constant of a signless type, from a double or an integer.
mlir::Value scalarConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);
/// An OpFoldResult as an index value inside a body (constants are made there, values are captured).
mlir::Value bodyValue(mlir::OpBuilder &b, mlir::Location loc, mlir::OpFoldResult ofr);
/// Converts a signless scalar from one ONNX element type to another with ONNX's Cast semantics.
mlir::Value convertScalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar,
                          mlir::Type from, mlir::Type to);
/// The type in which sums of `type` are accumulated: f32 for 16-bit floats, else itself.
mlir::Type accumulatorType(mlir::Type type);

} // namespace cameo
