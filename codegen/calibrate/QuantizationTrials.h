// How well INT8 does by one set of ranges or another: the model's outputs on the last samples, which say least of factors and
// means, beside those of FP32, with all products quantised that can be. One artefact (SwitchedModel.h) answers for all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/NoiseSamples.h"

namespace cameo {

class QuantizationTrials {
public:
  /// Of the model in a file, compiled by `options`, which runs where `run` says and has `targets` for it. What
  /// goes wrong is told by errors alone.
  QuantizationTrials(llvm::StringRef path, const CompileOptions &options, llvm::StringRef targets,
                     const RunOptions &run, CalibrationData &data);

  /// Signal over noise in dB, from -kMost to kMost.
  struct Sqnr {
    double median; // of runs: what most samples have
    double all;    // of all samples together: what the largest have
  };
  /// With these ranges. Nothing where none of the model's products is quantised.
  llvm::Expected<std::optional<Sqnr>> sqnr(std::shared_ptr<const RecordedRanges> ranges,
                                           bool scalesChannels, bool correctsBiases);
  uint64_t samples() const { return noise ? noise->samples() : 0; }

  static constexpr double kMost = 999;

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
