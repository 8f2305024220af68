// Lane loops.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpForm.h"

#include "codegen/sim/Divergence.h"
#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/WarpPrepare.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <memory>

using namespace llvm;
using namespace cameo;

namespace {

/// Instructions that are computed again in each lane loop that needs them, rather than kept for all
/// lanes in memory, are trees of at most so many.
constexpr unsigned kMaxRecomputed = 16;

/// Code that runs lane by lane in one loop.
struct Unit {
  SmallVector<BasicBlock *> body;
  BasicBlock *entry = nullptr;     // of the body
  BasicBlock *preheader = nullptr; // the loop comes after it
  BasicBlock *exit = nullptr;      // and before this
  BasicBlock *header = nullptr;
  PHINode *lane = nullptr;
  MDNode *accesses = nullptr;      // the group of all its accesses of memory
  DenseMap<Value *, Value *> here; // values of other units, as seen in this one
};

/// For code that lanes run, in blocks that the warp reaches.
class LanesBuilder : public IRBuilder<ConstantFolder, IRBuilderCallbackInserter> {
public:
  LanesBuilder(Divergence &divergence, Instruction *before)
      : IRBuilder(before->getContext(), ConstantFolder(),
                  IRBuilderCallbackInserter(
                      [&divergence](Instruction *made) { divergence.addDivergent(*made); })) {
    SetInsertPoint(before);
  }
};

class WarpForm {
public:
  WarpForm(Function &function, Instruction &lane)
      : function(function), lane(lane), context(function.getContext()),
        i32(Type::getInt32Ty(context)), divergence(function, lane) {}

  std::string run() {
    if (!divergence.problem().empty())
      return divergence.problem();
    if (std::string problem = checkCollectives(); !problem.empty())
      return problem;
    if (std::string problem = findSerialUnits(); !problem.empty())
      return problem;
    splitAtCollectives();
    lowerCollectives();
    findStraightUnits();
    placePhiStores();
    for (auto &unit : units)
      makeLoop(*unit);
    for (auto &unit : units)
      connect(*unit);
    connectWarpCode();
    finish();
    return {};
  }

private:
  std::string checkCollectives();
  bool isSharedBuffer(Value *pointer);
  std::string findSerialUnits();
  void splitAtCollectives();
  void findStraightUnits();
  void placePhiStores();
  void storeAtEnd(Value *value, AllocaInst *slot, BasicBlock *block);
  bool leavesLive(PHINode &phi, BasicBlock *from, BasicBlock *to);
  void lowerCollectives();
  void lowerShuffle(CallInst &call);
  void lowerVote(CallInst &call);
  void lowerInstruction(CallInst &call);
  AllocaInst *publish(CallInst &call, Value *value);
  Value *engineEntry(size_t offset);
  void makeLoop(Unit &unit);
  void connect(Unit &unit);
  void connectWarpCode();
  void finish();

  Value *inUnit(Value *value, Unit &unit);
  Value *forFirstLane(Value *value, Instruction *before);
  bool isRecomputed(Value *value, unsigned &budget);
  AllocaInst *slotOf(Value *value);
  AllocaInst *makeSlot(Type *type, const Twine &name);
  Value *row(IRBuilderBase &builder, AllocaInst *slot, Value *index);
  Value *loadRow(IRBuilderBase &builder, AllocaInst *slot, Value *index, Type *type);
  void storeRow(IRBuilderBase &builder, Value *value, AllocaInst *slot, Value *index);

  /// The unit whose lane loop executes `instruction`; null for the warp's own code.
  Unit *unitOf(const Instruction *instruction) const {
    return unitOfBlock.lookup(instruction->getParent());
  }
  /// Whether `value` has a copy for each lane.
  bool isPerLane(Value *value) const {
    auto *instruction = dyn_cast<Instruction>(value);
    return instruction &&
           (instruction == &lane || slots.count(instruction) || unitOf(instruction) != nullptr);
  }
  static std::optional<size_t> collective(const Instruction &instruction) {
    auto *call = dyn_cast<CallInst>(&instruction);
    auto engine = call ? engineFunction(*call) : std::nullopt;
    if (engine && isCollective(*engine))
      return engine;
    return std::nullopt;
  }
  bool runsPerLane(const Instruction &instruction) const;
  std::string place(const Twine &what, const Instruction &instruction) const;

