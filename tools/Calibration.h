// --calibration-data and --calibration-cache of cameoc and cameo-compare: what they say of values, as
// a file of ranges. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/Calibrate.h"
#include "tools/Messages.h"
#include "tools/OutputFiles.h"

namespace cameo {

/// A model to calibrate, the data and the options.
struct CalibrationRequest {
  std::string model;
  /// Options by which the model is compiled otherwise; its precision does not count.
  CompileOptions compile;
  CalibrationOptions calibration; // with data, a cache or both
  /// Products become products of integers, or the ranges are written for those that do: what no option names
  /// is tried, and, unless isQuiet, a line says what was chosen.
  bool isForInt8 = false, isQuiet = false;
  /// Other files that are read, and that are written: the cache is none of them.
  std::vector<std::string> inputs;
  std::vector<OutputName> outputs;
};

/// True of a file whose end may never come.
bool isDevice(llvm::StringRef path);
/// Says of --calibration-cache what keeps it from being read, or written where there is none.
llvm::Error checkCalibrationCache(const CalibrationOptions &options);

class CalibratedRanges {
public:
  explicit CalibratedRanges(const Messages &messages) : messages(messages) {}

  /// Calibrates, or reads the cache, and writes the cache where there is none. What goes wrong has
  /// been said.
  mlir::LogicalResult make(const CalibrationRequest &request);
  /// Reads the file of --ranges, where there is no calibration.
  mlir::LogicalResult read(llvm::StringRef path);
  /// Writes them as JSON.
  mlir::LogicalResult write(llvm::StringRef path) const;
  /// Null where there are none.
  std::shared_ptr<const RecordedRanges> recorded() const { return found; }
  /// The content as reports show it (calibrationShown).
  std::optional<llvm::json::Object> shown() const { return calibrationShown(text); }

private:
  mlir::LogicalResult makeFromData(const CalibrationRequest &request);
  mlir::LogicalResult makeFromCache(const CalibrationRequest &request);
  mlir::LogicalResult makeFromTensorRt(const CalibrationRequest &request, llvm::StringRef content);
  mlir::LogicalResult take(std::string content, llvm::StringRef path);

  Messages messages;
  std::string text; // of the file
  std::shared_ptr<const RecordedRanges> found;
};

} // namespace cameo
