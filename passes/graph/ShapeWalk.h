// Infers the sizes of a function's values, node by node, without building anything.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/ShapeRules.h"
#include "dialects/onnx/shape/SymbolicSizes.h"
#include "passes/Passes.h"

namespace cameo {

class ShapeWalk {
public:
  explicit ShapeWalk(mlir::func::FuncOp function);

  /// Infers in order what the function's outputs need; `after` is called for each of these nodes,
  /// and before it `replace`, which gives the node to go on with: the node itself or, where it has
  /// put others into its place, the first of them. Results of refused nodes have their declared
  /// shapes.
  void run(
      llvm::function_ref<void(mlir::Operation *)> after = [](mlir::Operation *) {},
      llvm::function_ref<mlir::Operation *(mlir::Operation *)> replace =
          [](mlir::Operation *op) { return op; });
  /// Whether a node is refused and its results have their declared shapes.
  bool usesDeclaredShapes(mlir::Operation *op) const;

  onnx::Refusals refusals;
  onnx::SymbolicSizes sizes;
  onnx::Shapes shapes;

private:
  void beginInputs();
  std::string unrankedShapes();
  llvm::LogicalResult checkOperator(mlir::Operation *op);
  void infer(mlir::Operation *op);
  void visit(mlir::Operation *op);
  void useDeclaredShape(mlir::OpResult result);

  mlir::func::FuncOp function;
};

/// The type of a value by its inferred sizes.
mlir::RankedTensorType inferredType(mlir::Value result, const onnx::Sizes &sizes);

/// The value of the result of an operator that was visited, if it is computed from sizes that are
/// known; null for others.
mlir::ElementsAttr knownIntegers(mlir::Operation *op, onnx::Shapes &shapes);

/// The operators on which what the block returns depends.
llvm::DenseSet<mlir::Operation *> neededOperators(mlir::Block &block);

} // namespace cameo
