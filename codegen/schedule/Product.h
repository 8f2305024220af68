// Dispatches seen as products: matrix products, convolutions, perhaps with elementwise work on
// them.
//
// Loops of the description fall into batch (in both operands and the result), rows and columns (in
// one operand and the result; columns hold the result's innermost loop) and depth (reduced).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace cameo {

/// One operand of the product: memory, perhaps padded, and how loops index it.
struct Operand {
  mlir::Value tensor;      // as the generic reads it
  mlir::tensor::PadOp pad; // null where it is memory itself
  mlir::Value source;      // the block argument
  mlir::AffineMap map;     // loops of extent 1 replaced by 0
};

/// See the file comment.
struct Product {
  mlir::linalg::GenericOp generic;
  mlir::Value root; // the dispatch's result: the product, or elementwise work on it
  Operand row, column;
  mlir::AffineMap outMap;
  llvm::SmallVector<unsigned> batch, rows, columns, depth; // loops, outermost first
  mlir::Type sumType;
  llvm::SmallVector<int64_t> ranges; // kDynamic where unknown

  int64_t extent(llvm::ArrayRef<unsigned> loops) const {
    int64_t product = 1;
    for (unsigned loop : loops) {
      if (mlir::ShapedType::isDynamic(ranges[loop]))
        return mlir::ShapedType::kDynamic;
      product *= ranges[loop];
    }
    return product;
  }
};

/// Nothing where the dispatch is not of this form.
std::optional<Product> matchProduct(kernel::DispatchOp op);

} // namespace cameo
