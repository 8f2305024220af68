// What lowering an ONNX operator to dispatches is written in.
//
// An operator's lowering is a function in a row of its family's file, attached to the op. It asks the
// operator's shape rule for sizes, here plan arithmetic, and a Lowering for operands, and builds
// dispatches. Scalar conventions: tensors are signless, sizes and host integers are `index`, host
// floats `f64`; a size or host value is an OpFoldResult (dialects/onnx/shape/SizeBuilder.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/ShapeRules.h"
#include "passes/linalg/DispatchBuilder.h"
#include "passes/linalg/Scalars.h"

namespace cameo {
class Lowering;
} // namespace cameo

#include "passes/linalg/Interfaces.h.inc"

namespace cameo {

/// Lowers one operator, defining each of its results; fails where its shape rule refuses it.
using LowerFunction = llvm::LogicalResult (*)(mlir::Operation *op, Lowering &lowering);

struct LoweringRow {
  LowerFunction lower = nullptr;
  llvm::StringRef limits = {}; // for the documentation: what is not supported of it
};
struct LoweringModel : LoweringInterface::FallbackModel<LoweringModel> {
  LoweringRow row;
  llvm::LogicalResult lower(mlir::Operation *op, Lowering &lowering) const {
    return row.lower(op, lowering);
  }
};
using LoweringRows = onnx::OperatorRows<LoweringModel>;

/// Attaches all lowerings.
void attachLowerings(mlir::MLIRContext &context);

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
  /// Sizes of values, and what small ones hold on the host.
  onnx::Shapes shapes;
  /// `onnx.products` of the operator that is lowered, or nothing.
  llvm::StringRef products;

  /// The sizes of an op's first result by its shape rule.
  mlir::FailureOr<Sizes> infer(mlir::Operation *op);
  /// Whether an optional operand is absent (also beyond the operand list).
  bool absent(mlir::Operation *op, unsigned index) { return onnx::isAbsent(op, index); }
  /// An operand that was lowered.
  Lowered operand(mlir::Operation *op, unsigned index) { return lowered(op->getOpOperand(index)); }
  /// All operands up to the last that is there.
  llvm::SmallVector<Lowered> operands(mlir::Operation *op);
  void define(mlir::Operation *op, unsigned result, Lowered lowered);
  /// Defines result `result` as the tensor a dispatch gave, with the ONNX element type.
  void define(mlir::Operation *op, unsigned result, mlir::Value tensor, const Sizes &sizes,
              mlir::Type elementType);
  /// Element type of a result or operand as ONNX has it.
  static mlir::Type elementType(mlir::Value onnxValue) { return onnx::elementType(onnxValue); }
  static bool isUnsigned(mlir::Type type) { return type.isUnsignedInteger(); }
  mlir::OpBuilder &builder() { return b; }

  /// The pass's own part: a function of builtin tensors in place of one of ONNX operators. All that
  /// cannot be compiled is reported before anything is built.
  llvm::LogicalResult lowerFunction(mlir::func::FuncOp function);
  /// True of a function of the model, and of one that is called.
  bool isNeeded(mlir::func::FuncOp function) const {
    return !function.isPrivate() || called.contains(function.getName());
  }

private:
  Lowered lowered(mlir::OpOperand &operand);
  mlir::func::FuncOp lowerInputs(mlir::func::FuncOp function, mlir::OpBuilder &outer);
  Sizes inputSizes(mlir::func::FuncOp function, unsigned number, mlir::Value input,
                   llvm::StringMap<mlir::OpFoldResult> &symbols);
  llvm::LogicalResult lowerNodes(mlir::func::FuncOp function);
  llvm::LogicalResult readProducts(mlir::Operation &op);
  llvm::LogicalResult lowerResults(mlir::func::FuncOp function, mlir::func::FuncOp target);
  llvm::LogicalResult lowerReturn(mlir::Operation *end,
                                  llvm::SmallVectorImpl<mlir::Value> &results);

  llvm::DenseMap<mlir::Value, Lowered> values;
  /// The way in which a function is called: not at all, as a branch, or as the body of a loop that carries so many values.
  struct Called {
    enum Kind { Never, AsBranch, AsBody } kind = Never;
    unsigned carried = 0;
  };
  llvm::StringMap<Called> called; // functions by name
};

} // namespace cameo
