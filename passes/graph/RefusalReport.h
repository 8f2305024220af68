// The one report of all that cannot be compiled: what each line says.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/NodeText.h"
#include "dialects/onnx/shape/Refusals.h"
#include "passes/Passes.h"

namespace cameo {

/// Why an operator that no table knows is refused, with the nearest supported form.
std::string describeUnsupported(mlir::Operation *op);

/// Why values of a type are refused, with the nearest supported form; nothing where they are not.
std::optional<std::string> typeProblem(mlir::Type type);

/// Why no GPU holds a tensor of that type, of whose sizes some may be known at run time only;
/// nothing where one may.
std::optional<std::string> sizeProblem(mlir::RankedTensorType tensor);
/// Why an input or output cannot have its elements share bytes; nothing where it can, or need not.
std::optional<std::string> packingProblem(mlir::RankedTensorType tensor);

/// All that was refused in a function as one error; success where that is nothing.
llvm::LogicalResult reportRefusals(mlir::func::FuncOp function, const onnx::Refusals &refusals);

/// Looks for all that cannot be compiled in a function, and reports it as one error.
llvm::LogicalResult reportUnsupported(mlir::func::FuncOp function);

} // namespace cameo
