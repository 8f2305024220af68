// A model in FP32 whose operands can be read as those of INT8 from one run to the next: one
// artefact answers for every choice of layers.
//
//   %1 = onnx.Conv(%x, %weights)   ==>   %q = QuantizeLinear(Mul(%x, %factors), %scale)
//                                        %d = Div(DequantizeLinear(%q, %scale), %factors)
//                                        %s = Where(%on, %d, %x)
//                                        %1 = onnx.Conv(%s, %given)
//
// Scale, factors, switch and weights are inputs of the model, and biases: a product without one, to which
// quantisation gives it, adds zeros otherwise. What is in 8 bits is exactly that; what is not is in
// FP32.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Run.h"
#include "codegen/calibrate/CalibrationData.h"
#include "codegen/calibrate/LayerPlans.h"

namespace cameo {

/// Operands that can be switched.
struct SwitchPlaces {
  /// And in which shape factors of channels are given.
  std::map<OperandPlace, llvm::SmallVector<int64_t>> computed;
  std::map<OperandPlace, size_t> constant; // and how many numbers they are in 8 bits

  void add(const QuantizedOperands &operands);
  bool cover(const QuantizedOperands &operands) const;
};

class SwitchedModel {
public:
  /// Options by which a model, otherwise compiled by `given`, is tried on samples: for `targets`, in the samples'
  /// types, without what is for the artefact's users, and saying errors alone.
  static CompileOptions optionsFor(const CompileOptions &given, llvm::StringRef targets);
  /// Compiles the model that `options` would quantise, for options.pipeline.targets, which run where
  /// `run` says. Messages go to options.onMessage.
  static mlir::FailureOr<std::unique_ptr<SwitchedModel>> create(llvm::StringRef path,
                                                                CompileOptions options,
                                                                const SwitchPlaces &places,
                                                                const RunOptions &run);

  /// From the next run on; `places` cover them.
  void set(const QuantizedOperands &operands);
  llvm::Expected<std::vector<HostTensor>> run(DataBatch &batch);
  llvm::ArrayRef<TensorPort> outputs() const { return runner->outputs(); }

private:
  SwitchedModel() = default;
  mlir::LogicalResult insert(mlir::ModuleOp module, const SwitchPlaces &places);

  struct Constant {
    OperandPlace place;
    size_t input;
    std::vector<char> original;
    llvm::SmallVector<int64_t> shape, order; // of dimensions, in which the input has them
  };
  struct Switch {
    OperandPlace place;
    size_t scale, on; // inputs
    std::optional<size_t> factors;
  };
  std::vector<Constant> constants;
  std::vector<Switch> switches;
  size_t modelInputs = 0;
  std::vector<HostTensor> inputs;
  std::unique_ptr<Runner> runner;
};

} // namespace cameo
