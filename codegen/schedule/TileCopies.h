// How the tiles of a product's operands are copied, for each order in which these may be stored.
//
// A class of schedules that computes products says with it what an order costs it: copies of single
// elements may be what it waits for, or operands whose depth is not innermost be of no use to it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/AccessPattern.h"
#include "dialects/kernel/form/Product.h"

namespace cameo {

/// What is read for an operand of a product, and how: several for one that is computed.
struct TileCopy {
  unsigned input; // of the dispatch
  bool isRow;     // whether the row's operand reads it
  /// Elements between neighbours, along the loop where they are nearest; 0: all read one element.
  double distance = 0;
  /// Elements that may be copied at once, going across (along rows or columns) and along depth.
  int64_t across = 1, depth = 1;
  double elements = 0; // that are copied in all, those that tiles share each time

  int64_t vector() const { return std::max(across, depth); }
  /// Whether they are copied along depth, while tiles in shared memory go across.
  bool isTurned() const { return depth > 1 && across == 1; }
};

/// Of both operands, where inputs are stored in these orders. Constants are left out: they are
/// packed as they are wanted. Tiles are of so many rows and columns, and copied `most` bytes at
/// once.
llvm::SmallVector<TileCopy> tileCopies(kernel::DispatchOp op, const Product &product,
                                       OperandOrders orders, int64_t rows, int64_t columns,
                                       int64_t most);

/// Whether the first result, stored so, would have what are rows now innermost, which are columns
/// then.
bool goesAlongRows(const Product &product, const AccessPattern &pattern, OperandOrders orders);

/// The inputs that a product's operands read.
llvm::BitVector inputsOfOperands(kernel::DispatchOp op, const Product &product);

} // namespace cameo
