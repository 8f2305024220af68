// The report as a page: the template Report.html with the data in it. The page draws itself, so
// that what it shows is what the JSON has.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Page.h"
#include "codegen/emit/Report.h"

using namespace cameo;

/// Report.html, by CMake.
static constexpr llvm::StringLiteral kPage(
#include "codegen/emit/ReportPage.inc"
);

std::string cameo::makeReportPage(const ReportContents &contents) {
  std::string data;
  llvm::raw_string_ostream stream(data);
  llvm::json::OStream out(stream);
  writeReport(out, contents, Repeats::No);
  return fillPage(kPage, data);
}
