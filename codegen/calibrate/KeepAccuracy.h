// INT8 that keeps a promised accuracy: finds a small set of layers that have to stay in more bits.
//
// The FP32 model and every choice of layers are measured on one artefact with switches
// (SwitchedModel.h); what is chosen counts only after the INT8 model itself, compiled as it is
// going to be, has kept the promise on the same samples.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/AccuracyContract.h"
#include "codegen/calibrate/LayerPlans.h"

#include "llvm/Support/JSON.h"

namespace cameo {

struct AccuracyOptions {
  std::optional<AccuracyContract> contract; // nothing is promised without one
  std::string data;                         // samples, as CalibrationData takes them
  std::string labels;                       // a file; empty: FP32's outputs are what is right
  double budget = std::numeric_limits<double>::infinity(); // seconds
  /// Samples of a run, where the model leaves that open.
  uint64_t batch = 8;
  RunDevice device;
  unsigned threads = 0; // 0: one a core
  /// Called as work goes on: with samples or layers.
  std::function<void(llvm::StringRef what, uint64_t done, uint64_t all)> onProgress;
};

struct AccuracyResult {
  struct Layer {
    std::string name, op;
    /// Signal over noise of the outputs where nothing else is in 8 bits, in dB; nothing where it
    /// was not measured.
    std::optional<double> sqnr;
    std::optional<Precision> kept;        // as what; nothing: it is in 8 bits
    std::vector<std::string> around = {}; // nodes whose graph it is in, outer ones first
  };
  std::string contract, measure; // "99%"; "right", "agreement", "sqnr"
  uint64_t samples = 0, rows = 0;
  /// Shares of rows, or dB. What FP32 reaches (without noise: infinite), what is asked for, INT8
  /// without any layer kept, and with those that are.
  double reference = 0, needed = 0, unkept = 0, reached = 0;
  bool isEarly = false; // the budget ended before fewer were looked for
  unsigned compilations = 0, trials = 0;
  std::vector<Layer> layers; // those that might be kept, in the graph's order
  std::string overrides;     // GLOB=TYPE;... that keep them

  llvm::json::Object json() const;
  /// What to say of it: of the model, and of each kept layer by its name.
  std::vector<CompileMessage> remarks() const;
};

/// For the model in a file, compiled with `options`, which have the ranges. An error says what was
/// reached; what compilations said has gone to options.onMessage.
llvm::Expected<AccuracyResult> keepAccuracy(llvm::StringRef path, const CompileOptions &options,
                                            const AccuracyOptions &accuracy);

} // namespace cameo
