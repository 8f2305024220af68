// Names of ONNX nodes, which locations carry from the import to plans, traces and reports.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Rt.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/SetVector.h"

namespace cameo {

/// Adds the nodes that a location stands for, each once.
void collectNodeNames(mlir::Location location, llvm::SetVector<llvm::StringRef> &names);

/// The same, separated by commas.
std::string nodeNames(mlir::Location location);

/// The function that a launch names; null where there is none.
mlir::Operation *kernelOf(rt::LaunchOp launch);
/// All nodes that a kernel computes, separated by commas; those of a launch alone.
std::string kernelNodes(mlir::Operation *kernel);
std::string launchNodes(rt::LaunchOp launch);

} // namespace cameo
