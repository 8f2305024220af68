// The types of an operator's outputs as far as its inputs and attributes fix them: the class of
// value and the element type, never the shape.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Schema.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Region.h"

namespace cameo::onnx {

/// One type per output; `!onnx.any` where nothing fixes it. Tensors are unranked, except that the
/// branches of an If may agree on a shape.
llvm::SmallVector<mlir::Type> inferElementTypes(const OpSchema &schema, mlir::ValueRange operands,
                                                mlir::DictionaryAttr attributes,
                                                llvm::ArrayRef<mlir::Region *> regions,
                                                unsigned outputs);

/// The type without its shapes: tensor<2xf32> becomes tensor<*xf32>, also within sequences.
mlir::Type unrankedType(mlir::Type type);

} // namespace cameo::onnx
