// Products whose depth is split: launches of parts, and what they gain.
//
// Where a product's tiles are fewer than a GPU has multiprocessors, and its depth is long, several
// blocks share the depth of a tile: in how many parts is what TimeModel says is fastest, the second
// launch included. It is asked for the product alone, so that sums do not depend on what is
// computed before and behind. Each stores its sums to a workspace, a tensor of the plan like any
// other; a second launch adds the parts, in their order, and does all that the dispatch does with
// the product.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/ProductKernel.h"
#include "codegen/schedule/TileReach.h"
#include "codegen/schedule/TimeModel.h"
#include "codegen/target/Target.h"

namespace cameo {

/// Parts that a depth is split into at most.
inline constexpr int64_t kMostSplits = 32;

/// A product as an estimate of its kernel of parts sees it, whatever its dispatch does besides.
struct SplitWork {
  SplitWork(kernel::DispatchOp op, const Product &product, int64_t splits);

  /// The second launch, which adds the parts and does the rest: of what the dispatch moves
  /// without a split, all but the operands is its.
  KernelWork fixUp(const Target &target, double wholeBytes) const;

  double results, sumBytes; // elements, and bytes of each
  double operandBytes;      // that are moved, each once
  double dramBytes;         // of the kernel of parts: those, and its sums
  int64_t splits;
  int64_t row = 1; // neighbors in memory of each part's sums, in the innermost dimension
};

/// Bytes of memory for the parts' sums; none where the depth is not split.
int64_t workspaceBytes(const Product &product, int64_t splits);

/// How many parts the depth is split into: those with which `microseconds` is least, by a tenth at
/// least less than whole, because estimates are not better than that. Only where all sizes are
/// known and depth is long, into powers of two.
int64_t chooseSplits(const Product &product, llvm::function_ref<double(int64_t)> microseconds);

/// How blocks of a tile share the depth in `splits` parts of whole steps, of which there are
/// `steps`: whether none is left without any. Always so where that is not known.
bool canSplit(const Product &product, int64_t steps, int64_t splits);

/// Launches a product's kernel, one block per tile and a part of the depth, and another one that makes
/// the dispatch's results of the parts, which are returned.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
launchSplit(kernel::DispatchOp op, const Target &target, KernelEmitter &emitter,
            const Product &product, const Reach &reach, int64_t threads,
            llvm::function_ref<void(KernelWriter &, const DepthParts &)> write);

} // namespace cameo
