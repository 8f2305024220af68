// The one report of all that cannot be compiled: what each line says.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Lowering.h"

namespace cameo {

/// What to use in place of an operator that is not supported ("LSTM"); empty where nothing comes
/// near.
llvm::StringRef nearestForm(llvm::StringRef op);

/// Why an operator that no table knows is refused, with the nearest supported form.
std::string describeUnsupported(mlir::Operation *op);

/// Why values of a type are refused, with the nearest supported form; nothing where they are not.
std::optional<std::string> typeProblem(mlir::Type type);

/// Why no GPU holds a tensor of that type, of whose sizes some may be known at run time only; empty
/// where one may.
std::string sizeProblem(mlir::Type tensor);

/// The name of a node, or that it has none.
std::string nodeNameOf(mlir::Operation *op);

/// "Conv, opset 17": the operator, and the opset that the model gives its domain.
std::string operatorText(mlir::Operation *op);

/// "input 'axes'" of an op, by the operator's schema.
std::string inputText(mlir::Operation *op, unsigned operand);

/// All that was refused in a function as one error; success where that is nothing.
llvm::LogicalResult reportRefusals(mlir::func::FuncOp function, const onnx::Refusals &refusals);

} // namespace cameo
