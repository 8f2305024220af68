// Weights are rounded up or down so that the squared error of what they give is small, not that of
// each weight: with errors e, by the second moments H of what they are multiplied with, e' H e.
//
// Beginning with the nearest, each weight in turn is rounded the other way if the sum falls, again
// and again until none does: coordinate descent, as in K. Behdin and others, QuantEase:
// Optimization-based Quantization for Language Models, 2023, with the two numbers next to a weight
// to choose from, as in M. Nagel and others, Up or Down? Adaptive Rounding for Post-Training
// Quantization, ICML 2020. So nothing is worse than the nearest, and weights that are multiplied
// with nothing but zeros stay nearest.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/SecondMoments.h"
#include "passes/precision/QuantizedWeights.h"

#include "llvm/ADT/StringMap.h"

namespace cameo {

/// Rounds the weights of an output channel, which are in quanta. `moments` is symmetric, row by
/// row.
std::vector<int8_t> roundTogether(llvm::ArrayRef<float> weights, llvm::ArrayRef<double> moments);

/// Learns how weights are rounded while the model runs over the data.
class RoundingLearner {
public:
  /// Takes the weights of a module at stage normalized, which compiling it releases.
  RoundingLearner(mlir::ModuleOp module, unsigned threads);
  /// Says what is read where, and by which thresholds it is quantised.
  void expect(llvm::ArrayRef<TensorPort> taps, llvm::ArrayRef<CalibratedValue> values);

  void add(const TappedValue &value);
  /// In the order of the products' names.
  std::vector<ProductRounding> learn();

private:
  struct Product {
    ProductRead read;
    unsigned moments; // an index
  };
  struct Weights {
    std::vector<float> quanta;
    QuantizedWeights nearest;
  };
  ProductRounding learn(const ProductRead &read, const SecondMoments &moments);

  llvm::DefaultThreadPool threads;
  std::vector<ProductRead> reads;   // that may be learned
  llvm::StringMap<Weights> weights; // by product
  std::vector<Product> products;
  std::vector<SecondMoments> moments;
  std::vector<llvm::SmallVector<unsigned>> byTap; // indices of products, one for each of moments
};

} // namespace cameo
