// cameoc's --calibration-data and --calibration-cache: what they say of values, as a file of
// ranges. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/CameocOptions.h"

namespace cameo {

class CalibratedRanges {
public:
  CalibratedRanges() = default;
  CalibratedRanges(const CalibratedRanges &) = delete;
  CalibratedRanges &operator=(const CalibratedRanges &) = delete;
  ~CalibratedRanges();

  /// Calibrates, or reads the cache, and writes the cache where there is none. What goes wrong has
  /// been said.
  mlir::LogicalResult make(const CameocOptions &options);
  /// Writes them as JSON.
  mlir::LogicalResult write(llvm::StringRef path) const;
  /// A file that has it: the cache, or one that lives as long as this.
  llvm::Expected<std::string> file();

private:
  mlir::LogicalResult makeFromData(const CameocOptions &options);
  mlir::LogicalResult makeFromCache(const CameocOptions &options);
  mlir::LogicalResult makeFromTensorRt(const CameocOptions &options, llvm::StringRef content);

  std::string ranges;    // the file's text
  std::string cache;     // where `ranges` is already
  std::string temporary; // a file of our own
};

} // namespace cameo
