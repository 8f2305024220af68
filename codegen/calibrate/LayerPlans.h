// What of a model cameo-insert-quantization quantises, for any choice of layers that stay in more
// bits, without compiling any of them: the pass runs on a copy of the graph, and what it has done
// is read from there.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Compile.h"
#include "passes/precision/ChannelPaths.h"
#include "passes/precision/Policy.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace cameo {

/// An operand of a node, by the node's key.
struct OperandPlace {
  std::string node;
  unsigned operand;
  bool operator<(const OperandPlace &other) const {
    return std::tie(node, operand) < std::tie(other.node, other.operand);
  }
};

/// Names nodes of graphs, in their order. Several may have one name, as movement has that of what it
/// moves: from the second one on they are numbered.
class NodeKeys {
public:
  std::string of(mlir::Operation *op);

private:
  llvm::StringMap<unsigned> seen;
};

/// Calls with each node of a model's graphs, those in bodies behind those of the graphs around them, and its key.
void forEachNode(mlir::ModuleOp module,
                 llvm::function_ref<void(mlir::Operation *, std::string)> see);

/// What is read in 8 bits.
struct QuantizedOperands {
  struct Scale {
    float scale;
    /// Factors by which the value is multiplied before and divided again, in a shape that broadcasts.
    std::vector<float> factors = {1.0f};
    llvm::SmallVector<int64_t> shape = {};
  };
  std::map<OperandPlace, Scale> scales;                 // of values that are computed
  std::map<OperandPlace, std::vector<float>> constants; // what their numbers stand for
};

/// A product that becomes one of integers where nothing else is asked for.
struct QuantizableLayer {
  std::string name, op;            // of the node
  Precision otherwise;             // what it is where it stays: FP16, if its ranges allow that
  std::vector<std::string> around; // nodes whose graph it is in, outer ones first
};

class LayerPlans {
public:
  /// Of a model's file, by the precision, overrides and ranges of `options`. Products for which
  /// these ask for INT8 by name are quantised whatever is kept, and are none of layers(). Messages
  /// go to options.onMessage.
  static mlir::FailureOr<std::unique_ptr<LayerPlans>> create(llvm::StringRef path,
                                                             const CompileOptions &options);

  llvm::ArrayRef<QuantizableLayer> layers() const { return found; }
  /// GLOB=TYPE;... after those of the options: what keeps these layers.
  std::string overridesOf(const llvm::BitVector &kept) const;
  /// What is quantised with these layers kept.
  mlir::FailureOr<QuantizedOperands> withKept(const llvm::BitVector &kept);
  /// Plans by another precision, with ranges of its own and no layer kept.
  mlir::FailureOr<QuantizedOperands> with(PrecisionOptions other);
  /// What is quantised where nothing but one layer is, whatever that costs.
  mlir::FailureOr<QuantizedOperands> alone(unsigned layer);

  /// The model that all of this is of: at stage normalized, in FP32.
  Compiler &compiler() { return model; }

private:
  LayerPlans(const CompileOptions &options)
      : model(options), precision(options.pipeline.precision) {}
  mlir::LogicalResult attachRanges();
  mlir::LogicalResult findLayers();
  mlir::FailureOr<QuantizedOperands> plan(llvm::StringRef overrides);
  template <typename Read> mlir::LogicalResult onCopy(mlir::PassManager &passes, Read read);

  Compiler model;
  PrecisionOptions precision;
  std::map<mlir::Operation *, ChannelPaths> paths; // by function of the model
  llvm::StringMap<ChannelExponents> channels;
  std::vector<QuantizableLayer> found;
};

/// A pattern of --precision-of that matches a node of this name. A semicolon, which no pattern may
/// have, matches any character.
std::string globOf(llvm::StringRef name);

} // namespace cameo
