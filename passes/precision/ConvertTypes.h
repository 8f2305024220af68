// Gives values the types that their nodes' precisions ask for, and casts what is between.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/PlaceCasts.h"

namespace cameo {

/// Returns how many casts there are more.
int64_t convertTypes(PrecisionPlan &plan, const NumberRanges &ranges);

} // namespace cameo
