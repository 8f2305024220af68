// Thresholds of quantisation from sample data: the FP32 model runs over it in this process, and
// each value that it shows on the way goes into a histogram.
//
//   cameo::Compiler compiler(calibrationOptions(options, "sim:sm_80", {"train.npz"}));
//   if (succeeded(compiler.read("model.onnx")))
//     FailureOr<CalibrationCache> found = calibrate(compiler, {"train.npz"});
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Compile.h"
#include "codegen/Run.h"
#include "codegen/calibrate/CalibrationCache.h"

namespace cameo {

struct CalibrationOptions {
  std::string data; // as CalibrationData takes it
  /// The model's file and how it is compiled, for trials (QuantizationTrials.h): method, factors of channels and
  /// correction of biases come from the options below, else from the cache, else from what leaves the outputs of this
  /// model with the least noise. Without a file they are CalibrationMethod's own, factors and no correction.
  std::string model;
  CompileOptions compile;
  std::optional<CalibrationMethod> method;
  /// A file that is taken where it fits, so that nothing runs, and is refused where it does not;
  /// empty or absent: none.
  std::string cache;
  /// Looks at the first samples for factors of channels that what products read is multiplied by.
  std::optional<bool> scalesChannels;
  /// Also records what products read on average: in a second run over the data, or, where that is not asked for
  /// and turns out to be better, over the first samples.
  std::optional<bool> correctsBiases;
  /// Samples of a run, where the model leaves that open. Results do not depend on it.
  uint64_t batch = 8;
  RunDevice device;
  unsigned threads = 0; // 0: one a core
  /// Histograms are those that kernels count, and values stay where they are: the compiler was made
  /// with it. They are the same, bit for bit.
  bool countsByKernels = false;
  /// Called after each run: in "looking at channels", "calibrating" and "recording what products read"
  /// with samples, in "choosing methods", which `best` does, with runs, in "trying INT8" with trials.
  std::function<void(llvm::StringRef what, uint64_t done, uint64_t all)> onProgress;
  /// Called with how long steps took, as CompileOptions::onStep: "channels" comes before "calibrate",
  /// which are the runs of which "histograms" is a part; "thresholds" follow, "methods" for `best`,
  /// "inputs" for what products read, and "trials".
  std::function<void(llvm::StringRef step, const llvm::TimeRecord &time)> onStep;
};

/// How a model is compiled to be calibrated: in the types that it has, one kernel per operator,
/// for `targets`, which are those of CalibrationOptions::device, with taps on all values, and kernels
/// that count if the calibration does.
CompileOptions calibrationOptions(CompileOptions options, llvm::StringRef targets,
                                  const CalibrationOptions &calibration);

/// The inputs of the model that the compiler has read, as its data has to have them.
mlir::FailureOr<std::vector<TensorPort>> calibrationInputs(Compiler &compiler);

/// Calibrates the model that `compiler`, of calibrationOptions, has read. What goes wrong it says
/// by the compiler, and warns of values that are not finite.
mlir::FailureOr<CalibrationCache> calibrate(Compiler &compiler, const CalibrationOptions &options);

/// Ranges by TensorRT's thresholds, as a file that --ranges takes. A value has the scale of the
/// tensor that it was in the model; where nodes have become one, of the last that has one. The
/// compiler has read the model, and is at stage normalized afterwards.
mlir::FailureOr<std::string> rangesOf(const TensorRtCache &cache, llvm::StringRef path,
                                      Compiler &compiler);

} // namespace cameo
