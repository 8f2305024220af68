// What traced kernels call.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"

namespace cameo {

/// Called with elements, how many, bits of each, CameoSimValue, site: cameo-insert-traces puts it
/// in, cameo-lower-nvvm-to-engine makes a call of the engine of it.
inline constexpr llvm::StringLiteral kTraceFunction = "cameo.trace";

} // namespace cameo
