// Trials of INT8 by one set of ranges or another: the model's outputs on the last samples, since factors and means come
// from the first ones, beside those of FP32, with all products quantised that can be. One artefact (SwitchedModel.h) answers for all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/NoiseSamples.h"

namespace cameo {

class QuantizationTrials {
public:
  /// The model is that in a file, compiled by `options` for `targets`, and runs where `run` says. Errors alone tell
  /// what goes wrong.
  QuantizationTrials(llvm::StringRef path, const CompileOptions &options, llvm::StringRef targets,
                     const RunOptions &run, CalibrationData &data);

  /// Signal over noise in dB, from -QuantizationChoice::kMostSqnr to that.
  struct Sqnr {
    double median; // of runs: what most samples have
    double all;    // of all samples together: what the largest have
  };
  /// Runs one trial, with these ranges; gives nothing where none of the model's products is quantised.
  llvm::Expected<std::optional<Sqnr>> sqnr(std::shared_ptr<const RecordedRanges> ranges,
                                           bool scalesChannels, bool correctsBiases);
  uint64_t samples() const { return noise ? noise->samples() : 0; }

private:
  llvm::Error failed(llvm::StringRef what) const;

  std::string path, problem; // that compilations have told
  CompileOptions options;
  RunOptions where;
  CalibrationData &data;
  std::unique_ptr<LayerPlans> plans;
  SwitchPlaces places;
  std::unique_ptr<SwitchedModel> model;
  std::optional<NoiseSamples> noise;
};

} // namespace cameo
