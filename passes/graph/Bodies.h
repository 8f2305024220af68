// Functions of a module that bodies of control flow are, and the calls of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cameo {

/// A branch, or the body of a loop.
struct BodyCall {
  mlir::func::FuncOp callee;
  unsigned own; // arguments of the function in front of those that it captures
  mlir::ValueRange captures;
};

/// The bodies that a node calls: none, one, or two branches.
llvm::SmallVector<BodyCall, 2> bodyCalls(mlir::Operation *op);
/// Functions of a model's graphs: each with the bodies that it calls behind it, in their order. What nobody calls is none
/// of them.
llvm::SmallVector<mlir::func::FuncOp> modelFunctions(mlir::ModuleOp module);
/// The node that calls each body.
llvm::DenseMap<mlir::Operation *, mlir::Operation *> callersOf(mlir::ModuleOp module);
/// The names of the nodes whose graph a function is, outer ones first.
std::vector<std::string>
nodesAround(mlir::func::FuncOp function,
            const llvm::DenseMap<mlir::Operation *, mlir::Operation *> &callers);

} // namespace cameo
