// What convolutions and Gemms read, on average: for each input channel and place in the window, the
// mean over samples and places of the result of what is multiplied there, and how far quantising
// moves it. By these, bias correction knows how far quantising moves the mean of each output
// channel, exactly, padding included (passes/precision/BiasCorrection.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/ProductReads.h"

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
  struct Product {
    ProductRead read;
    int64_t places; // of results, so far
    std::vector<int64_t> sums, quantizedSums;
  };
  struct Numbers;
  static void addRows(Product &product, const TappedValue &value, const Numbers &numbers);
  static void addWindows(Product &product, const TappedValue &value, const Numbers &numbers);

  std::vector<Product> products;
  std::vector<llvm::SmallVector<unsigned>> byTap;
};

} // namespace cameo
