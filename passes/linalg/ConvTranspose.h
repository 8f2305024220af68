// ConvTranspose in its parts: what is read of the operator, and its phases as one product.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Convolution.h"

namespace cameo {

struct TransposedConvolution : Convolution {
  mlir::OpFoldResult channelsIn, channelsOut; // of a group
  /// Operands with channels as [g, c], where there are groups; weights are [g, c, f, k...].
  Lowered groupedX, groupedW;

  /// Loops in front of the channel of a group: n and g.
  unsigned lead() const { return isGrouped() ? 2 : 1; }
  int64_t spatial() const { return windows.size(); }
};

/// Whether sizes, or one that is known only at run time, are together as many rows, columns or
/// steps of depth as fill a product's tile.
bool isEnough(llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The result as one product of all phases; nothing where it is none.
std::optional<Lowered> phasesAsProduct(mlir::Operation *op, const TransposedConvolution &conv,
                                       Lowering &l);

} // namespace cameo
