// How constants are stored for the dispatches that read them: in which order, and whether rounded.
//
// Which is decided with the schedule: it is what a class reads them as when it is asked for
// candidates. On a dispatch the orders are an attribute, an order an input: `kernel.packing` while
// they are to be done by PackWeights, then `kernel.packed`. Inputs that the schedule's parameters
// say are read rounded to TF32 are listed by `kernel.rounding`, then by `kernel.rounded`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/PermuteDispatch.h"

namespace cameo {

/// By input; none at all, or an empty one: as they are.
using Packing = llvm::SmallVector<DimOrder>;

inline constexpr llvm::StringLiteral kPackingAttr =
                                         kernel::KernelDialect::PackingAttrHelper::getNameStr(),
                                     kPackedAttr =
                                         kernel::KernelDialect::PackedAttrHelper::getNameStr(),
                                     kRoundingAttr =
                                         kernel::KernelDialect::RoundingAttrHelper::getNameStr(),
                                     kRoundedAttr =
                                         kernel::KernelDialect::RoundedAttrHelper::getNameStr();

/// Whether an input is a constant whose dimensions may be stored in any order.
bool isPackable(kernel::DispatchOp op, unsigned input);

/// What an attribute says; nothing where it is not a list of orders of the inputs' dimensions, or
/// one of what cannot be packed.
std::optional<Packing> packingOf(kernel::DispatchOp op, mlir::Attribute attribute);
/// Null where nothing changes.
mlir::ArrayAttr packingAttr(mlir::MLIRContext *context, const Packing &packing);

/// Whether an input is a constant that may be stored rounded to TF32.
bool isRoundable(kernel::DispatchOp op, unsigned input);
/// The inputs that an attribute lists; nothing where it lists one that cannot be rounded. None of a
/// null attribute.
std::optional<llvm::SmallVector<int64_t>> roundedOf(kernel::DispatchOp op,
                                                    mlir::DenseI64ArrayAttr attribute);
/// Null where there are none.
mlir::DenseI64ArrayAttr roundedAttr(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> inputs);

/// The order that undoes this one.
DimOrder inverse(llvm::ArrayRef<unsigned> order);

} // namespace cameo
