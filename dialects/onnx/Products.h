// How products of an operator may be computed, which whoever compiles the model decides.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Onnx.h"

namespace cameo::onnx {

/// On an operator, a string; without it operands are multiplied as they are, and 16-bit floats are
/// summed in f32.
inline constexpr llvm::StringLiteral kProductsAttr = OnnxDialect::ProductsAttrHelper::getNameStr();
/// Operands of f32 may be rounded to TF32, which has 10 bits behind the leading one; sums are f32.
inline constexpr llvm::StringLiteral kTf32Products = "tf32";
/// Products of f16 are summed in f16.
inline constexpr llvm::StringLiteral kF16Sums = "f16_sums";

} // namespace cameo::onnx
