// What a dispatch's schedule has to be before kernels are written by it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"
#include "dialects/kernel/Kernel.h"

namespace cameo {

/// Whether a class has the schedule's name, can compute the dispatch on the target, and accepts the
/// parameters; and whether constants are packed, and a product that a class of products takes has
/// such a one. Emits an error where not.
mlir::LogicalResult verifySchedule(kernel::DispatchOp op, const Target &target);

} // namespace cameo