  Function &function;
  Instruction &lane;
  LLVMContext &context;
  Type *i32;
  Divergence divergence;
  std::vector<std::unique_ptr<Unit>> units;
  DenseMap<const BasicBlock *, Unit *> unitOfBlock;
  SetVector<BasicBlock *> warpBlocks; // of the warp's own code, in order
  MapVector<Value *, AllocaInst *> slots;
  SmallVector<PHINode *> storedPhis;
  /// Made when all is known: what is computed again is copied from the code as it was.
  SmallVector<std::pair<Use *, Value *>> replacements;
};

/// Whether all lanes store the same into the variable `pointer`.
bool WarpForm::isSharedBuffer(Value *pointer) {
  SmallVector<Value *> work{pointer->stripPointerCasts()};
  while (!work.empty())
    for (User *user : work.pop_back_val()->users()) {
      if (isa<GetElementPtrInst>(user))
        work.push_back(user);
      else if (auto *store = dyn_cast<StoreInst>(user);
               store && (divergence.isSerial(store->getParent()) ||
                         !divergence.isUniform(store->getValueOperand())))
        return false;
    }
  return true;
}

/// Collectives must be reached by the whole warp, and be for all of it.
std::string WarpForm::checkCollectives() {
  for (BasicBlock &block : function)
    for (Instruction &instruction : block) {
      auto engine = collective(instruction);
      if (!engine)
        continue;
      auto &call = cast<CallInst>(instruction);
      if (divergence.isSerial(&block))
        return "lanes may reach a barrier or collective operation at different times";
      auto isAll = [&](unsigned operand) {
        auto *mask = dyn_cast<ConstantInt>(call.getArgOperand(operand));
        return mask && mask->isMinusOne();
      };
      bool whole = true;
      SmallVector<unsigned> shared; // operands that must be the same for all lanes
      if (*engine == offsetof(CameoSimApi, barrier))
        shared = {1, 2};
      else if (*engine == offsetof(CameoSimApi, warp_sync))
        whole = isAll(1);
      else if (isMbarrierWait(call)) {
        if (!isSharedBuffer(call.getArgOperand(3)))
          return "lanes may wait for different mbarriers or phases";
      } else
        whole = isAll(2) && isa<ConstantInt>(call.getArgOperand(1));
      if (!whole)
        return "a collective operation is for a part of the warp";
      for (unsigned operand : shared)
        if (!divergence.isUniform(call.getArgOperand(operand)))
          return "lanes may name different barriers";
    }
  return {};
}

/// Units of blocks that lanes go through each in its own way.
std::string WarpForm::findSerialUnits() {
  SmallPtrSet<BasicBlock *, 16> seen;
  for (BasicBlock &start : function) {
    if (!divergence.isSerial(&start) || seen.count(&start))
      continue;
    auto unit = std::make_unique<Unit>();
    SetVector<BasicBlock *> body;
    for (BasicBlock &block : function)
      if (divergence.isSerial(&block) && divergence.isSameRegion(&start, &block))
        body.insert(&block);
    seen.insert(body.begin(), body.end());

    SetVector<BasicBlock *> from, entries, exits;
    for (BasicBlock *block : body) {
      for (BasicBlock *before : predecessors(block))
        if (!body.contains(before)) {
          from.insert(before);
          entries.insert(block);
        }
      for (BasicBlock *after : successors(block))
        if (!body.contains(after))
          exits.insert(after);
    }
    if (from.size() != 1)
      return "lanes that take different ways come from more than one place";
    BasicBlock *before = from.front();
    auto *branch = dyn_cast<BranchInst>(before->getTerminator());
    if (!branch)
      return "control flow that the warp form does not know";
    if (branch->isConditional() && !divergence.isUniform(branch->getCondition())) {
      // The branch is the lanes' own, and so is what comes before it in its block.
      for (BasicBlock *after : successors(before))
        if (!body.contains(after))
          exits.insert(after);
      unit->entry = before->splitBasicBlock(branch, before->getName() + ".lanes");
      body.insert(unit->entry);
      unit->preheader = before;
    } else {
      if (entries.size() != 1)
        return "lanes that take different ways come from more than one place";
      unit->entry = entries.front();
      unit->preheader = SplitEdge(before, unit->entry);
    }
    if (exits.size() != 1)
      return "lanes that take different ways do not meet again at one place";
    unit->exit = exits.front();
    unit->body.assign(body.begin(), body.end());
    for (BasicBlock *block : unit->body)
      unitOfBlock[block] = unit.get();
    units.push_back(std::move(unit));
  }
  return {};
}

/// In a block that the whole warp reaches: what each lane does for itself.
bool WarpForm::runsPerLane(const Instruction &instruction) const {
  if (instruction.isTerminator() || isa<PHINode, AllocaInst>(instruction))
    return false;
  return instruction.mayHaveSideEffects() || !divergence.isUniform(&instruction);
}

/// Gives each collective a block of its own; and lets no load for the whole warp come after stores
/// of the lanes in its block.
void WarpForm::splitAtCollectives() {
  for (BasicBlock &block : function)
    if (!unitOfBlock.count(&block))
      warpBlocks.insert(&block);
  SmallVector<BasicBlock *> work(warpBlocks.begin(), warpBlocks.end());
  SmallPtrSet<BasicBlock *, 16> isAfter; // begin where another block was split
  while (!work.empty()) {
    BasicBlock *block = work.pop_back_val();
    bool written = false;
    for (Instruction &instruction : *block) {
      bool isCollective = collective(instruction).has_value();
      bool isLateLoad = written && instruction.mayReadFromMemory() &&
                        divergence.isUniform(&instruction) && !instruction.mayHaveSideEffects() &&
                        !instruction.hasMetadata(LLVMContext::MD_invariant_load);
      bool isAlone = &instruction == &block->front() && block->getSinglePredecessor();
      Instruction *at = nullptr;
      if ((isCollective && !isAlone) || isLateLoad)
        at = &instruction;
      else if (isCollective && !isAfter.count(block->getSingleSuccessor()))
        at = instruction.getNextNode();
      if (at) {
        BasicBlock *rest = block->splitBasicBlock(at);
        isAfter.insert(rest);
        warpBlocks.insert(rest);
        // The unit that came after the block now comes after its rest.
        for (auto &unit : units)
          if (unit->preheader == block)
            unit->preheader = rest;
        work.push_back(rest);
        break;
      }
      written |= runsPerLane(instruction) && instruction.mayWriteToMemory();
    }
  }
}

/// Units of what lanes do between collectives.
void WarpForm::findStraightUnits() {
  SmallVector<BasicBlock *> blocks(warpBlocks.begin(), warpBlocks.end());
  for (BasicBlock *block : blocks) {
    if (collective(block->front()))
      continue;
    SmallVector<Instruction *> own;
    for (Instruction &instruction : *block)
      if (runsPerLane(instruction))
        own.push_back(&instruction);
    if (own.empty())
      continue;
    // What comes before the lanes' ways part joins them.
    Unit *next = nullptr;
    for (auto &unit : units)
      if (unit->preheader == block)
        next = unit.get();
    if (next && next->entry->front().isTerminator()) {
      for (Instruction *instruction : own)
        instruction->moveBefore(next->entry->getTerminator());
      continue;
    }
    auto unit = std::make_unique<Unit>();
    BasicBlock *rest = block->splitBasicBlock(block->getTerminator());
    warpBlocks.insert(rest);
    for (auto &other : units)
      if (other->preheader == block)
        other->preheader = rest;
    unit->entry = block->splitBasicBlock(block->getTerminator(), block->getName() + ".lanes");
    for (Instruction *instruction : own)
      instruction->moveBefore(unit->entry->getTerminator());
    unit->preheader = block;
    unit->exit = rest;
    unit->body = {unit->entry};
    unitOfBlock[unit->entry] = unit.get();
    units.push_back(std::move(unit));
  }
}

AllocaInst *WarpForm::makeSlot(Type *type, const Twine &name) {
  // One bit a lane would be too little to address.
  Type *stored = type->isIntegerTy(1) ? Type::getInt8Ty(context) : type;
  IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
  AllocaInst *slot = entry.CreateAlloca(ArrayType::get(stored, kWarpLanes), nullptr, name);
  slot->setAlignment(Align(32));
  return slot;
}

Value *WarpForm::row(IRBuilderBase &builder, AllocaInst *slot, Value *index) {
  return builder.CreateInBoundsGEP(
      cast<ArrayType>(slot->getAllocatedType())->getElementType(), slot,
      builder.CreateZExt(index, builder.getInt64Ty(), "", /*IsNonNeg=*/true));
}

Value *WarpForm::loadRow(IRBuilderBase &builder, AllocaInst *slot, Value *index, Type *type) {
  Type *stored = cast<ArrayType>(slot->getAllocatedType())->getElementType();
  Value *value = builder.CreateLoad(stored, row(builder, slot, index));
  return stored == type ? value : builder.CreateTrunc(value, type);
}

void WarpForm::storeRow(IRBuilderBase &builder, Value *value, AllocaInst *slot, Value *index) {
  Type *stored = cast<ArrayType>(slot->getAllocatedType())->getElementType();
  if (value->getType() != stored)
    value = builder.CreateZExt(value, stored);
  builder.CreateStore(value, row(builder, slot, index));
}

/// Whether `phi`, of block `to`, is still needed after the edge from `from` to another block than
/// `to`: then its slot must not have changed by then.
bool WarpForm::leavesLive(PHINode &phi, BasicBlock *from, BasicBlock *to) {
  SmallPtrSet<const BasicBlock *, 16> users;
  for (User *user : phi.users()) {
    auto *other = dyn_cast<PHINode>(user);
    if (!other) {
      users.insert(cast<Instruction>(user)->getParent());
      continue;
    }
    for (unsigned i = 0; i < other->getNumIncomingValues(); ++i)
      if (other->getIncomingValue(i) == &phi)
        users.insert(other->getIncomingBlock(i));
  }
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<const BasicBlock *> work;
  for (BasicBlock *after : successors(from))
    if (after != to)
      work.push_back(after);
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (block == to || !seen.insert(block).second)
      continue;
    if (users.count(block))
      return true;
    work.append(succ_begin(block), succ_end(block));
  }
  return false;
}

