// How much a description computes, for reports.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include <optional>

namespace cameo {

/// Arithmetic operations on elements (a fused multiply-add is two) that the description of these
/// outputs (positions) states, each described value computed once. Nothing where a size is known
/// only at run time.
std::optional<int64_t> countFlops(kernel::DispatchOp op, llvm::ArrayRef<int64_t> outputs);

} // namespace cameo
