// Sums that cameo-fence-accumulators keeps where they are computed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo {

/// Whether some kernel of `module` has a loop for cameo-fence-accumulators.
bool hasAccumulatorsToFence(mlir::Operation *module);

} // namespace cameo
