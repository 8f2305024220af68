// Names of ONNX nodes, which locations carry from the import to plans, traces and reports.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/SetVector.h"

namespace cameo {

/// Adds the nodes that a location stands for, each once.
void collectNodeNames(mlir::Location location, llvm::SetVector<llvm::StringRef> &names);

/// The same, separated by commas.
std::string nodeNames(mlir::Location location);

} // namespace cameo
