// Where ONNX's reference implementation and ONNX Runtime are known to give different results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace cameo::onnx {

/// A remark at each node of an imported model to which a difference can apply,
/// saying which of the two is followed.
void remarkDifferences(mlir::ModuleOp module);

/// All of them, as a table of Markdown.
void printDifferences(llvm::raw_ostream &output);

} // namespace cameo::onnx
