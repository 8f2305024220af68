// What the passes on ONNX graphs share: questions about values, and how one value replaces another.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Onnx.h"
#include "passes/Passes.h"

namespace cameo {

/// On an operator of constants that is not folded because the model has no bytes left for it.
inline constexpr llvm::StringLiteral kKeptUnfoldedAttr =
    onnx::OnnxDialect::KeptUnfoldedAttrHelper::getNameStr();

/// On an operator whose results' shapes are those that the model declares, because inference does
/// not know them. Nothing may rely on such a shape: nobody checks it when the model runs.
inline constexpr llvm::StringLiteral kDeclaredShapeAttr =
    onnx::OnnxDialect::ShapeDeclaredAttrHelper::getNameStr();

/// On an operator that is written as others where it can be: why it is not.
inline constexpr llvm::StringLiteral kUnexpandedAttr =
    onnx::OnnxDialect::UnexpandedAttrHelper::getNameStr();

/// On a Loop that collects parts in chunks, and on the one that makes those of a chunk: why a run makes its trips.
inline constexpr llvm::StringLiteral kInChunksAttr =
    onnx::OnnxDialect::InChunksAttrHelper::getNameStr();

/// Whether the value's type, if it is ranked, is one to rely on: an input's or an inferred one.
bool hasReliableShape(mlir::Value value);

/// The sizes of a ranked value: integers, or names as strings; an empty string is a size of which
/// nothing is known. Null for values without a rank. Names come from the function's arguments and
/// from what cameo-infer-shapes wrote on the op.
mlir::ArrayAttr knownDims(mlir::Value value);

/// Whether both have one shape whenever the model runs.
bool haveSameShape(mlir::Value a, mlir::Value b);

/// Lets `value` stand for the op's result `result`; keeps the more precise of the two types.
void replaceResult(mlir::Operation *op, unsigned result, mlir::Value value);

/// Makes the function's type that of what it returns.
void updateFunctionType(mlir::func::FuncOp function);

/// Whether every value of `narrow` is a value of `wide`, both of them types of elements.
bool holdsValuesOf(mlir::Type wide, mlir::Type narrow);

/// The name of the op's node, for new constants' resources.
llvm::StringRef nodeName(mlir::Operation *op);

/// A new onnx.Constant before `op`.
mlir::Value createConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::ElementsAttr value);

/// Erases an operator whose results have no use, and the constants that only it used.
void eraseWithConstants(mlir::Operation *op);

/// Attaches what SimplifyOperators knows of operators.
void attachSimplifications(mlir::MLIRContext &context);

/// The value that result 0 of an op is equal to, bit for bit; null where there is none.
mlir::Value identityOf(mlir::Operation *op);

/// Whether the op is a batch normalization that cameo-fold-batch-norm-into-conv removes.
bool foldsIntoConvolution(mlir::Operation *op);

/// Whether the op reads a Pad that cameo-fold-pad-into-window folds into it.
bool foldsIntoWindow(mlir::Operation *op);

/// An operator of the function's body that yields a tensor without a rank although its lowering
/// knows the shape; null where there is none.
mlir::Operation *findUninferred(mlir::func::FuncOp function);

} // namespace cameo
