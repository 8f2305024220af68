// --state: inputs of a model that outputs become after each run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cameo {

/// Marks inputs of the entry function (stage imported) as states, with onnx::kStateAttr. Each of `pairs` is
/// "input:output"; with one `*` on each side it stands for all inputs that match, and outputs that have the same
/// text there; "auto" for inputs that an output extends or updates. Fails after a diagnostic.
mlir::LogicalResult declareStates(mlir::ModuleOp module, const std::vector<std::string> &pairs);

} // namespace cameo
