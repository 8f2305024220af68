// A few samples, by which ways of quantising a model are compared: how far its outputs are from those of FP32.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/CalibrationData.h"
#include "codegen/calibrate/SwitchedModel.h"

namespace cameo {

class NoiseSamples {
public:
  /// Their number: enough for an order.
  static constexpr uint64_t kSamples = 32;

  /// The samples of `data` behind the first `skipped`, `batch` a run, and what the model makes of them in FP32.
  static llvm::Expected<NoiseSamples> take(SwitchedModel &model, CalibrationData &data,
                                           uint64_t batch, uint64_t skipped = 0);

  /// Noise over signal of outputs of floats, summed over outputs; infinite where it is no number.
  struct Noise {
    double all;    // of all samples together
    double median; // of runs, without those whose outputs are no numbers
  };
  /// Runs the model with these operands quantised; gives nothing where `isOver` ends it.
  llvm::Expected<std::optional<Noise>> noiseOf(SwitchedModel &model,
                                               const QuantizedOperands &operands,
                                               llvm::function_ref<bool()> isOver);
  uint64_t samples() const { return taken; }

private:
  std::vector<DataBatch> batches;
  std::vector<std::vector<HostTensor>> reference; // of each
  uint64_t taken = 0;
};

} // namespace cameo
