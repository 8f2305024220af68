// Values between lane loops: rows of 32, or small expressions computed again.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpRewriter.h"

using namespace llvm;
using namespace cameo;
using namespace cameo::warp;

/// Instructions that are computed again in each lane loop that needs them, rather than kept for all
/// lanes in memory, are trees of at most so many.
static constexpr unsigned kMaxRecomputed = 16;

AllocaInst *Rewriter::makeSlot(Type *type, const Twine &name) {
  // One bit per lane would be too little to address; vectors would stay out of SIMD.
  Type *stored = type->isIntegerTy(1) ? Type::getInt8Ty(context)
                 : isa<FixedVectorType>(type) && type->getPrimitiveSizeInBits() == 32 ? i32
                                                                                      : type;
  IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
  AllocaInst *slot = entry.CreateAlloca(ArrayType::get(stored, kWarpLanes), nullptr, name);
  slot->setAlignment(Align(32));
  return slot;
}

Value *Rewriter::row(IRBuilderBase &builder, AllocaInst *slot, Value *index) {
  return builder.CreateInBoundsGEP(
      cast<ArrayType>(slot->getAllocatedType())->getElementType(), slot,
      builder.CreateZExt(index, builder.getInt64Ty(), "", /*IsNonNeg=*/true));
}

Value *Rewriter::loadRow(IRBuilderBase &builder, AllocaInst *slot, Value *index, Type *type) {
  Type *stored = cast<ArrayType>(slot->getAllocatedType())->getElementType();
  Value *value = builder.CreateLoad(stored, row(builder, slot, index));
  if (stored->isIntegerTy(8) && type->isIntegerTy(1))
    return builder.CreateTrunc(value, type);
  return builder.CreateBitCast(value, type);
}

void Rewriter::storeRow(IRBuilderBase &builder, Value *value, AllocaInst *slot, Value *index) {
  Type *stored = cast<ArrayType>(slot->getAllocatedType())->getElementType();
  value = value->getType()->isIntegerTy(1) ? builder.CreateZExt(value, stored)
                                           : builder.CreateBitCast(value, stored);
  builder.CreateStore(value, row(builder, slot, index));
}

/// Whether `value` is a small tree over what the whole warp has in common.
bool Rewriter::isRecomputed(Value *value, unsigned &budget) {
  if (value == &lane || !isPerLane(value))
    return true;
  auto *instruction = cast<Instruction>(value);
  if (slots.count(instruction) || budget-- == 0)
    return false;
  if (!isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst, SelectInst, FreezeInst>(
          instruction))
    return false;
  return all_of(instruction->operands(),
                [&](Value *operand) { return budget != 0 && isRecomputed(operand, budget); });
}

AllocaInst *Rewriter::slotOf(Value *value) {
  if (AllocaInst *known = slots.lookup(value))
    return known;
  AllocaInst *slot = makeSlot(value->getType(), "kept");
  auto *instruction = cast<Instruction>(value);
  IRBuilder<> builder(isa<PHINode>(instruction) ? &*instruction->getParent()->getFirstInsertionPt()
                                                : instruction->getNextNode());
  storeRow(builder, instruction, slot, unitOf(instruction)->lane);
  slots[value] = slot;
  return slot;
}

/// `value`, used in `region`, for the lane whose turn it is.
Value *Rewriter::inUnit(Value *value, ParallelRegion &region) {
  if (!isPerLane(value))
    return value;
  if (value == &lane)
    return region.lane;
  auto *instruction = cast<Instruction>(value);
  bool isStoredPhi = unitOf(instruction) == nullptr;
  if (!isStoredPhi && unitOf(instruction) == &region)
    return value;
  if (Value *known = region.here.lookup(value))
    return known;
  unsigned budget = kMaxRecomputed;
  Value *result = nullptr;
  if (isRecomputed(value, budget)) {
    SmallVector<Value *> operands;
    for (Value *operand : instruction->operands())
      operands.push_back(inUnit(operand, region));
    Instruction *copy = instruction->clone();
    for (unsigned i = 0; i < operands.size(); ++i)
      copy->setOperand(i, operands[i]);
    copy->insertBefore(region.header->getTerminator());
    result = copy;
  } else {
    IRBuilder<> builder(region.header->getTerminator());
    result = loadRow(builder, slotOf(value), region.lane, value->getType());
  }
  region.here[value] = result;
  return result;
}

/// `value` of the first lane: of all lanes, if it comes to that.
Value *Rewriter::forFirstLane(Value *value, Instruction *before) {
  if (!isPerLane(value))
    return value;
  if (value == &lane)
    return ConstantInt::get(i32, 0);
  IRBuilder<> builder(before);
  unsigned budget = kMaxRecomputed;
  if (!isRecomputed(value, budget))
    return loadRow(builder, slotOf(value), builder.getInt32(0), value->getType());
  auto *instruction = cast<Instruction>(value);
  Instruction *copy = instruction->clone();
  for (unsigned i = 0; i < instruction->getNumOperands(); ++i)
    copy->setOperand(i, forFirstLane(instruction->getOperand(i), before));
  copy->insertBefore(before);
  return copy;
}

/// Gives the region's code its values.
void Rewriter::connect(ParallelRegion &region) {
  for (BasicBlock *block : region.body)
    for (Instruction &instruction : *block)
      for (Use &use : instruction.operands())
        if (Value *value = inUnit(use.get(), region); value != use.get())
          replacements.push_back({&use, value});
}

void Rewriter::connectWarpCode() {
  for (BasicBlock *block : warpBlocks)
    for (Instruction &instruction : *block) {
      if (slots.count(&instruction))
        continue;
      for (Use &use : instruction.operands()) {
        auto *phi = dyn_cast<PHINode>(&instruction);
        Value *value = forFirstLane(use.get(), phi ? phi->getIncomingBlock(use)->getTerminator()
                                                   : &instruction);
        if (value != use.get())
          replacements.push_back({&use, value});
      }
    }
}

void Rewriter::finish() {
  for (auto [use, value] : replacements)
    use->set(value);
  for (PHINode *phi : storedPhis)
    phi->replaceAllUsesWith(PoisonValue::get(phi->getType()));
  for (PHINode *phi : storedPhis)
    phi->eraseFromParent();
  for (Instruction *result : storedResults) {
    result->replaceAllUsesWith(PoisonValue::get(result->getType()));
    result->eraseFromParent();
  }
  for (auto &region : regions) {
    SmallVector<BasicBlock *> blocks(region->body);
    blocks.push_back(region->header);
    for (BasicBlock *block : blocks)
      for (Instruction &instruction : *block)
        if (instruction.mayReadOrWriteMemory())
          instruction.setMetadata(LLVMContext::MD_access_group, region->accesses);
  }
  Function *source = cast<CallInst>(lane).getCalledFunction();
  lane.eraseFromParent();
  if (source->use_empty())
    source->eraseFromParent();
}
