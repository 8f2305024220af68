// What a dispatch's schedule has to be before kernels are written by it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"
#include "dialects/kernel/Kernel.h"

#include <string>

namespace cameo {

/// Whether a class has the schedule's name, can compute the dispatch on the target, and accepts the
/// parameters; and whether constants are packed. Emits an error where not.
mlir::LogicalResult verifySchedule(kernel::DispatchOp op, const Target &target);
/// Of a dispatch with such a schedule, which class of products takes it where its own is of none; or
/// nothing.
std::string betterSchedule(kernel::DispatchOp op, const Target &target);

} // namespace cameo
