// How our programs crash: they say that the bug is Cameo's, and name what reproduces it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace cameo {

/// Has a crash print whose bug it is, and the command line. For main, before all else.
void reportCrashes(llvm::ArrayRef<const char *> arguments);

/// From here on a crash also runs the command once more, with MLIR's option for reproducers, so that
/// the module and the passes in which it crashes are in a file, whose path is printed. For programs
/// that take --mlir-pass-pipeline-crash-reproducer; where that is given, MLIR names the file.
void reproduceCrashes();

} // namespace cameo