/// Stores `value` for each lane at the end of what lanes do in `block`, which has one successor
/// that matters.
void WarpForm::storeAtEnd(Value *value, AllocaInst *slot, BasicBlock *block) {
  Unit *unit = unitOfBlock.lookup(block);
  if (!unit) {
    // The lane loop right before the end of the warp's block, or a new one.
    for (auto &other : units)
      if (other->exit == block && other->body.size() == 1 &&
          block->getFirstNonPHI()->isTerminator())
        unit = other.get();
  }
  if (!unit) {
    auto made = std::make_unique<Unit>();
    unit = made.get();
    unit->exit = block->splitBasicBlock(block->getTerminator());
    warpBlocks.insert(unit->exit);
    for (auto &other : units)
      if (other->preheader == block)
        other->preheader = unit->exit;
    unit->entry = block->splitBasicBlock(block->getTerminator(), block->getName() + ".lanes");
    unit->preheader = block;
    unit->body = {unit->entry};
    unitOfBlock[unit->entry] = unit;
    units.push_back(std::move(made));
  }
  BasicBlock *end = unitOfBlock.lookup(block) ? block : unit->entry;
  IRBuilder<> builder(end->getTerminator());
  storeRow(builder, value, slot, &lane);
}

/// Phis of the warp's blocks whose lanes differ become slots.
void WarpForm::placePhiStores() {
  SmallVector<BasicBlock *> blocks(warpBlocks.begin(), warpBlocks.end());
  for (BasicBlock *block : blocks)
    for (PHINode &phi : block->phis())
      if (!divergence.isUniform(&phi)) {
        slots[&phi] = makeSlot(phi.getType(), "phi");
        storedPhis.push_back(&phi);
      }
  for (PHINode *phi : storedPhis)
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      Value *value = phi->getIncomingValue(i);
      if (isa<UndefValue>(value) || value == phi)
        continue;
      BasicBlock *from = phi->getIncomingBlock(i), *to = phi->getParent();
      Unit *unit = unitOfBlock.lookup(from);
      bool isCritical = from->getTerminator()->getNumSuccessors() > 1;
      if (isCritical && (unit || leavesLive(*phi, from, to))) {
        BasicBlock *edge = SplitEdge(from, to);
        if (unit) {
          unit->body.push_back(edge);
          unitOfBlock[edge] = unit;
        } else {
          warpBlocks.insert(edge);
        }
        from = edge;
      }
      storeAtEnd(value, slots[phi], from);
    }
}

