// Which operands of a kernel its results may be written over.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace cameo {

/// Pairs of a written parameter and one that is only read, both memory of one element type, whose
/// memory may be the same: each element that a thread reads of the one it writes itself in the
/// other, afterwards, at the same offset. `written` are the parameters that the kernel writes,
/// every element of them once; `tensors` are those that begin where memory of their own does.
llvm::SmallVector<std::pair<unsigned, unsigned>> inPlacePairs(mlir::gpu::GPUFuncOp function,
                                                              llvm::ArrayRef<unsigned> written,
                                                              llvm::ArrayRef<unsigned> tensors);

} // namespace cameo
