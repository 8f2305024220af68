// Dispatches seen as windows that slide: pools, depthwise convolutions.
//
// An input is read at x * stride + k * dilation along one of its dimensions, x being a loop of the
// result and k the innermost reduction. That dimension is the input's innermost, and x the
// result's; or the input's innermost one in memory is a loop of the result along which windows do
// not reach, such as the channel where it is last.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Computation.h"

namespace cameo {

/// Windows may be this large along x.
inline constexpr int64_t kLargestWindow = 16;

/// See the file comment.
struct Windows {
  mlir::linalg::GenericOp generic;
  llvm::SmallVector<Epilogue> epilogues; // the dispatch's results
  unsigned input;                        // the operand that windows slide over
  Access slid;                           // how that is read
  unsigned across, taps;                 // loops: x and k
  unsigned dim;                          // of what `slid.map` gives indices of, along which they go
  int64_t stride, dilation;              // of that operand along `dim`
  llvm::SmallVector<unsigned> reductions; // loops, `taps` last
  int64_t width, count;                   // extents of x (kDynamic where unknown) and k
  std::optional<unsigned> beside;         // the input's innermost loop where that is not x
  int64_t extent = 1;                     // of that loop (kDynamic where unknown)
};

/// Nothing where the dispatch is not of this form. Read once, and kept with the computation.
const std::optional<Windows> &matchWindows(const Computation &computation);

} // namespace cameo
