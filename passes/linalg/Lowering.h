// What lowering an ONNX operator to dispatches is written in.
//
// An operator's lowering is a function in one table (SupportedOperators.cpp). It asks a Lowering
// for its operands, computes result sizes as plan arithmetic and builds dispatches. Scalar
// conventions: tensors are signless, sizes and host integers are `index`, host floats `f64`; a size
// or host value is an OpFoldResult (dialects/onnx/shape/SizeBuilder.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/DispatchBuilder.h"
#include "passes/linalg/HostValues.h"
#include "passes/linalg/Scalars.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace cameo {

class Lowering;
/// Lowers one operator, defining each of its results, or reports with Lowering::unsupported.
using LowerFunction = llvm::LogicalResult (*)(mlir::Operation *op, Lowering &lowering);
/// Values of an operator's result computed on the host from its operands' host values.
using HostFunction = mlir::FailureOr<Sizes> (*)(mlir::Operation *op, unsigned result,
                                                Lowering &lowering);

struct OperatorEntry {
  LowerFunction lower;
  HostFunction host = nullptr; // where shapes may depend on it
  llvm::StringRef limits = {}; // for the documentation: what is not supported of it
};
using OperatorTable = llvm::StringMap<OperatorEntry>; // by ONNX name, e.g. "Conv"

/// The table of supported operators.
const OperatorTable &supportedOperators();

class Lowering {
public:
  explicit Lowering(mlir::ModuleOp module);

private:
  mlir::ModuleOp module;
  mlir::OpBuilder b;
  onnx::Refusals refusals;

public:
  /// Sizes and host values, and checks of them at run time.
  PlanSizes plan;
  /// Dispatches and tensors.
  DispatchBuilder build;
  /// Values of tensors on the host.
  HostValues host;

  //===-- Operands and results ----------------------------------------------------------------===//
  /// Whether an optional operand is absent (also beyond the operand list).
  bool absent(mlir::Operation *op, unsigned index);
  /// An operand that was lowered.
  Lowered operand(mlir::Operation *op, unsigned index);
  Lowered lowered(mlir::Value onnxValue);
  void define(mlir::Operation *op, unsigned result, Lowered lowered);
  /// Defines result `result` as the tensor a dispatch gave, with the ONNX element type.
  void define(mlir::Operation *op, unsigned result, mlir::Value tensor, const Sizes &sizes,
              mlir::Type elementType);
  /// Element type of a result or operand as ONNX has it.
  static mlir::Type elementType(mlir::Value onnxValue);
  static bool isUnsigned(mlir::Type type) { return type.isUnsignedInteger(); }

  /// Records that a node cannot be compiled and why ("nearest supported form" included); gives
  /// failure. All records come in one error.
  llvm::LogicalResult unsupported(mlir::Operation *op, const llvm::Twine &reason) {
    return refusals.add(op, reason);
  }

  //===-- The pass's own part -----------------------------------------------------------------===//
  llvm::LogicalResult lowerFunction(mlir::func::FuncOp function);
  /// Lowers into the module given to the constructor, which nobody will use, and reports all that
  /// cannot be compiled.
  llvm::LogicalResult checkFunction(mlir::func::FuncOp function);
  /// A function of the inputs alone, built by `outer`; nodes are lowered into it.
  mlir::func::FuncOp lowerInputs(mlir::func::FuncOp function, mlir::OpBuilder &outer);
  /// Lowers nodes in order; declared shapes stand in for results of those that are refused. `after`
  /// is called for each, lowered or not.
  void lowerNodes(mlir::Block &source, llvm::function_ref<void(mlir::Operation *)> after);
  /// What a value has become, or nothing where it was not lowered.
  std::optional<Lowered> tryLowered(mlir::Value onnxValue);
  mlir::OpBuilder &builder() { return b; }
  /// Leaves a node out, as one behind a node that is refused.
  void hide(mlir::Operation *op) { refusals.hide(op); }
  /// Whether a node is recorded, or hidden behind one that is.
  bool isRefused(mlir::Operation *op) const { return refusals.contains(op); }

private:
  void checkOutputs(mlir::func::FuncOp function);
  llvm::LogicalResult checkOperator(mlir::Operation *op);
  void lowerNode(mlir::Operation &op);
  void standIn(mlir::OpResult result);
  llvm::DenseMap<mlir::Value, Lowered> values;
};

} // namespace cameo
