// What each stage promises to the passes that follow it: one function per stage, for the table of
// stages (Pipeline.cpp).
//
// A promise of correctness is one that passes or code behind the stage rely on; where it is broken,
// there is an error that names the stage and the operation. A promise of quality says that nothing is
// left undone that the passes before are there to do. What breaks it is computed right all the same:
// it is an error with `strict`, and else in the module's ledger.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace cameo {

mlir::LogicalResult verifyImported(mlir::ModuleOp module, bool strict);
mlir::LogicalResult verifyNormalized(mlir::ModuleOp module, bool strict);
mlir::LogicalResult verifyPrecision(mlir::ModuleOp module, bool strict);
mlir::LogicalResult verifyDispatched(mlir::ModuleOp module, bool strict);
mlir::LogicalResult verifyScheduled(mlir::ModuleOp module, bool strict);
mlir::LogicalResult verifyTiled(mlir::ModuleOp module, bool strict);
mlir::LogicalResult verifyDevice(mlir::ModuleOp module, bool strict);
mlir::LogicalResult verifyHost(mlir::ModuleOp module, bool strict);

} // namespace cameo
