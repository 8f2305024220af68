// What cameo-sink-data-movement is made of.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Ledger.h"
#include "passes/graph/Permutations.h"

namespace cameo {

/// Operators that compute element by element and whose operands all broadcast to their one result.
bool isElementwise(mlir::Operation *op);
/// The type of a value whose shape is to be relied on; null for others.
mlir::RankedTensorType reliable(mlir::Value value);
/// Operands of one element are the same however the others are permuted.
bool isPlain(mlir::Value operand);

/// Takes away views (Reshape, Flatten, Squeeze, Unsqueeze) on both sides of elementwise operators,
/// where what is before and what is behind have one shape. Gives how many operators are computed in
/// that shape.
int64_t cancelViews(mlir::Block &block, rt::Ledger &ledger);

/// Takes away transposes on both sides of products where together they do nothing. Gives how many
/// products.
int64_t cancelAroundProducts(mlir::Block &block, rt::Ledger &ledger);

} // namespace cameo
