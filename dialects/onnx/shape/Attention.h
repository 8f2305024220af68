// Shapes of Attention, and the arithmetic of one that was written in other operators.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Shapes.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace cameo::onnx {

/// On an Attention that cameo-recognize-attention made: a dictionary of the numbers that the
/// operators computed with, so that lowering repeats their arithmetic to the bit. What they
/// multiplied by is `query`, `key` and `scores`, what they divided by `query_divisor`,
/// `key_divisor` and `scores_divisor`; `masked` is what stood for masked scores. ONNX's own
/// Attention leaves open how it rounds; one without the attribute multiplies the scores by `scale`
/// before they are rounded.
inline constexpr llvm::StringLiteral kArithmeticAttr =
    OnnxDialect::ArithmeticAttrHelper::getNameStr();

/// True of an Attention whose softmax is asked for in FP32 or FP64: its scores are not rounded to fewer bits.
bool keepsScores(mlir::Operation *op);

/// The operands and results of Attention by number.
enum AttentionOperand : unsigned {
  kQuery,
  kKey,
  kValue,
  kMask,
  kPastKey,
  kPastValue,
  kLengths // how many keys of each sample are no padding
};

struct AttentionShape {
  bool isPacked; // operands and result are [batch, length, heads * size]
  /// Those of one key and value that a query may see, each [batch, heads, length, size]; of keys
  /// and values without the past.
  Sizes query, key, value;
  mlir::OpFoldResult past; // the length of what comes before the keys
  int64_t groups;          // heads of queries for one of keys
  Sizes presentKey, presentValue;
  Sizes scores; // [batch, heads, queries, keys]
  Sizes result;
};
mlir::FailureOr<AttentionShape> inferAttention(Shapes &shapes, mlir::Operation *op);

} // namespace cameo::onnx
