// Splitting a dispatch that no schedule class takes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Computation.h"
#include "dialects/rt/Ledger.h"

#include <optional>

namespace cameo {

/// Has two dispatches take its place, of which the second reads what the first computes: what is
/// reduced first, perhaps with work on it, or what that reads. The ledger is told so by `text`, with a
/// reason if there is more to say. Nothing where there is no such part, or the plan does not know its sizes.
std::optional<std::pair<kernel::DispatchOp, kernel::DispatchOp>>
splitDispatch(const Computation &computation, rt::Ledger &ledger, llvm::StringRef text,
              llvm::StringRef why = "");

} // namespace cameo
