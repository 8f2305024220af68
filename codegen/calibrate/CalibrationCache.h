// What calibration has found, as a file that --ranges takes (passes/precision/RecordedRanges.h).
//
//   {
//     "cameo_ranges": 1,
//     "model": "16e89c4be18b0e5f",                    and "weights", if they are in other files,
//     "data": {"files": 1, "name": "train.npz", "samples": 512, "xxh3": "9a3f..."},
//     "method": "entropy",
//     "percentile": 99.99,
//     "passes": "imported:replace-divisions",         if passes were inserted up to stage normalized
//     "ranges": {
//       "conv1": {"min": -7.25, "max": 9.5, "method": "entropy", "thresholds": {"entropy": 8.1,
//                 ...}, "histogram": {"end": 4, "counts": [120, 3, 7, ...]}}
//     },
//     "channels": {"conv1": [0, 3, 1]},             if they were looked for; and, for bias correction:
//     "inputs": {
//       "conv2": {"value": "conv1", "scale": 0.06640625, "means": [...], "shifts": [...]}
//     },
//     "chosen": {"bias_correction": false, "samples": 32, "trials": [     if there was a choice
//       {"method": "mse", "channel_scales": true, "bias_correction": false, "sqnr": 31.08, "sqnr_of_all": 30.2},
//       {"method": "max", "channel_scales": true, "bias_correction": false, "sqnr": 28.71, "sqnr_of_all": 28.1}]}
//   }
//
// "model" is the XXH3 of the model's file; each value has its thresholds by all methods and the
// method that was chosen for it. Equal results give equal bytes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/Thresholds.h"
#include "passes/precision/RecordedRanges.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace cameo {

/// What a cache was made with. Equal are those with equal hashes.
struct CalibrationSource {
  uint64_t model = 0;
  uint64_t weights = 0; // of the model's files of external data; 0: it has none
  std::string dataName;
  uint64_t dataHash = 0, files = 0, samples = 0;
  /// Inserted passes up to stage normalized, whose values these are; empty: none.
  std::string passes;
};

struct CalibratedValue {
  std::string name;
  float least = 0, most = 0;
  uint64_t nonFinite = 0;
  Thresholds thresholds;
  std::optional<Thresholds> scaled; // where its channels are scaled
  CalibrationMethod::Kind chosen = CalibrationMethod::Max;
  CoarseHistogram histogram;

  /// Thresholds by which products read the value.
  const Thresholds &operandThresholds() const { return scaled ? *scaled : thresholds; }
};

/// What a product reads on average, as RecordedRanges::Input.
struct ProductInput {
  std::string product, value;
  float scale = 0;
  std::vector<float> means, shifts;
};

/// The trials of what no option named, on the last samples, and the one that was chosen.
struct QuantizationChoice {
  struct Trial {
    CalibrationMethod::Kind method;
    bool scalesChannels, correctsBiases;
    /// The median of runs, and of all samples together, in dB; kMostSqnr: no noise.
    double sqnr = 0, sqnrOfAll = 0;
    /// "mse, channels scaled, biases corrected".
    std::string text() const;
  };
  std::vector<Trial> trials; // the first is what is done where there is no choice
  Trial chosen;
  uint64_t samples = 0;
  /// The end of the scale of decibels, either way.
  static constexpr double kMostSqnr = 999;

  /// Trials had factors of channels: where the cache has none, they were worse.
  bool triedScales() const;
  /// "mse, channels scaled, biases corrected: 34.8 dB on 32 samples (median run: 35.1 dB); mse, channels scaled: 33.9
  /// dB (median run: 34.1 dB)".
  std::string text() const;
};

struct CalibrationCache {
  CalibrationSource source;
  CalibrationMethod method;
  std::vector<CalibratedValue> values; // in the order of their names
  /// Exponents of the factors of channels, by values' names; nothing where none were looked for.
  std::optional<llvm::StringMap<ChannelExponents>> channels;
  /// In the order of their products; where biases were to be corrected, and perhaps none then.
  std::optional<std::vector<ProductInput>> inputs;
  std::optional<QuantizationChoice> choice;

  static llvm::Expected<CalibrationCache> read(llvm::StringRef path);
  /// Reads the content of a file that errors call `path`.
  static llvm::Expected<CalibrationCache> parse(llvm::StringRef text, llvm::StringRef path);
  std::string text() const;

  /// Says of a cache of another model or of other data that it is.
  llvm::Error checkSource(const CalibrationSource &wanted, llvm::StringRef path) const;
  /// Whether it answers this method without another run. If so, and if it is not the one that the
  /// cache was made by, values are chosen by it, and `inputs`, of what was quantised by the
  /// other one, is gone, as is the choice.
  bool adopt(const CalibrationMethod &wanted);
  /// Takes one method's thresholds for all values.
  void chooseForAll(CalibrationMethod::Kind kind);
};

/// The object {"method", "data", "samples", "values"} that reports show of a cache's content, as
/// docs/report.schema.json has it; nothing where calibration has not written the content.
std::optional<llvm::json::Object> calibrationShown(llvm::StringRef text);

/// TensorRT's own file: a line "TRT-8501-EntropyCalibration2", then "name: 3c010a14" for each
/// tensor, where the number is the scale as the bits of an FP32, in hexadecimal.
struct TensorRtCache {
  llvm::StringMap<float> scales; // of tensors by their ONNX names

  static bool isOne(llvm::StringRef text);
  static llvm::Expected<TensorRtCache> parse(llvm::StringRef text, llvm::StringRef path);
};

} // namespace cameo
