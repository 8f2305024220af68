// Dispatches and tensors of the host plan.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/Passes.h"
#include "passes/linalg/PlanSizes.h"

namespace cameo {

using onnx::Sizes;

/// What an ONNX value has become.
struct Lowered {
  mlir::Value tensor; // signless builtin tensor; its static sizes are those of `sizes`
  Sizes sizes;
  mlir::Type elementType; // ONNX's: unsigned types are ui8 ... ui64
  int64_t rank() const { return sizes.size(); }
};

/// One output of a dispatch.
struct OutputSpec {
  Sizes sizes;
  mlir::Type elementType; // ONNX's or signless
};

/// tensor<sizes x signless element>.
mlir::RankedTensorType tensorType(const Sizes &sizes, mlir::Type elementType);
/// A tensor.empty of the plan or of a body.
mlir::Value emptyTensor(mlir::OpBuilder &b, mlir::Location loc, const Sizes &sizes,
                        mlir::Type elementType);

class DispatchBuilder {
public:
  /// Weights join `module`; all else is built where `b` stands.
  DispatchBuilder(mlir::ModuleOp module, mlir::OpBuilder &b, PlanSizes &plan)
      : module(module), b(b), plan(plan) {}

  /// Called with a builder inside the body and the destinations; gives one tensor per output. The
  /// body may use any value of the plan: tensors become inputs, other values scalars, constants are
  /// copied in.
  using BodyFunction = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange inits)>;
  llvm::SmallVector<mlir::Value> dispatch(mlir::Location loc, llvm::ArrayRef<OutputSpec> outputs,
                                          BodyFunction body);

  /// The tensor after a dispatch that writes a part of it. The body's destination has its elements.
  mlir::Value
  update(mlir::Location loc, const Lowered &tensor,
         llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value destination)>
             body);

  /// One output, computed element by element from the elements of `inputs` at the same place after
  /// broadcasting (`fn` gets their scalars, signless).
  using ScalarFunction =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange scalars)>;
  mlir::Value elementwise(mlir::Location loc, llvm::ArrayRef<Lowered> inputs, const Sizes &sizes,
                          mlir::Type elementType, ScalarFunction fn);

  /// One output, computed element by element from its indices (index values); `fn` reads tensors
  /// of the plan with tensor.extract at indices it keeps inside.
  using IndexFunction =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange indices)>;
  mlir::Value compute(mlir::Location loc, const Sizes &sizes, mlir::Type elementType,
                      IndexFunction fn);

  /// A view of the same elements under other sizes; no device work.
  Lowered reshape(mlir::Location loc, const Lowered &source, const Sizes &sizes);
  /// Tensors one after another along a dimension; `sizes` are the result's.
  Lowered concat(mlir::Location loc, llvm::ArrayRef<Lowered> parts, int64_t dim,
                 const Sizes &sizes);
  /// A device tensor of host values.
  mlir::Value fromHost(mlir::Location loc, llvm::ArrayRef<mlir::OpFoldResult> values,
                       const Sizes &sizes, mlir::Type elementType);
  /// A constant of the weight pool. Of equal elements, bodies that read it element by element have
  /// the element itself instead.
  mlir::Value constant(mlir::Location loc, mlir::ElementsAttr value);
  /// A tensor of equal elements, written by a kernel.
  mlir::Value fill(mlir::Location loc, const Sizes &sizes, mlir::Type elementType,
                   mlir::TypedAttr value);
  /// The tensor itself, or, for a constant of equal elements with more than `most` bytes, one that
  /// a kernel writes, so that the file need not have them.
  mlir::Value inMemory(mlir::Value tensor, int64_t most = onnx::kMaxDenseBytes);
  /// A tensor whose type says what is known of its sizes.
  mlir::Value withSizes(mlir::Value tensor, const Sizes &sizes);

private:
  mlir::TypedAttr splatOf(mlir::Value tensor) const;
  bool isLargeSplat(mlir::Value tensor, int64_t most) const;
  /// Lets bodies have the elements of splats as numbers, where that is how they read them.
  void scalarizeSplats(mlir::Region &body);

  mlir::ModuleOp module;
  mlir::OpBuilder &b;
  PlanSizes &plan;
  llvm::DenseMap<mlir::Attribute, std::string> constants;   // attribute -> symbol
  mlir::Operation *lastConstant = nullptr;                  // the last one in the pool
  llvm::DenseMap<mlir::StringAttr, mlir::TypedAttr> splats; // symbol -> element
  llvm::DenseMap<mlir::Value, mlir::Value> fills;           // large splats in memory
};

} // namespace cameo
