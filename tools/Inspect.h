// cameoc --inspect: what a model is, and whether it can be compiled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Compile.h"

namespace cameo {

/// Prints the model in the file: inputs, outputs, open sizes, operators, weights, opsets, and the
/// arithmetic of its products. What cannot be compiled is an error, as when it is compiled, which
/// goes to `options.onMessage`. Fails where the file is no model, or one that cannot be compiled.
/// Members of the JSON are those of docs/command-line.md.
mlir::LogicalResult inspectModel(llvm::StringRef path, const CompileOptions &options, bool asJson,
                                 llvm::raw_ostream &output);

} // namespace cameo
