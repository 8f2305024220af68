// Dispatches whose operands are stored with their dimensions in another order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

namespace cameo {

/// How a tensor is stored: its dimensions, as they were, by their new position. Empty: as they
/// were.
using DimOrder = llvm::SmallVector<unsigned>;

/// Whether elements follow one another as before: nothing but dimensions of extent 1 move.
bool keepsElements(llvm::ArrayRef<unsigned> order, mlir::RankedTensorType type);
mlir::RankedTensorType permuted(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order);
/// Where dimension `dim` is now.
int64_t placeOfDim(int64_t dim, llvm::ArrayRef<unsigned> order);
/// `values`, which belong to the dynamic dimensions of `type`, as they belong to permuted(type).
llvm::SmallVector<mlir::Value> permuteDynamic(mlir::ValueRange values, mlir::RankedTensorType type,
                                              llvm::ArrayRef<unsigned> order);

/// Describes the same computation on inputs and results that are stored in these orders, one an
/// input and one a result. Orders are composed into the indexing maps; loops go through results as
/// these are stored, reductions as before. The operands outside are the caller's to replace.
void permuteDispatch(kernel::DispatchOp op, llvm::ArrayRef<DimOrder> inputs,
                     llvm::ArrayRef<DimOrder> results);

} // namespace cameo
