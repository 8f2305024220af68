// How much a description computes and moves, for reports.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Rt.h"

namespace cameo {

/// A size of a tensor in the dispatch as a value of the plan; null where the plan does not have it.
using PlanSize = llvm::function_ref<mlir::Value(mlir::Value tensor, int64_t dim)>;

/// A value of a dispatch's body that a launch computes, in so many parts of its size.
struct Described {
  mlir::Value value;
  int64_t parts = 1;
};

/// Annotates the cost of the launch that computes these values of the dispatch: arithmetic
/// operations on elements (a fused multiply-add is two, each described value is computed once), and
/// bytes read and written (each element once, and no more elements of an operand than are asked
/// for). Attributes `kernel.flops` and `kernel.bytes` where all sizes are known, else values of the
/// plan; nothing where the plan does not have a size.
void annotateCost(mlir::OpBuilder &host, rt::LaunchOp launch, kernel::DispatchOp op,
                  llvm::ArrayRef<Described> computed, PlanSize size);

} // namespace cameo
