// The onnx dialect: types, ops, and the questions passes ask about their values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/DeclaredAttributes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/onnx/Constants.h"
#include "dialects/onnx/WeightFiles.h"

#include "dialects/onnx/OnnxDialect.h.inc"
#include "dialects/onnx/Schema.h"

#define GET_TYPEDEF_CLASSES
#include "dialects/onnx/OnnxTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/onnx/OnnxAttrs.h.inc"

namespace cameo::onnx {

/// The dialect's opset, the newest that the pinned ONNX Runtime loads, and the least one imported.
inline constexpr int64_t kOpset = 26;
inline constexpr int64_t kMinOpset = 1;
/// The version of ONNX's file format that goes with kOpset.
inline constexpr int64_t kIrVersion = 13;

/// Attributes on the module, on `func.func` arguments and on results.
inline constexpr llvm::StringLiteral kOpsetAttr = OnnxDialect::OpsetAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral kModelAttr = OnnxDialect::ModelAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral kNameAttr = OnnxDialect::NameAttrHelper::getNameStr();
/// On the module: the numbers of inputs that --shape-values has made constants, as text.
inline constexpr llvm::StringLiteral kFixedAttr = OnnxDialect::FixedAttrHelper::getNameStr();
/// On a function where values are tapped: what the model calls them, by that the names that they have here.
inline constexpr llvm::StringLiteral kTensorsAttr = OnnxDialect::TensorsAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral kDimsAttr = OnnxDialect::DimsAttrHelper::getNameStr();
/// On an argument of the entry function: the number of the result that becomes it after each run.
inline constexpr llvm::StringLiteral kStateAttr = OnnxDialect::StateAttrHelper::getNameStr();
/// On arguments and results of a lowered function: what the model says of shape and element type.
inline constexpr llvm::StringLiteral kShapeAttr = OnnxDialect::ShapeAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral kTypeAttr = OnnxDialect::TypeAttrHelper::getNameStr();
/// What an older version asks of sizes, which only a lowering knows, on the op it has become: a
/// Split's parts are equal; a Flatten's axis is an axis of what it flattens.
inline constexpr llvm::StringLiteral kEvenSplitAttr =
    OnnxDialect::EvenSplitAttrHelper::getNameStr();
inline constexpr llvm::StringLiteral kRowsAttr = OnnxDialect::RowsAttrHelper::getNameStr();

/// The words that random numbers are drawn by: two blocks of four, of which the second one is for nodes with a seed.
inline constexpr int64_t kRandomWords = 8;

namespace detail {
/// What is wrong with an op's arity or types, or an empty string.
std::string schemaProblem(mlir::Operation *op);
mlir::LogicalResult verifySchema(mlir::Operation *op);
} // namespace detail

/// Arity and types as the operator's schema says.
template <typename ConcreteOp>
class SchemaVerified : public mlir::OpTrait::TraitBase<ConcreteOp, SchemaVerified> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return detail::verifySchema(op); }
};

} // namespace cameo::onnx

#define GET_OP_CLASSES
#include "dialects/onnx/Onnx.h.inc"
