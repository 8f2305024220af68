// Ranges ==> signal over noise of the outputs.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/QuantizationTrials.h"

#include "codegen/calibrate/CalibrationCache.h"

#include <cmath>

using namespace mlir;
using namespace cameo;
using llvm::Expected;

/// Samples of a run, where the model leaves that open: few, so that a strange one is in one run of many.
static constexpr uint64_t kBatch = 4;

QuantizationTrials::QuantizationTrials(StringRef path, const CompileOptions &given,
                                       StringRef targets, const RunOptions &run,
                                       CalibrationData &data)
    : path(path), options(SwitchedModel::optionsFor(given, targets)), where(run), data(data) {
  options.onStep = nullptr;
  options.onMessage = [this](const CompileMessage &message) {
    if (problem.empty() && message.severity == CompileMessage::Severity::Error)
      problem = message.text;
  };
}

llvm::Error QuantizationTrials::failed(StringRef what) const {
  return llvm::createStringError(problem.empty() ? what : StringRef(problem));
}

Expected<std::optional<QuantizationTrials::Sqnr>>
QuantizationTrials::sqnr(std::shared_ptr<const RecordedRanges> ranges, bool scalesChannels,
                         bool correctsBiases) {
  PrecisionOptions &precision = options.pipeline.precision;
  precision = {};
  precision.type = precisionName(Precision::INT8).str();
  precision.recorded = std::move(ranges);
  precision.scalesChannels = scalesChannels;
  precision.correctsBiases = correctsBiases;
  if (!plans) {
    FailureOr<std::unique_ptr<LayerPlans>> made = LayerPlans::create(path, options);
    if (mlir::failed(made))
      return failed("the model was not read");
    plans = std::move(*made);
  }
  FailureOr<QuantizedOperands> operands = plans->with(precision);
  if (mlir::failed(operands))
    return failed("the model was not quantised");
  if (operands->scales.empty())
    return std::nullopt;
  if (!model || !places.cover(*operands)) {
    places.add(*operands);
    FailureOr<std::unique_ptr<SwitchedModel>> made =
        SwitchedModel::create(path, options, places, where);
    if (mlir::failed(made))
      return failed("the model was not compiled");
    model = std::move(*made);
  }
  if (!noise) {
    uint64_t samples = data.samples(), most = NoiseSamples::kSamples;
    Expected<NoiseSamples> taken =
        NoiseSamples::take(*model, data, kBatch, samples > most ? samples - most : 0);
    if (!taken)
      return taken.takeError();
    noise.emplace(std::move(*taken));
  }
  Expected<std::optional<NoiseSamples::Noise>> found =
      noise->noiseOf(*model, *operands, [] { return false; });
  if (!found)
    return found.takeError();
  auto decibels = [](double noise) {
    constexpr double most = QuantizationChoice::kMostSqnr;
    return std::clamp(-10 * std::log10(noise), -most, most);
  };
  return Sqnr{decibels((*found)->median), decibels((*found)->all)};
}
