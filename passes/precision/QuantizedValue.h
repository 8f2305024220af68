// QuantizeLinear and DequantizeLinear as passes on graphs read them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/Graph.h"

namespace cameo {

/// A node of either kind whose scale and zero point are constants of finite, positive scales in
/// f32: numbers q stand for (q - zero) * scale.
struct QuantizedValue {
  mlir::Operation *op;
  std::vector<float> scales;  // one, or one for each index of `axis`
  std::vector<int64_t> zeros; // one, or as many as scales
  int64_t axis = 0;           // where there are several
  mlir::Type numberType;      // of q

  /// Nothing for other operators, for blocks, and where something is not known.
  static std::optional<QuantizedValue> of(mlir::Operation *op);
  /// What makes a value, if it is a DequantizeLinear.
  static std::optional<QuantizedValue> dequantized(mlir::Value value);

  bool isPerTensor() const { return scales.size() == 1 && zeros.size() == 1; }
  bool hasBytes() const { return numberType.getIntOrFloatBitWidth() == 8; }
  float scale(int64_t i) const { return scales[scales.size() == 1 ? 0 : i]; }
  int64_t zero(int64_t i) const { return zeros[zeros.size() == 1 ? 0 : i]; }
  /// Whether numbers of one are numbers of the other.
  bool isLike(const QuantizedValue &other) const {
    return numberType == other.numberType && scales == other.scales && zeros == other.zeros &&
           (isPerTensor() || axis == other.axis);
  }
  mlir::Value source() const { return op->getOperand(0); }
};

/// The last number of signed bytes; -128 is not used, so that there is one of either sign.
inline constexpr int kLastQuantum = 127;
/// Scales that quotients stay in the normal range with.
inline constexpr double kLeastScale = 0x1p-90, kMostScale = 0x1p90;
/// Significant bits that scales have. A product of an activation and a weight that have been
/// dequantised then has 23 bits at most, and a float holds it. Sums of such are exact, in any order,
/// while they stay below 2^24 of the last bit, as most do; so what adds up floats, ONNX Runtime for one,
/// gets what the sum of integers is.
inline constexpr int kActivationScaleBits = 5, kWeightScaleBits = 4;
/// The least scale of these bits by which no magnitude up to the threshold is more than the last
/// number; 1 where the threshold is 0, as all numbers are then. Of floats, since these are what files
/// have in decimal: a digit more would be a step more.
float activationScale(float threshold);
float weightScale(float magnitude);
/// The scale by which a threshold becomes `last`, with all bits; 1 where it is 0.
float quantizationScale(double threshold, double last);

/// An operator that gives some elements of its first operand (Concat: of all operands), or the
/// greatest of some, and computes nothing, so that it may as well have their numbers.
bool movesElements(mlir::Operation *op);
/// The operands whose elements the operator moves, as far as their numbers may be moved instead.
llvm::MutableArrayRef<mlir::OpOperand> movedOperands(mlir::Operation *op);

} // namespace cameo
