// How many elements are accessed at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Computation.h"

namespace cameo {

/// Elements of a tensor that may be accessed at once along `loops` (the innermost last), of which
/// `map` gives the indices: a power of two of at most `most` elements and 16 bytes. Groups of so
/// many begin at a multiple of it in the loops' order, and are aligned, consecutive, and all inside
/// the bounds or all outside.
int64_t vectorAlong(mlir::AffineMap map, mlir::RankedTensorType type,
                    llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<int64_t> ranges, int64_t most,
                    llvm::ArrayRef<Bound> bounds = {});

} // namespace cameo
