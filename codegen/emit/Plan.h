// From a planned entry function to the bytes that the runtime interprets (runtime/format.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace cameo {

/// The plan of `function`, which stands in a variant of the host stage beside its kernels (device
/// stage). Fails after a diagnostic for anything that the format cannot express. The same function
/// gives the same bytes.
mlir::FailureOr<std::vector<char>> emitPlan(mlir::func::FuncOp function);

} // namespace cameo
