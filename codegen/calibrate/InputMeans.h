// What convolutions and Gemms read, on average: for each input channel and place in the window, the
// mean over samples and places of the result of what is multiplied there, and how far quantising
// moves it. By these, bias correction knows how far quantising moves the mean of each output
// channel, exactly, padding included (passes/precision/BiasCorrection.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Run.h"
#include "codegen/calibrate/CalibrationCache.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace cameo {

/// Sums are of integers, 2^-16 of a quantum each: the same in any order, for any batch.
class InputMeans {
public:
  /// Of the products of a module at stage normalized whose inputs are among `taps` and have a
  /// threshold.
  InputMeans(mlir::ModuleOp module, llvm::ArrayRef<TensorPort> taps,
             llvm::ArrayRef<CalibratedValue> values);

  void add(const TappedValue &value);
  /// In the order of the products' names.
  std::vector<ProductInput> means() const;

private:
  struct Window {
    llvm::SmallVector<int64_t> sizes, strides, dilations, padsBefore, padsAfter; // spatial
  };
  struct Product {
    std::string name, value;
    float threshold;
    int64_t channels;
    std::optional<Window> window; // a convolution's
    int64_t places = 0;           // of results, so far
    std::vector<int64_t> sums, quantizedSums;
  };
  struct Numbers;
  static std::optional<Product> productOf(mlir::Operation *op);
  static bool reads(const Product &product, llvm::ArrayRef<int64_t> shape);
  static void addRows(Product &product, const TappedValue &value, const Numbers &numbers);
  static void addWindows(Product &product, const TappedValue &value, const Numbers &numbers);

  std::vector<Product> products;
  std::vector<llvm::SmallVector<unsigned>> byTap;
};

} // namespace cameo
