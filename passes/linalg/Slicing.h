// Slice, Split and Pad: the part of the layout operators that takes bounds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Indexing.h"

namespace cameo {

void registerSlicing(LoweringRows &rows);

} // namespace cameo
