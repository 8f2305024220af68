// Which products become products of integers, and which values are stored in 8 bits for them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/ChannelPaths.h"
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
  /// Channels are scaled as calibration has found it.
  bool scalesChannels = true;
};

struct QuantizationPlan {
  struct Product {
    mlir::Operation *op;
    /// Why it is not one of integers; empty where it is.
    std::string why = "";
    bool isInteger() const { return why.empty(); }
  };
  std::vector<Product> products; // those asked for, in the block's order
  /// Values that are quantised where they are written, and their scales; 0 of nothing but zeros.
  llvm::MapVector<mlir::Value, float> scales;
  /// Factors by which channels of these values, and of what moves them to products, are multiplied before.
  struct Scaled {
    int64_t axis;
    ChannelExponents exponents;
  };
  llvm::MapVector<mlir::Value, Scaled> channels;
  /// Values that are quantised whose channels cannot be scaled, and why.
  std::vector<std::pair<mlir::Value, std::string>> unscaled;
  /// Operands of concatenations that are quantised once more, for these, and their scales there.
  llvm::MapVector<mlir::OpOperand *, float> apart;
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
