// Differences of what was computed from one value in two ways, which are small beside both.
//
//   E[x * x] - E[x]^2            a variance, or a covariance of x and y, by means, windows or products
//   |a|^2 - 2ab + |b|^2          a distance
//   x - blur(x)                  what stands out of an average that a product makes
//   (grid + flow) - grid         what was added, taken away again
//   Min(b, d) - Max(a, c)        what two intervals have in common
//
// Each part is right to its own magnitude; what is left of them has nothing but their roundings where they are of 16
// bits. A variance of 1 around 20 is the rest of 401 and 400.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Onnx.h"

namespace cameo {

struct Cancellation {
  /// Results of the products that make the parts. All else of the sum is elementwise, or adds: rounding what a product
  /// in front of that reads is no loss.
  llvm::SmallVector<mlir::Value, 4> products;
};

/// The cancellation in the sum that `op`, an Add or a Sub, is the end of; nothing where there is none.
std::optional<Cancellation> cancellationIn(mlir::Operation *op);

/// True of a product by constants of which some channel adds up to 0: an edge filter, a matrix that takes the mean away.
bool takesDifferences(mlir::Operation *op);

} // namespace cameo
