// The header of --header: a model's inputs, outputs and open sizes as functions of C++.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Support/LLVM.h"

#include <string>

namespace cameo {

/// For a library of that file name, whose namespace is called as it is without "lib" and ".so". Uses cameo.hpp.
std::string modelHeader(llvm::StringRef manifest, llvm::StringRef library);

} // namespace cameo
