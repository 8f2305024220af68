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

/// The difference of each output channel's mean; nothing, with a reason, where what was recorded is
/// not of this product. `value` is the name of what it reads, `scale` that of its quantisation:
/// without the one that was recorded, only that of weights counts.
std::optional<std::vector<double>> meanError(mlir::Operation *product,
                                             const RoundedWeights &weights,
                                             const RecordedRanges &recorded, llvm::StringRef value,
                                             float scale, std::string &why);

} // namespace cameo
