// Keys of dispatches: what a dispatch computes, in 128 bits.
//
// Equal keys mean equal kernels, and the same schedule for them: kernels are shared by them, and
// files of schedules name dispatches by them. So a key is the same in every process, and nothing
// counts that does not matter to a kernel: names, locations, other dispatches, the schedule.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/DenseMap.h"

#include <string>
#include <utility>

namespace cameo {

using DispatchKey = std::pair<uint64_t, uint64_t>;

/// 32 hexadecimal digits.
std::string textOf(DispatchKey key);
/// The key of what `key` stands for and `more`.
DispatchKey extend(DispatchKey key, llvm::StringRef more);

/// Remembers what it has hashed of attributes and types, which are most of every description.
class DispatchHasher {
public:
  /// Of the operands' types and layouts in memory, and the body. Constants in `unknown` count as if
  /// they were not known.
  DispatchKey key(kernel::DispatchOp op, llvm::function_ref<bool(mlir::Operation *)> unknown = {});
  /// Of an attribute, which may be null.
  uint64_t hash(mlir::Attribute attribute);

private:
  class Writer;
  uint64_t hash(mlir::Type type);

  llvm::DenseMap<mlir::Attribute, uint64_t> attributes;
  llvm::DenseMap<mlir::Type, uint64_t> types;
};

} // namespace cameo
