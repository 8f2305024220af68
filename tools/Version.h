// What `cameoc --version` prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Support/LLVM.h"

namespace cameo {

/// Versions of everything that decides what is compiled. `ptxas` is the assembler's path, or empty
/// where none was found.
void printVersions(mlir::raw_ostream &output, llvm::StringRef ptxas);

} // namespace cameo
