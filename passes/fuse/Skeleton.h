// What dispatches have in common that differ in numbers alone: where slices begin, and constants of
// indexing maps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/IR/AffineMap.h"

namespace cameo {

/// A description without those numbers, in a form that is compared and hashed at once.
struct Skeleton {
  /// Names, types, attributes and operands of everything in the body, in order.
  llvm::SmallVector<uintptr_t> tokens;
  /// The numbers, in order.
  llvm::SmallVector<int64_t> numbers;
};

/// Of the dispatch's body, the types of its operands, and its scalars; not of where its tensors
/// come from.
Skeleton skeletonOf(kernel::DispatchOp op);

/// The numbers of one operation of a body, in the order in which a skeleton has them.
llvm::SmallVector<int64_t> numbersOf(mlir::Operation *op);

} // namespace cameo
