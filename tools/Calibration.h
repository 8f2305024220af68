// --calibration-data and --calibration-cache of cameoc and cameo-compare: what they say of values, as
// a file of ranges. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/Calibrate.h"
#include "tools/OutputFiles.h"

namespace cameo {

/// A model to calibrate, the data and the options.
struct CalibrationRequest {
  std::string model;
  /// How the model is compiled otherwise. Of its precision, only whether ranges are equalized counts.
  CompileOptions compile;
  CalibrationOptions calibration; // with data, a cache or both
  /// Other files that are read, and that are written: the cache is none of them.
  std::vector<std::string> inputs;
  std::vector<OutputName> outputs;
};

class CalibratedRanges {
public:
  CalibratedRanges() = default;
  CalibratedRanges(const CalibratedRanges &) = delete;
  CalibratedRanges &operator=(const CalibratedRanges &) = delete;
  ~CalibratedRanges();

  /// Calibrates, or reads the cache, and writes the cache where there is none. What goes wrong has
  /// been said.
  mlir::LogicalResult make(const CalibrationRequest &request);
  /// Writes them as JSON.
  mlir::LogicalResult write(llvm::StringRef path) const;
  /// A file that has it: the cache, or one that lives as long as this.
  llvm::Expected<std::string> file();

private:
  mlir::LogicalResult makeFromData(const CalibrationRequest &request);
  mlir::LogicalResult makeFromCache(const CalibrationRequest &request);
  mlir::LogicalResult makeFromTensorRt(const CalibrationRequest &request, llvm::StringRef content);

  std::string ranges;    // the file's text
  std::string cache;     // where `ranges` is already
  std::string temporary; // a file of our own
};

} // namespace cameo
