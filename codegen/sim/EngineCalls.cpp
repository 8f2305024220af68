// Loads from the first parameter, and calls of what is loaded from there.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/EngineCalls.h"

#include "codegen/sim/SimPasses.h"

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

static Type *typeOf(EngineType type, LLVMContext &context) {
  switch (type) {
  case EngineType::None:
    return Type::getVoidTy(context);
  case EngineType::I32:
    return Type::getInt32Ty(context);
  case EngineType::I64:
    return Type::getInt64Ty(context);
  case EngineType::F32:
    return Type::getFloatTy(context);
  case EngineType::F64:
    return Type::getDoubleTy(context);
  case EngineType::Pointer:
    return PointerType::getUnqual(context);
  }
  llvm_unreachable("all types are there");
}

Value *cameo::engineEntry(IRBuilderBase &entry, const EngineFunction &engine) {
  auto load = [&](Value *base, size_t offset) {
    LoadInst *value = entry.CreateLoad(entry.getPtrTy(),
                                       entry.CreateConstGEP1_64(entry.getInt8Ty(), base, offset));
    value->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(entry.getContext(), {}));
    return value;
  };
  Value *thread = entry.GetInsertBlock()->getParent()->getArg(0);
  return load(load(thread, offsetof(CameoSimThread, api)), engine.offset);
}

CallInst *cameo::callEngine(IRBuilderBase &builder, Value *entry, const EngineFunction &engine,
                            ArrayRef<Value *> operands) {
  assert(operands.size() + 1 == engine.types.size() && "operands as abi.h has them");
  SmallVector<Type *> types;
  for (EngineType type : engine.types)
    types.push_back(typeOf(type, builder.getContext()));
  auto *type = FunctionType::get(types.front(), ArrayRef(types).drop_front(), /*isVarArg=*/false);
  return builder.CreateCall(type, entry, operands);
}

bool MarkCollectivesPass::rewrite(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallInst>(&instruction))
      if (auto offset = engineFunction(*call); offset && isCollective(*offset)) {
        call->addFnAttr(Attribute::Convergent);
        changed = true;
      }
  return changed;
}
