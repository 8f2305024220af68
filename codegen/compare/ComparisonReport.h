// A comparison as text, as JSON and as a page.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/compare/Comparison.h"

#include "llvm/Support/JSON.h"

namespace cameo {

struct ComparisonView {
  size_t worst = 10;               // values that the text lists, a side
  std::optional<double> tolerance; // dB: the first value below it is named
  /// Samples of a run that estimated times are of; nothing where artefacts have their own.
  std::optional<uint64_t> batch;
  /// By calibrationShown (codegen/calibrate/CalibrationCache.h).
  std::optional<llvm::json::Object> calibration = std::nullopt;
};

/// One line per side, and the worst values of each.
void printComparison(llvm::raw_ostream &out, const Comparison &comparison,
                     const ComparisonView &view);
/// Everything, as docs/compare.md has it.
llvm::json::Object comparisonJson(const Comparison &comparison, const ComparisonView &view);
/// The same as one page of HTML that needs nothing else.
std::string comparisonPage(const Comparison &comparison, const ComparisonView &view);

} // namespace cameo
