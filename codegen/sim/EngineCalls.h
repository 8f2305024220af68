// How a lowered kernel, as LLVM IR, reads its context and calls the engine (runtime/sim/abi.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/sim/EngineFunctions.h"
#include "runtime/sim/abi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <cstddef>
#include <optional>

namespace cameo {

/// The offset in CameoSimThread that `load` reads, if it reads the context, which is the first
/// parameter of every function.
std::optional<size_t> contextField(const llvm::LoadInst &load);

/// The offset in CameoSimApi of the function that `call` calls, if it calls the engine.
std::optional<size_t> engineFunction(const llvm::CallInst &call);

/// Whether lanes wait for each other in the engine's function at `offset`.
inline bool isCollective(size_t offset) {
  return offset == offsetof(CameoSimApi, barrier) || offset == offsetof(CameoSimApi, shuffle) ||
         offset == offsetof(CameoSimApi, vote) || offset == offsetof(CameoSimApi, warp_sync) ||
         offset == offsetof(CameoSimApi, blocking_instruction) ||
         offset == offsetof(CameoSimApi, warp_instruction) ||
         offset == offsetof(CameoSimApi, warp_copies) ||
         offset == offsetof(CameoSimApi, warp_access);
}

/// The address of the engine's function, loaded at `entry`, which stands in a kernel's entry block.
/// The table does not change, so that the loads can go where LLVM likes.
llvm::Value *engineEntry(llvm::IRBuilderBase &entry, const EngineFunction &engine);

/// Calls what engineEntry() has loaded.
llvm::CallInst *callEngine(llvm::IRBuilderBase &builder, llvm::Value *entry,
                           const EngineFunction &engine, llvm::ArrayRef<llvm::Value *> operands);

} // namespace cameo
