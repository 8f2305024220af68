// The report as a page: the template Report.html with the data in it. The page draws itself, so
// that what it shows is what the JSON has.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Report.h"

using namespace cameo;
using llvm::StringRef;

/// Report.html, by CMake.
static constexpr llvm::StringLiteral kPage(
#include "codegen/emit/ReportPage.inc"
);

/// As JSON that cannot end the element that it stands in, whatever nodes are called.
static std::string dataFor(const ReportContents &contents) {
  std::string data, escaped;
  {
    llvm::raw_string_ostream stream(data);
    llvm::json::OStream out(stream);
    writeReport(out, contents, Repeats::No);
  }
  for (char c : data) // outside of strings JSON has none
    c == '<' ? escaped += "\\u003c" : escaped += c;
  return escaped;
}

std::string cameo::makeReportPage(const ReportContents &contents) {
  auto [before, after] = StringRef(kPage).split("{{data}}");
  return (before + dataFor(contents) + after).str();
}
