// How our programs crash: they say that the bug is Cameo's, and what to report.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace cameo {

/// Has a crash print whose bug it is, and the command line. For main, before all else.
void reportCrashes(llvm::ArrayRef<const char *> arguments);

} // namespace cameo
