// What the tools that read any MLIR know: every dialect and pass of ours and of MLIR's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace cameo {

void registerEverything(mlir::DialectRegistry &registry);

} // namespace cameo
