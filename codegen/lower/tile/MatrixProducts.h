// Contractions by mma.sync.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/IR/Builders.h"

namespace cameo {

/// The sums of `op`, whose accumulators have a `#kernel.mma` layout, from a thread's registers of
/// operands and sums in the order of their layouts. Fails, with an error, where no instruction
/// multiplies such operands.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> multiplyMatrices(kernel::ContractOp op,
                                                                 llvm::ArrayRef<mlir::Value> lhs,
                                                                 llvm::ArrayRef<mlir::Value> rhs,
                                                                 llvm::ArrayRef<mlir::Value> sums);

} // namespace cameo
