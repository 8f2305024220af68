// Results of dispatches as elementwise work on a root, for schedule classes whose threads have
// elements of that.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"
#include "dialects/kernel/form/Computation.h"

namespace cameo {

/// Sizes of the root as a grid has to cover it: numbers, or those of the first result's
/// destination.
llvm::SmallVector<mlir::Value> gridSizesOfRoot(mlir::OpBuilder &host, KernelEmitter &emitter,
                                               kernel::DispatchOp op, const Epilogue &first,
                                               mlir::Value root);

/// A grid of one block for each line of the root along `axis`.
llvm::SmallVector<mlir::Value, 3> gridOfLines(mlir::OpBuilder &host, KernelEmitter &emitter,
                                              kernel::DispatchOp op, const Epilogue &first,
                                              mlir::Value root, int64_t axis);

/// Stores what result `number` of the dispatch has of the root's elements `values`, neighbours
/// along its last dimension, or `along` another, from `place` on, which is a multiple of their
/// number. `flat`, where given, is the place in row-major order.
void storeResult(KernelWriter &kernel, mlir::Value root, const Epilogue &epilogue, size_t number,
                 llvm::ArrayRef<mlir::Value> place, llvm::ArrayRef<mlir::Value> values,
                 llvm::function_ref<mlir::Value()> flat = {}, std::optional<unsigned> along = {});

} // namespace cameo
