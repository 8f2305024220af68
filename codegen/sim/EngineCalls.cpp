// Loads from the first parameter, and calls of what is loaded from there.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/EngineCalls.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace cameo;

/// `pointer` without its constant offset, which is added to `offset`.
static const Value *strip(const Value *pointer, const DataLayout &layout, int64_t &offset) {
  APInt bytes(64, 0);
  const Value *base = pointer->stripAndAccumulateConstantOffsets(layout, bytes,
                                                                 /*AllowNonInbounds=*/true);
  offset = bytes.getSExtValue();
  return base;
}

std::optional<size_t> cameo::contextField(const LoadInst &load) {
  int64_t offset = 0;
  const Function &function = *load.getFunction();
  const Value *base =
      strip(load.getPointerOperand(), function.getParent()->getDataLayout(), offset);
  if (function.arg_empty() || base != function.getArg(0))
    return std::nullopt;
  return offset;
}

std::optional<size_t> cameo::engineFunction(const CallInst &call) {
  auto *callee = dyn_cast<LoadInst>(call.getCalledOperand());
  if (!callee)
    return std::nullopt;
  int64_t offset = 0;
  auto *table = dyn_cast<LoadInst>(
      strip(callee->getPointerOperand(), call.getModule()->getDataLayout(), offset));
  if (!table || contextField(*table) != offsetof(CameoSimThread, api))
    return std::nullopt;
  return offset;
}

void cameo::markCollectiveCalls(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&instruction))
        if (auto offset = engineFunction(*call); offset && isCollective(*offset))
          call->addFnAttr(Attribute::Convergent);
}
