// Inputs and outputs of a model whose elements take less than a byte: several are in one, the first
// in the lowest bits. In between each has a byte of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Lowering.h"

namespace cameo {

/// The bytes that hold the elements of a type of known sizes.
mlir::RankedTensorType packedType(mlir::RankedTensorType type);

/// The elements of `type` that are in the bytes.
Lowered unpacked(Lowering &l, mlir::Location loc, mlir::Value bytes, mlir::RankedTensorType type);
/// The bytes that hold the elements of a tensor of known sizes.
Lowered packed(Lowering &l, mlir::Location loc, const Lowered &tensor);

} // namespace cameo
