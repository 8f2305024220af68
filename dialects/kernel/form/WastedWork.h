// Descriptions that a thread for each element of the results should not compute alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Computation.h"

namespace cameo {

/// Whether threads that pull elements of the results would compute a reduction of more than 64
/// steps more often than it has elements, or a product for tiles of such a depth, which is not all
/// of the dispatch.
bool wastesWork(const Computation &computation);

} // namespace cameo
