// The passes' knowledge of ONNX operators, attached to the ops of the onnx dialect.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"

namespace cameo {

/// Lets contexts that load the onnx dialect attach all interfaces of its operators. Where a row is missing or there
/// are two, that ends the program and names the operator.
void registerOperatorInterfaces(mlir::DialectRegistry &registry);

/// A context with the onnx dialect and all interfaces of its operators, for documentation and tests.
void loadOperators(mlir::MLIRContext &context);

/// The ops of ONNX's operators, by name.
std::vector<mlir::OperationName> operatorsOf(mlir::MLIRContext &context);

/// A line for each operator of which a row is missing or contradicts another; empty where all is complete.
std::string incompleteOperators(mlir::MLIRContext &context);

} // namespace cameo
