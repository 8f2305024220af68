// Which nodes are of which precision, where the policy leaves it open: a minimal cut.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/NumberRanges.h"

namespace cameo {

/// A node of the entry function with operands or results of FP32.
struct PrecisionNode {
  mlir::Operation *op;
  /// Decided, or left to where casts cost least.
  std::optional<Precision> precision = std::nullopt;
  /// Why it is not of the precision asked for.
  std::string why = "";
};

struct PrecisionPlan {
  mlir::func::FuncOp function;
  std::vector<PrecisionNode> nodes; // in the block's order
  Precision inputsAndOutputs = Precision::FP32;
};

/// Decides for the open nodes whether they are of `precision`, so that the bytes of casts, and of
/// what is stored in FP32 for it, are the fewest. Nodes that remain open are so in FP32.
void placeCasts(PrecisionPlan &plan, Precision precision, const NumberRanges &ranges);

} // namespace cameo
