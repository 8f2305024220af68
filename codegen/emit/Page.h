// Pages of HTML that need nothing else: templates that draw the data in them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace cameo {

/// The page with JSON in the place of {{data}}, written so that it cannot end the element that it
/// stands in, whatever nodes are called.
std::string fillPage(llvm::StringRef page, llvm::StringRef json);

} // namespace cameo
