// What each stage promises to the passes that follow it: one function per stage, for the table of
// stages (Pipeline.cpp). Each emits an error that names the stage and the operation.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace cameo {

mlir::LogicalResult verifyImported(mlir::ModuleOp module);
mlir::LogicalResult verifyNormalized(mlir::ModuleOp module);
mlir::LogicalResult verifyPrecision(mlir::ModuleOp module);
mlir::LogicalResult verifyDispatched(mlir::ModuleOp module);
mlir::LogicalResult verifyScheduled(mlir::ModuleOp module);
mlir::LogicalResult verifyTiled(mlir::ModuleOp module);
mlir::LogicalResult verifyDevice(mlir::ModuleOp module);
mlir::LogicalResult verifyHost(mlir::ModuleOp module);

} // namespace cameo
