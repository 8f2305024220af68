// SPDX-License-Identifier: Apache-2.0
// Target-independent passes, in the order of the stages they belong to.
#ifndef CAMEO_PASSES_TD
#define CAMEO_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif
