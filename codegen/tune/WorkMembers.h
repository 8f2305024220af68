// A kernel's work, member by member: as JSON for those who measure, as numbers for attributes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/TimeModel.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace cameo {

/// All members by their names: {"blocks": 96, "step": {"matrix": 384, ...}, "beside": [{...}], ...}.
llvm::json::Object workJson(const KernelWork &work);

/// All members as numbers in a fixed order, those of the launches beside it behind its own.
llvm::SmallVector<double> workNumbers(const KernelWork &work);
/// Nothing where there are more or fewer than a work has.
std::optional<KernelWork> workOfNumbers(llvm::ArrayRef<double> numbers);

} // namespace cameo
