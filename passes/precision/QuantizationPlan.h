// Which products become products of integers, and which values are stored in 8 bits for them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/NumberRanges.h"
#include "passes/precision/Overrides.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace cameo {

/// Which products at the model's ends stay in more bits.
enum class KeptEnds : uint8_t { None, First, Last, Both };
std::optional<KeptEnds> parseKeptEnds(llvm::StringRef name);

struct QuantizationOptions {
  /// All products are asked for, not only those that overrides name.
  bool all = false;
  KeptEnds kept = KeptEnds::None;
};

struct QuantizationPlan {
  struct Product {
    mlir::Operation *op;
    /// Why it is not one of integers; empty where it is.
    std::string why = "";
    bool isInteger() const { return why.empty(); }
  };
  std::vector<Product> products; // those asked for, in the block's order
  /// Values that are quantised where they are written, and the thresholds that must not be clipped.
  llvm::MapVector<mlir::Value, double> thresholds;
  /// Operands of concatenations that are quantised once more, for these, and their thresholds there.
  llvm::MapVector<mlir::OpOperand *, double> apart;
  /// Operands that read what these are after quantisation.
  llvm::SetVector<mlir::OpOperand *> readers;
};

/// Decides by overrides, ranges and costs. Nothing is changed.
QuantizationPlan planQuantization(mlir::func::FuncOp function, const RecordedRanges &recorded,
                                  PrecisionOverrides &overrides,
                                  const QuantizationOptions &options);

/// The axis of constant weights that has a scale for each index: that of the result's channels.
/// Nothing where one scale is for all.
std::optional<int64_t> channelAxis(mlir::Operation *product);

} // namespace cameo
