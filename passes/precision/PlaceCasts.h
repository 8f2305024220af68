// Which nodes are of which precision, where the policy leaves it open: a minimal cut.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/NumberRanges.h"

namespace cameo {

/// What sizes that a run decides are taken for.
inline constexpr int64_t kOpenSize = 64;
/// Elements beyond which one more makes no difference.
inline constexpr int64_t kMostElements = int64_t(1) << 40;
/// Elements of a tensor, as far as costs are concerned.
int64_t estimatedElements(mlir::Value value);

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
  /// Values that are stored as what QuantizeLinear makes of them, or of elementwise work on them.
  llvm::DenseSet<mlir::Value> quantized = {};
};

/// Values as above of the function.
llvm::DenseSet<mlir::Value> quantizedWork(mlir::func::FuncOp function);

/// Decides for the open nodes whether they are of `precision`, so that the bytes of casts, and of
/// what is stored in FP32 for it, are the fewest. Nodes that remain open are so in FP32.
void placeCasts(PrecisionPlan &plan, Precision precision, const NumberRanges &ranges);

} // namespace cameo
