// Elements of memory that tile operations load, and what is computed from them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"
#include "dialects/kernel/form/Elementwise.h"

namespace cameo {

/// How many of `vector` neighbours along `loops` are loaded at once, as tile operations have it: 0
/// where all of them read the same element. `ranges` are those of all loops.
int64_t loadWidth(kernel::DispatchOp op, const Access &read, llvm::ArrayRef<unsigned> loops,
                  llvm::ArrayRef<int64_t> ranges, int64_t vector);

/// The element that `work` computes, of the elements `read` of memory and those that `given` has of
/// the tensors that are given.
mlir::Value computeElement(KernelWriter &kernel, const Elementwise &work, mlir::ValueRange read,
                           llvm::function_ref<mlir::Value(mlir::Value tensor)> given);
/// The same where one tensor is given, or none.
mlir::Value computeElement(KernelWriter &kernel, const Elementwise &work, mlir::ValueRange read,
                           mlir::Value given = {});

} // namespace cameo