/// What a collective reads of other lanes is put into a slot before it.
void WarpForm::lowerCollectives() {
  SmallVector<CallInst *> calls;
  for (BasicBlock *block : warpBlocks)
    for (Instruction &instruction : *block)
      if (collective(instruction))
        calls.push_back(cast<CallInst>(&instruction));
  for (CallInst *call : calls) {
    size_t engine = *engineFunction(*call);
    if (engine == offsetof(CameoSimApi, shuffle))
      lowerShuffle(*call);
    else if (engine == offsetof(CameoSimApi, vote))
      lowerVote(*call);
    else if (engine == offsetof(CameoSimApi, blocking_instruction) && !isMbarrierWait(*call))
      lowerInstruction(*call);
  }
}

/// Stores `value` for each lane before `call`, in a block of its own after it.
AllocaInst *WarpForm::publish(CallInst &call, Value *value) {
  AllocaInst *slot = makeSlot(value->getType(), "shared");
  LanesBuilder builder(divergence, call.getParent()->getSinglePredecessor()->getTerminator());
  storeRow(builder, value, slot, &lane);
  return slot;
}

/// PTX ISA, shfl.sync: reads of rows, with all lanes there.
void WarpForm::lowerShuffle(CallInst &call) {
  AllocaInst *slot = publish(call, call.getArgOperand(3));
  Value *b = call.getArgOperand(4), *c = call.getArgOperand(5);
  // After the call's block, so that all lanes have stored.
  BasicBlock *after = call.getParent()->getSingleSuccessor();
  LanesBuilder builder(divergence, &*after->getFirstInsertionPt());
  Value *low = builder.getInt32(31);
  Value *offset = builder.CreateAnd(b, low), *clamp = builder.CreateAnd(c, low);
  Value *segment = builder.CreateAnd(builder.CreateLShr(c, 8), low);
  Value *base = builder.CreateAnd(&lane, segment);
  Value *bound = builder.CreateOr(base, builder.CreateAnd(clamp, builder.CreateNot(segment)));
  Value *source = nullptr;
  auto kind = CameoSimShuffle(cast<ConstantInt>(call.getArgOperand(1))->getZExtValue());
  switch (kind) {
  case CAMEO_SIM_SHFL_UP:
    source = builder.CreateSub(&lane, offset);
    break;
  case CAMEO_SIM_SHFL_DOWN:
    source = builder.CreateAdd(&lane, offset);
    break;
  case CAMEO_SIM_SHFL_BFLY:
    source = builder.CreateXor(&lane, offset);
    break;
  case CAMEO_SIM_SHFL_IDX:
    source = builder.CreateOr(base, builder.CreateAnd(offset, builder.CreateNot(segment)));
    break;
  }
  Value *inRange = kind == CAMEO_SIM_SHFL_UP ? builder.CreateICmpSGE(source, bound)
                                             : builder.CreateICmpSLE(source, bound);
  source = builder.CreateSelect(inRange, source, &lane);
  Value *place = builder.CreateInBoundsGEP(
      i32, slot, builder.CreateZExt(source, builder.getInt64Ty(), "", /*IsNonNeg=*/true));
  Value *value = builder.CreateZExt(builder.CreateLoad(i32, place), builder.getInt64Ty());
  Value *predicate = builder.CreateShl(builder.CreateZExt(inRange, builder.getInt64Ty()), 32);
  value = builder.CreateOr(value, predicate);
  call.replaceAllUsesWith(value);
  call.eraseFromParent();
}

