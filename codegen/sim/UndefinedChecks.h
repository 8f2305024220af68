// Checks that a kernel of the device stage uses no undefined value where it matters, in front of
// the operations that do:
//
//   llvm.store %v, %p : !llvm.ptr<1>    ==>    if any bit of %v is undefined, tell it
//
// What may be undefined (UndefinedValues.h) is followed bit by bit, by values that are computed
// beside it: ones for undefined bits. What cannot be undefined has none and costs nothing; of the
// rest LLVM removes what it can prove.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace cameo {

/// A use of a value that is undefined.
struct UndefinedUse {
  mlir::Operation *user;
  unsigned operand;
  mlir::Operation *origin; // UndefinedValues::originOf()
  unsigned lanes;          // of the warp that use it, the first ones
};

/// Splits blocks in front of such uses; `tell` is called with `builder` where it is known to be
/// one. In the kernel undefined values become zero then, so that nothing is built on them.
void insertUndefinedChecks(mlir::LLVM::LLVMFuncOp kernel, mlir::OpBuilder &builder,
                           llvm::function_ref<void(const UndefinedUse &)> tell);

} // namespace cameo
