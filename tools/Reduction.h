// The pass of cameo-reduce: IR becomes smaller while a script says that it is still of interest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cameo {

/// Registers --reduction-tree, in place of MLIR's pass of this name.
void registerReduction();

} // namespace cameo
