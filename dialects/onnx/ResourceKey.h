// Names of constants as keys of MLIR's resources.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace cameo::onnx {

/// Text prints keys without quotes, so that all but letters, digits and _.$ becomes an underscore.
std::string resourceKey(llvm::StringRef name);

} // namespace cameo::onnx
