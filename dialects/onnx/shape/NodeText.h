// How messages name nodes, their operators, inputs and types.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo::onnx {

/// The name of an op's node, where it has one.
std::optional<llvm::StringRef> nodeName(mlir::Operation *op);
/// The same for messages: "(unnamed)" where it has none.
llvm::StringRef nodeText(mlir::Operation *op);

/// "Conv": the operator as ONNX calls it. What the run repeats is a Loop, also where it was a Scan.
llvm::StringRef operatorName(mlir::Operation *op);
/// "Conv, opset 17": the operator, and the opset that the model gives its domain.
std::string operatorText(mlir::Operation *op);

/// "input 'axes'" of an op, by the operator's schema.
std::string inputText(mlir::Operation *op, unsigned operand);

/// A number with the digits that tell it from others nearby: 0.5, 1e+20, nan.
std::string numberText(double number);

/// Ends the process at a node of which something is true that never is, unless the compiler has a bug: with
/// what it is, in every build.
[[noreturn]] void reportBug(mlir::Operation *op, const llvm::Twine &what);

} // namespace cameo::onnx
