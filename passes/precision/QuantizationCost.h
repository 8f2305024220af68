// Whether products of integers are worth quantising what they read: a minimal cut.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace cameo {

/// A product that may be one of integers.
struct QuantizationCandidate {
  mlir::Operation *op;
  /// The values that would be quantised for it.
  llvm::SmallVector<mlir::Value, 2> sources;
  /// It is one of integers, whatever that costs.
  bool isAsked = false;
  /// Set where integers cost more than they save, in bytes of memory traffic.
  bool isDearer = false;
};

/// Decides for all of them so that what moves, and what multiplying takes in the meantime, is the
/// least. `isReadAsFloat` says of a value whether others read it in more bits.
void weighQuantization(std::vector<QuantizationCandidate> &candidates,
                       llvm::function_ref<bool(mlir::Value)> isReadAsFloat);

} // namespace cameo
