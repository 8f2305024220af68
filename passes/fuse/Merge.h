// Two dispatches as one description.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/BitVector.h"

namespace cameo {

/// The result of `producer` that `value` is, or is a reshape of; null where it is neither.
mlir::OpResult resultBehind(mlir::Value value, kernel::DispatchOp producer);

/// Why two dispatches cannot be written as one, whatever they compute; empty where they can: a
/// result of the producer is not new memory, or the consumer reads it through a reshape that a body
/// cannot have.
llvm::StringRef whyUnmergeable(kernel::DispatchOp producer, kernel::DispatchOp consumer);

/// A dispatch, where `builder` stands, that computes what `producer` and then `consumer`, which can
/// be merged, compute. Its results are those of the producer's that are `kept`, then the
/// consumer's. Nothing is replaced or erased, but with `takes` the bodies of the two are moved into
/// it, and all that is left to do with them is to replace and erase them.
kernel::DispatchOp mergeDispatches(mlir::OpBuilder &builder, kernel::DispatchOp producer,
                                   kernel::DispatchOp consumer, const llvm::BitVector &kept,
                                   bool takes = false);

/// A dispatch, where `builder` stands, that computes what two do that do not depend on one another;
/// its results are those of the first, then those of the second. Their bodies are moved into it,
/// and all that is left to do with them is to replace and erase them.
kernel::DispatchOp mergeIndependent(mlir::OpBuilder &builder, kernel::DispatchOp first,
                                    kernel::DispatchOp second);

} // namespace cameo