/// PTX ISA, vote.sync, with all lanes there.
void WarpForm::lowerVote(CallInst &call) {
  LanesBuilder before(divergence, call.getParent()->getSinglePredecessor()->getTerminator());
  Value *predicate = before.CreateICmpNE(call.getArgOperand(3), before.getInt32(0));
  AllocaInst *slot = publish(call, predicate);
  IRBuilder<> builder(&call);
  auto *bytes = FixedVectorType::get(builder.getInt8Ty(), kWarpLanes);
  Value *set = builder.CreateICmpNE(builder.CreateAlignedLoad(bytes, slot, slot->getAlign()),
                                    Constant::getNullValue(bytes));
  Value *ballot = builder.CreateBitCast(set, i32);
  Value *all = builder.CreateICmpEQ(ballot, builder.getInt32(~0u));
  Value *none = builder.CreateICmpEQ(ballot, builder.getInt32(0));
  Value *result = ballot;
  switch (CameoSimVote(cast<ConstantInt>(call.getArgOperand(1))->getZExtValue())) {
  case CAMEO_SIM_VOTE_ANY:
    result = builder.CreateZExt(builder.CreateNot(none), i32);
    break;
  case CAMEO_SIM_VOTE_ALL:
    result = builder.CreateZExt(all, i32);
    break;
  case CAMEO_SIM_VOTE_UNI:
    result = builder.CreateZExt(builder.CreateOr(all, none), i32);
    break;
  case CAMEO_SIM_VOTE_BALLOT:
    break;
  }
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

Value *WarpForm::engineEntry(size_t offset) {
  IRBuilder<> builder(&lane);
  auto load = [&](Value *base, size_t at) {
    LoadInst *value = builder.CreateLoad(builder.getPtrTy(),
                                         builder.CreateConstGEP1_64(builder.getInt8Ty(), base, at));
    value->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
    return value;
  };
  return load(load(function.getArg(0), offsetof(CameoSimThread, api)), offset);
}

void WarpForm::lowerInstruction(CallInst &call) {
  IRBuilder<> builder(&call);
  Value *words = call.getArgOperand(3);
  auto *rows = cast<AllocaInst>(words->stripPointerCasts());
  uint64_t count = cast<ArrayType>(rows->getAllocatedType())->getNumElements() / kWarpLanes;
  auto *type = FunctionType::get(
      builder.getVoidTy(), {builder.getPtrTy(), builder.getInt64Ty(), builder.getPtrTy(), i32, i32},
      false);
  builder.CreateCall(type, engineEntry(offsetof(CameoSimApi, warp_instruction)),
                     {function.getArg(0), call.getArgOperand(1), words, builder.getInt32(count),
                      call.getArgOperand(4)});
  call.eraseFromParent();
}

/// Whether `value` is a small tree over what the whole warp has in common.
bool WarpForm::isRecomputed(Value *value, unsigned &budget) {
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

AllocaInst *WarpForm::slotOf(Value *value) {
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

/// `value`, used in `unit`, for the lane whose turn it is.
Value *WarpForm::inUnit(Value *value, Unit &unit) {
  if (!isPerLane(value))
    return value;
  if (value == &lane)
    return unit.lane;
  auto *instruction = cast<Instruction>(value);
  bool isStoredPhi = unitOf(instruction) == nullptr;
  if (!isStoredPhi && unitOf(instruction) == &unit)
    return value;
  if (Value *known = unit.here.lookup(value))
    return known;
  unsigned budget = kMaxRecomputed;
  Value *result = nullptr;
  if (isRecomputed(value, budget)) {
    SmallVector<Value *> operands;
    for (Value *operand : instruction->operands())
      operands.push_back(inUnit(operand, unit));
    Instruction *copy = instruction->clone();
    for (unsigned i = 0; i < operands.size(); ++i)
      copy->setOperand(i, operands[i]);
    copy->insertBefore(unit.header->getTerminator());
    result = copy;
  } else {
    IRBuilder<> builder(unit.header->getTerminator());
    result = loadRow(builder, slotOf(value), unit.lane, value->getType());
  }
  unit.here[value] = result;
  return result;
}

/// `value` of the first lane: of all lanes, if it comes to that.
Value *WarpForm::forFirstLane(Value *value, Instruction *before) {
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

void WarpForm::makeLoop(Unit &unit) {
  unit.header = BasicBlock::Create(context, "lanes", &function, unit.entry);
  auto *latch = BasicBlock::Create(context, "next.lane", &function, unit.exit);
  SmallPtrSet<BasicBlock *, 16> body(unit.body.begin(), unit.body.end());
  unit.preheader->getTerminator()->replaceSuccessorWith(unit.entry, unit.header);
  unit.entry->replacePhiUsesWith(unit.preheader, unit.header);
  for (BasicBlock *block : unit.body)
    block->getTerminator()->replaceSuccessorWith(unit.exit, latch);

  IRBuilder<> builder(unit.header);
  unit.lane = builder.CreatePHI(i32, 2);
  builder.CreateBr(unit.entry);
  builder.SetInsertPoint(latch);
  Value *next = builder.CreateAdd(unit.lane, builder.getInt32(1), "", true, true);
  auto *branch = builder.CreateCondBr(builder.CreateICmpEQ(next, builder.getInt32(kWarpLanes)),
                                      unit.exit, unit.header);
  unit.lane->addIncoming(builder.getInt32(0), unit.preheader);
  unit.lane->addIncoming(next, latch);

  // Lanes do not depend on each other between two collectives.
  MDNode *group = MDNode::getDistinct(context, {});
  auto text = [&](const char *name) { return MDString::get(context, name); };
  SmallVector<Metadata *> properties{
      nullptr, MDNode::get(context, {text("llvm.loop.parallel_accesses"), group}),
      MDNode::get(context, {text("llvm.loop.unroll.disable")})};
  MDNode *loop = MDNode::getDistinct(context, properties);
  loop->replaceOperandWith(0, loop);
  branch->setMetadata(LLVMContext::MD_loop, loop);
  unit.accesses = group;
}

/// Gives the unit's code its values.
void WarpForm::connect(Unit &unit) {
  for (BasicBlock *block : unit.body)
    for (Instruction &instruction : *block)
      for (Use &use : instruction.operands())
        if (Value *value = inUnit(use.get(), unit); value != use.get())
          replacements.push_back({&use, value});
}

void WarpForm::connectWarpCode() {
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

void WarpForm::finish() {
  for (auto [use, value] : replacements)
    use->set(value);
  for (PHINode *phi : storedPhis)
    phi->replaceAllUsesWith(PoisonValue::get(phi->getType()));
  for (PHINode *phi : storedPhis)
    phi->eraseFromParent();
  for (auto &unit : units) {
    SmallVector<BasicBlock *> blocks(unit->body);
    blocks.push_back(unit->header);
    for (BasicBlock *block : blocks)
      for (Instruction &instruction : *block)
        if (instruction.mayReadOrWriteMemory())
          instruction.setMetadata(LLVMContext::MD_access_group, unit->accesses);
  }
  Function *source = cast<CallInst>(lane).getCalledFunction();
  lane.eraseFromParent();
  if (source->use_empty())
    source->eraseFromParent();
}

} // namespace

Function *cameo::makeWarpForm(Function &thread, const std::array<uint32_t, 3> &block,
                              std::string &problem) {
  Instruction *lane = nullptr;
  Function *function = prepareForWarp(thread, block, lane, problem);
  if (!function)
    return nullptr;
  problem = WarpForm(*function, *lane).run();
  if (problem.empty())
    return function;
  function->eraseFromParent();
  return nullptr;
}
