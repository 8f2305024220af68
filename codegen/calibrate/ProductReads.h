// Which elements of its first operand a product by constant weights multiplies with each of them:
// those of rows, or of the windows of a convolution.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Run.h"
#include "codegen/calibrate/CalibrationCache.h"

#include "mlir/IR/BuiltinOps.h"

namespace cameo {

/// A convolution's; by spatial axis.
struct ReadWindow {
  llvm::SmallVector<int64_t> sizes, strides, dilations, padsBefore, padsAfter;

  /// Places of the window.
  int64_t places() const;
  /// How many results a spatial axis has.
  int64_t results(unsigned axis, int64_t size) const;
  bool operator==(const ReadWindow &other) const {
    return sizes == other.sizes && strides == other.strides && dilations == other.dilations &&
           padsBefore == other.padsBefore && padsAfter == other.padsAfter;
  }
};

struct ProductRead {
  mlir::Operation *product;
  std::string name, value; // of the product, of what it reads
  float threshold = 0;     // of that
  unsigned tap = 0;
  int64_t channels = 0, groups = 1;
  std::optional<ReadWindow> window; // none: rows of `channels` elements

  /// Weights by which an element of a result is a sum.
  int64_t depth() const { return channels / groups * (window ? window->places() : 1); }
  /// Whether a tensor is one that it reads: movement of an input has the input's name, and a tap
  /// shows the last value of a name.
  bool reads(llvm::ArrayRef<int64_t> shape) const;
};

/// Convolutions, Gemms and matrix products by constant weights of a module at stage normalized,
/// without taps and thresholds.
std::vector<ProductRead> productReads(mlir::ModuleOp module);
/// Those that read one of `taps` with a threshold.
std::vector<ProductRead> tappedReads(std::vector<ProductRead> reads,
                                     llvm::ArrayRef<TensorPort> taps,
                                     llvm::ArrayRef<CalibratedValue> values);

} // namespace cameo
