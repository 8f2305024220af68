// What schedule classes of products share: how wide operands are copied, how constants are wanted,
// and the grid.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"
#include "codegen/schedule/PermuteDispatch.h"
#include "codegen/schedule/TimeModel.h"
#include "dialects/kernel/form/Product.h"

namespace cameo {

/// Steps of these loops together, for estimates. Where some are known only at run time: a batch of
/// eight beside the others, `least` at least.
double likelyExtent(const Product &product, llvm::ArrayRef<unsigned> loops, double least);

/// What its kernels do with whole rows.
RowWork rowWork(const Product &product);
/// What its kernels keep of indices, see ProductKernel::stageIndices.
IndexBytes indexBytes(const Product &product);

/// Bytes of all results of an element.
double resultBytes(const Product &product);

/// How often memory is accessed for an element of the product: for its results, and for what is read
/// of each element on the way to them.
double accessesOfResults(const Product &product);
/// Bytes of its operands that a product moves from memory, and of all that it moves from and to
/// memory if caches serve what several blocks read.
double operandBytes(kernel::DispatchOp op, const Product &product);
double productBytes(kernel::DispatchOp op, const Product &product);

/// Whether a read of the row's or the column's operand has an element for each of the operand's, as
/// weights have that are dequantised; scales have one for many.
bool isOfEachElement(const Product &product, const Access &read, bool isRow);
/// Bits of the widest elements that an operand reads so.
unsigned streamedBits(const Product &product, bool isRow);

/// Elements of the row's or the column's operand that may be copied at once along `loops`: what
/// each of the largest of what it reads has together, `most` at most. Inputs are stored in the
/// orders of `packed`, if there are any.
int64_t copyVector(kernel::DispatchOp op, const Product &product, bool isRow,
                   llvm::ArrayRef<unsigned> loops, int64_t most,
                   llvm::ArrayRef<DimOrder> packed = {});
/// Elements that the operand whose memory does not decide the order of depth, a convolution's image,
/// has together along these loops: as sizes have it, wherever its memory begins; `most` at most.
int64_t vectorOfWindow(const Product &product, llvm::ArrayRef<unsigned> loops, int64_t most);
/// Elements between neighbours along the one of the loops where what is read has them nearest; 0:
/// all read one element, or it is known at run time only.
int64_t nearestAlong(const Product &product, const Access &read, llvm::ArrayRef<unsigned> loops,
                     llvm::ArrayRef<DimOrder> packed);
/// Indices of what is read, as it is stored if inputs are packed so; and its type.
std::pair<mlir::AffineMap, mlir::RankedTensorType> placeAsPacked(const Access &read,
                                                                 llvm::ArrayRef<DimOrder> packed);

/// The order of dimensions in which an input (by position) that is a constant is wanted: batch,
/// then depth with channels innermost (what a tile's `depth` divides, so that a step of depth stays
/// within one tap of a window, and behind all others what the other operand has innermost, so that
/// it is copied along that); then what goes across, so that tiles are copied as they are, 16 bytes at a time. With
/// `depthInnermost`, or where lines across have no whole 16 bytes and lines along depth have more, the
/// last dimension of depth comes behind that. Of an operand that is computed
/// what has several numbers along depth and across, with depth innermost where more elements are
/// together so. Empty: as it is.
llvm::SmallVector<unsigned> productPacking(kernel::DispatchOp op, const Product &product,
                                           unsigned input, int64_t depth,
                                           bool depthInnermost = false);

/// Whether no element of it is in memory: it is made of numbers alone.
bool hasEqualElements(const Operand &operand);

/// Has depth run as it will when inputs are packed so.
void orderDepthAsPacked(Product &product, llvm::ArrayRef<DimOrder> packed);

/// Blocks: batch * ceil(rows / tile) * ceil(columns / tile).
mlir::Value productBlocks(mlir::OpBuilder &host, KernelEmitter &emitter, kernel::DispatchOp op,
                          const Product &product, int64_t tileRows, int64_t tileColumns);

} // namespace cameo
