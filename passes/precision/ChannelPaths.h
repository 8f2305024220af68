// Which channels of which values products multiply by the same weights, whatever moves them on the way.
//
//   %1 = onnx.Relu(%x)              source: 64 channels along axis 1
//   %2 = onnx.MaxPool(%1)           its channels are those of %1
//   %3 = onnx.Concat(%2, %y)        its first 64 are those of %1, the others of %y
//   %4 = onnx.Conv(%3, %w)          and so are its input channels
//
// A channel can be multiplied by a factor where it is computed if all products that read it divide
// their weights by it. What movement joins has one scale in 8 bits and is a class: all of it can be
// scaled, or nothing, because one of its products multiplies computed values, say.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/Weights.h"
#include "passes/precision/RecordedRanges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <memory>

namespace cameo {

class ChannelPaths {
public:
  /// Names of values say what was recorded of them. Movement that passes insert has the name of what it
  /// moves; where values are tapped, of which the last one of a name is shown, that is one too many.
  enum class Names { Recorded, Tapped };
  ChannelPaths(mlir::func::FuncOp function, Names names);

  struct Channel {
    unsigned source;
    int64_t channel;
    bool operator==(const Channel &other) const {
      return source == other.source && channel == other.channel;
    }
  };
  struct Channels {
    int64_t axis;
    std::vector<Channel> origins; // by index along the axis
  };
  struct Source {
    mlir::Value value;
    int64_t channels;
    int64_t axis;
  };
  /// Sources that movement joins for products, or a single value that sums read.
  struct Class {
    llvm::SmallVector<unsigned> sources;
    llvm::SmallVector<mlir::Operation *> products; // all that read it; none read what is for sums
  };

  llvm::ArrayRef<Source> sources() const { return allSources; }
  /// Classes of which all products can take factors, and whose values share no name with others.
  llvm::ArrayRef<Class> classes() const { return allClasses; }
  /// The channels of a source of such a class, or of a value that moves them to products; null for others.
  const Channels *of(mlir::Value value) const;
  /// Why nothing of a value's class can be scaled; empty for others.
  llvm::StringRef whyNot(mlir::Value value) const;
  /// The exponents of such a value's channels by those of sources, which are by name.
  ChannelExponents exponents(mlir::Value value,
                             const llvm::StringMap<ChannelExponents> &bySource) const;

private:
  const Channels *trace(mlir::Value value, int64_t axis);
  std::optional<Channels> throughMovement(mlir::Operation *op, int64_t axis);
  const Channels *source(mlir::Value value, int64_t axis);
  const Channels *keep(mlir::Value value, Channels found);
  void addSummed(mlir::func::FuncOp function, llvm::function_ref<bool(mlir::Value)> isMultiplied);

  std::vector<Source> allSources;
  std::vector<Class> allClasses;
  llvm::DenseMap<void *, std::string> reasons;                     // by value
  llvm::DenseMap<mlir::Value, std::unique_ptr<Channels>> channels; // at addresses that stay
};

/// The powers of two, or their inverses.
std::vector<double> channelFactors(const ChannelExponents &exponents, bool isInverse = false);
/// A tensor of the value's rank by which it is multiplied: 2^exponent, or its inverse, along `axis`.
mlir::Value createChannelFactors(mlir::OpBuilder &b, mlir::Location loc, int64_t rank, int64_t axis,
                                 const ChannelExponents &exponents, bool isInverse);
/// Divides the weights of a product by the factors of what it reads, without rounding.
void divideWeights(mlir::Operation *product, const ChannelExponents &exponents);

} // namespace cameo
