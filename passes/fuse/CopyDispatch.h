// Dispatches that copy tensors.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/Passes.h"

namespace cameo {

/// A dispatch copies at most this many: the parameters of a kernel, an address and sizes each, must
/// fit 4352 bytes.
inline constexpr size_t kMostCopied = 32;

/// A size of a tensor of the plan.
mlir::OpFoldResult planSize(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                            int64_t dim);
/// a + b
mlir::OpFoldResult planSum(mlir::OpBuilder &b, mlir::Location loc, mlir::OpFoldResult a,
                           mlir::OpFoldResult c);

/// A dispatch that writes `parts`, up to kMostCopied, one after another along `dim` to
/// `destination`; its result. `elements` has, of a part whose elements are all the same number,
/// that, which is not read then; null of others.
mlir::Value copyParts(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange parts,
                      llvm::ArrayRef<mlir::TypedAttr> elements, int64_t dim,
                      mlir::Value destination);

/// Whether `selectParts` can read this: few parts, whose sizes along its dimension are known. Elements
/// that are neighbours in memory are of one part.
bool canSelectParts(rt::ConcatOp concat);
/// A dispatch that makes the concatenation as elementwise work on its parts, which whoever reads it
/// can do in place of reading it.
kernel::DispatchOp selectParts(mlir::OpBuilder &b, rt::ConcatOp concat);

} // namespace cameo
