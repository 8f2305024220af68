// Pages of HTML that need nothing else.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Page.h"

std::string cameo::fillPage(llvm::StringRef page, llvm::StringRef json) {
  auto [before, after] = page.split("{{data}}");
  std::string filled = before.str();
  for (char c : json) // outside of strings JSON has none
    c == '<' ? filled += "\\u003c" : filled += c;
  return filled += after;
}
