// Dispatches seen as windows that slide along the last dimension: pools, depthwise convolutions.
//
// An input is read at x * stride + k * dilation along its last dimension, x being the result's last
// loop and k the innermost reduction.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Computation.h"

namespace cameo {

/// Windows along the last dimension may be this large.
inline constexpr int64_t kLargestWindow = 16;

/// See the file comment.
struct Windows {
  mlir::linalg::GenericOp generic;
  llvm::SmallVector<Epilogue> epilogues;  // the dispatch's results
  unsigned input;                         // the operand that windows slide over
  Access slid;                            // how that is read
  unsigned across, taps;                  // loops: x and k
  int64_t stride, dilation;               // of that operand along its last dimension
  llvm::SmallVector<unsigned> reductions; // loops, `taps` last
  int64_t width, count;                   // extents of x (kDynamic where unknown) and k
};

/// Nothing where the dispatch is not of this form.
std::optional<Windows> matchWindows(const Computation &computation);

} // namespace cameo
