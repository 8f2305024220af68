// Channels of one tensor have one scale in 8 bits, whatever their sizes. What computes a value can
// multiply each channel by a power of two, and the products that read it divide their weights by it: which
// powers make the noise of both smallest, by samples and weights?
//
// A channel with the greatest magnitude a and products' greatest weight w, each beside the greatest of all
// channels, has the candidates a^-p * w^(1-p) for p = 1/4, ... 1: from factors that even out weights to those
// that even out what is multiplied (G. Xiao and others, SmoothQuant, ICML 2023; p is its migration
// strength). Each class of values takes the candidate with the least noise of rounding, over what its
// products give:
//
//   sum over weights of   step(x)^2 w^2  +  step(w)^2 E[x^2]
//
// and what only sums read, the least noise of its own. Candidates of every other sample are judged by all: where a channel's
// greatest magnitude is due to chance, the others exceed it, and the factor is worth nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Run.h"
#include "passes/precision/ChannelPaths.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/ThreadPool.h"

namespace cameo {

class ChannelScaler {
public:
  /// Samples that are looked at: of more the first.
  static constexpr uint64_t kSamples = 64;

  /// Takes the weights of a module at stage normalized, which stays as it is.
  ChannelScaler(mlir::ModuleOp module, llvm::ArrayRef<TensorPort> taps);

  /// The tap shows a source, which `add` takes.
  bool isSource(unsigned tap) const { return sourceOfTap.count(tap) != 0; }
  void add(const TappedValue &value);
  /// Chooses exponents once all samples have been added.
  void choose(llvm::ThreadPoolInterface &threads);

  struct Scaled {
    int64_t axis;
    ChannelExponents exponents;
    /// Channels times their factors, or divided by them.
    void multiply(llvm::MutableArrayRef<float> numbers, llvm::ArrayRef<int64_t> shape,
                  bool isInverse = false) const;
  };
  /// The factors of the value of this name; null where its channels are not scaled.
  const Scaled *of(llvm::StringRef name) const;
  /// The exponents of all sources, by their names.
  const llvm::StringMap<ChannelExponents> &exponents() const { return chosen; }

private:
  struct Statistics {
    std::vector<double> squares;      // by channel: sums
    uint64_t places = 0, samples = 0; // that the sums are of
    std::vector<double> greatest[2];  // by channel: magnitude, in every other sample
  };
  /// One of the model's graphs.
  struct Graph {
    explicit Graph(mlir::func::FuncOp function)
        : function(function), paths(function, ChannelPaths::Names::Tapped) {}
    void choose(const ChannelPaths::Class &joined, std::vector<ChannelExponents> &exponents) const;

    mlir::func::FuncOp function;
    ChannelPaths paths;
    std::vector<Statistics> statistics; // by source
  };
  struct SourceOfGraph {
    Graph *graph = nullptr;
    unsigned source = 0;
  };

  std::vector<std::unique_ptr<Graph>> graphs;
  llvm::DenseMap<unsigned, SourceOfGraph> sourceOfTap;
  llvm::StringMap<ChannelExponents> chosen;
  llvm::StringMap<Scaled> scaled; // by value
};

} // namespace cameo
