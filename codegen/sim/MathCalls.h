// Functions of the C library that kernels call.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// Replaces calls of libdevice functions by calls through the thread's function table. The thread
/// is the first parameter of each function. An error names the first function that is not there.
llvm::Error bindMathCalls(llvm::Module &module);

} // namespace cameo
