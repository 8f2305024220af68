// Elements of fewer bits than the arithmetic of bodies has: floats of 8 and 4 bits, integers of 4
// and 2.
//
// In tensors of the plan each has a byte of its own: a float its bits, an integer its number. Only
// inputs and outputs of a model have those of less than a byte packed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/NarrowFloats.h"
#include "passes/linalg/Scalars.h"

namespace cameo {

/// The kind of an ONNX type of floats below 16 bits; nothing for other types.
std::optional<onnx::ElementKind> narrowFloat(mlir::Type type);
/// Bits of an integer of 2 or 4 bits, or a float of 4; 0 for other types.
unsigned packedBits(mlir::Type type);

/// What a byte that holds a narrow float is in f32. Formats that GPUs convert are arith's
/// conversions, and so are saturating ones to them: arith.truncf of what is within the range. Others
/// are arithmetic on bits, which is also what conversions become for targets that lack them.
mlir::Value decodeNarrow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value bits,
                         onnx::ElementKind kind);
mlir::Value decodeNarrowByBits(mlir::OpBuilder &b, mlir::Location loc, mlir::Value bits,
                               onnx::ElementKind kind);
/// The nearest narrow float of an f32, ties to even, as a byte.
mlir::Value encodeNarrow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         onnx::ElementKind kind, onnx::NarrowRounding rounding = {});
mlir::Value encodeNarrowByBits(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                               onnx::ElementKind kind, onnx::NarrowRounding rounding);
/// The greatest number of a format that has a sign.
double greatestNarrow(onnx::ElementKind kind);

/// A number of 2 or 4 bits from the lower bits of a byte, as a byte.
mlir::Value wrapNarrow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value byte, mlir::Type type);

} // namespace cameo
