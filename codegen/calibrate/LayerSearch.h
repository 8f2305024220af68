// Which few layers to keep in more bits, so that a model keeps what it promises.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/BitVector.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <vector>

namespace cameo {

/// Answers that take runs of a model. Nothing instead of an answer: there is no time left for it.
class LayerOracle {
public:
  virtual ~LayerOracle() = default;
  /// What quantising nothing but this layer does to the outputs: noise over signal.
  virtual llvm::Expected<std::optional<double>> noiseOf(unsigned layer) = 0;
  /// Whether the promise seems to be kept with these layers in more bits: cheap.
  virtual llvm::Expected<std::optional<bool>> seemsGood(const llvm::BitVector &kept) = 0;
  /// Whether it is kept by the model as it is to be used: dear.
  virtual llvm::Expected<std::optional<bool>> isGood(const llvm::BitVector &kept) = 0;
};

struct LayerChoice {
  enum End {
    Good,      // `kept` is good
    Early,     // it is, and there was no time to look for fewer
    OutOfTime, // none was found yet
    Hopeless   // all layers are kept, and that is not good
  };
  End end = OutOfTime;
  llvm::BitVector kept;
  std::vector<double> noise; // of each layer; as many as were asked for
};

/// Searches:
/// 1. Nothing kept, if that is good.
/// 2. Layers in the order of their noise. Noise of several layers adds up, more or less, so the
///    noisiest are the fewest that bring it down: the least number of them that seems good, by
///    bisection.
/// 3. Whether that is good; if not, the next 1, 2, 4, ... of the order.
/// 4. Fewer of those: each is given back that can be, from the least noisy to the noisiest, as far
///    as it seems; the result counts if it is good.
llvm::Expected<LayerChoice> chooseKeptLayers(unsigned layers, LayerOracle &oracle);

} // namespace cameo
