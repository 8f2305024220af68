// The header of --header: a model's inputs, outputs and open sizes as functions of C++.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Support/LLVM.h"

#include <string>

namespace cameo {

/// The header, which uses cameo.hpp, of a library of that file name. Its namespace has that name without "lib" and ".so".
std::string modelHeader(llvm::StringRef manifest, llvm::StringRef library);

} // namespace cameo
