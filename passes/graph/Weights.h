// Operators that multiply by constant weights, and what is affine in channels folded into those.
//
// Conv, ConvTranspose, Gemm and MatMul compute sums over an input channel's numbers times weights
// for each output channel. A factor of one number per channel, on either side, goes into the weights,
// a shift behind into the bias. Computed in double, rounded once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Ledger.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Graph.h"

namespace cameo {

/// y = scale[c] * x + shift[c]; an empty list stands for ones, or for zeros.
struct Affine {
  std::vector<double> scale, shift;
};

/// The side of an operator that channels are counted on.
enum class Side { Input, Output };

/// An operator with constant weights of at least two dimensions, and one element.
struct Weighted {
  mlir::Operation *op;
  Elements weight;
  std::optional<Elements> bias; // one number, or one an output channel
  int64_t inputs, outputs;      // channels; those of all groups

  /// Fails for other operators, and where what is there of bias is not a constant of such a shape.
  static mlir::FailureOr<Weighted> of(mlir::Operation *op);
  int64_t channels(Side side) const { return side == Side::Input ? inputs : outputs; }
  bool canHaveBias() const;
  /// A number for each channel from a constant that broadcasts to a tensor on this side, which has
  /// `rank` dimensions; nothing where it differs along others, and where it is not finite.
  std::optional<std::vector<double>> perChannel(mlir::Value constant, Side side,
                                                int64_t rank) const;

  /// The weights times one number per channel.
  std::vector<double> scaled(llvm::ArrayRef<double> scale, Side side) const;
  /// Numbers that stand for the weights, all of them, times one number per channel.
  std::vector<double> scaled(std::vector<double> numbers, llvm::ArrayRef<double> scale,
                             Side side) const;
  /// The greatest magnitude of the weights of each channel on `side`.
  std::vector<double> magnitudes(Side side) const;
  /// Calls with each weight, its output channel and its input channel.
  void forEach(llvm::function_ref<void(double weight, int64_t output, int64_t input)> call) const;
  /// The bias of each output channel, as it is added.
  std::vector<double> biases() const;
};

/// The least number that has all of the type's digits.
double leastNormal(mlir::FloatType type);

/// A constant of these numbers in the element type of `type`; null with a reason where one would
/// leave the type's range.
mlir::ElementsAttr roundedConstant(mlir::RankedTensorType type, llvm::StringRef name,
                                   llvm::ArrayRef<double> numbers, std::string &why);

/// The weights times one number per channel, rounded; null with a reason where one would leave the
/// type's range, or all of a channel would lose digits.
mlir::ElementsAttr scaledWeights(const Weighted &weighted, llvm::ArrayRef<double> scale, Side side,
                                 std::string &why);

/// Applies `affine` to the operator's result; false with a reason where its weights or bias cannot
/// be the new ones.
bool foldIntoWeights(const Weighted &weighted, const Affine &affine, std::string &why);
/// Whether that would be.
bool canFoldIntoWeights(const Weighted &weighted, const Affine &affine, std::string &why);

/// Folds a batch normalization into the convolution that it alone reads; false where it stays.
bool foldBatchNorm(mlir::Operation *op, rt::Ledger &ledger);

/// Gives an operand another constant, under the name that it had.
void replaceConstant(mlir::Operation *op, unsigned operand, mlir::ElementsAttr value,
                     llvm::StringRef name);

/// The name for the weights or the bias of an operator that is to have new ones.
std::string weightName(mlir::Operation *op, unsigned operand);

} // namespace cameo
