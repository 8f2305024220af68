// Object files to one shared object, by lld in this process.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// Links ELF objects to a shared object for x86-64; undefined symbols are errors. Safe to call from
/// any thread: lld keeps global state, so calls wait for one another.
llvm::Expected<llvm::SmallVector<char>> linkSharedObject(llvm::ArrayRef<llvm::StringRef> objects);

} // namespace cameo
