// Calls of the engine before accesses of memory in checked kernels, for 32 lanes at once.
//
// GroupChecksPass turns calls of CameoSimApi::access into calls of warp_access, where the whole warp
// comes by and the addresses of all lanes can be told beforehand; the others stay:
//
//   %p = access(%thread, %a, ...)       ==>  addresses[lane] = %a;  parts[lane] = %c;
//   load %p                                  %faulty = warp_access(%thread, ..., allowed)
//   if %c:                                   load checked(%a, %faulty, allowed[lane])
//     %q = access(%thread, %a + 16, ...)     if %c:
//     load %q                                  load checked(%a + 16, %faulty, allowed[32 + lane])
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace cameo {

/// A call that stands for an address: its first operand, unless the second is true; then what the
/// third points to. Of lanes that have the same first operand, all have the same.
const llvm::CallInst *checkedAddress(const llvm::Value &value);

} // namespace cameo
