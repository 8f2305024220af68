// How far kernels of products reach whose sizes only a run knows.
//
// Their indices have 32 bits, and so have offsets within a tile; where a tile begins in each tensor
// they compute with 64 bits. So one kernel does for tensors of any size, as long as a tile's
// elements are not too far from one another, which the plan checks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"
#include "dialects/kernel/form/Product.h"

namespace cameo {

/// What of a product a block has at once.
struct Reach {
  int64_t rows, columns, depth;
  int64_t splits = 1; // parts of the depth, whose sums are stored beside one another
};

/// Makes the kernels of a dispatch with a product far, where they would be two otherwise, and emits
/// the plan's check. Leaves everything where what is to be checked cannot be told from sizes.
void reachByTiles(KernelEmitter &emitter, kernel::DispatchOp op, const Product &product,
                  const Reach &reach);

} // namespace cameo
