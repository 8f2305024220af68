// What a kernel may store for taps alone: as much as makes it take no more memory than the largest
// of the operations that kernels are made of would by itself. So an arena with taps is about that
// of one kernel per operator, where each value is gone as soon as it is shown.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

#include <array>
#include <string>

namespace cameo {

class TapMemory {
public:
  /// Looks at the operations in the dispatches of an entry function's block, which fusion keeps.
  explicit TapMemory(mlir::Block &block);

  /// Why the two are not merged with `kept` results of the producer, some of them for taps alone;
  /// empty where they may be, as always where there are no taps.
  std::string whyTooMuch(kernel::DispatchOp producer, kernel::DispatchOp consumer,
                         const llvm::BitVector &kept) const;

private:
  /// Sizes known only at run time, taken for these: kernels that are the largest for short
  /// sequences are not for long ones.
  static constexpr std::array<int64_t, 3> kUnknownSizes = {1, 64, 4096};
  using Bytes = std::array<double, kUnknownSizes.size()>;

  bool isInArena(mlir::Value value) const;
  static void add(mlir::Value value, Bytes &bytes);
  bool isOnlyTapped(mlir::Value value, kernel::DispatchOp consumer) const;

  llvm::BitVector taps; // among the operands of the block's end; empty without any
  Bytes most = {};
};

} // namespace cameo
