// How far quantisation moves the mean of each output channel of a convolution or a Gemm.
//
//   E[y' - y] = sum over inputs of  w' * (mean + shift) - w * mean
//
// w' are the dequantised weights, the means are of what each place of the window is multiplied
// with, and shift is what quantising the input adds to them (RecordedRanges::Input). With the
// difference taken from its bias the product gives the mean that it had.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/RecordedRanges.h"

namespace cameo {

/// Weights as they were and as integers, with their scales: one, or one an output channel.
struct RoundedWeights {
  llvm::ArrayRef<float> before;
  llvm::ArrayRef<int8_t> numbers;
  llvm::ArrayRef<float> scales;
};

/// The value that a product reads: its name, its scale, and the factors of its channels.
struct QuantizedInput {
  llvm::StringRef value;
  float scale;
  ChannelExponents exponents;
};

/// The difference of each output channel's mean; nothing, with a reason, where what was recorded is
/// not of this product. Without the scale that was recorded, only the difference of weights counts.
std::optional<std::vector<double>> meanError(mlir::Operation *product,
                                             const RoundedWeights &weights,
                                             const RecordedRanges &recorded,
                                             const QuantizedInput &input, std::string &why);

} // namespace cameo
