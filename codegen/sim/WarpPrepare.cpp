// Everything that differs between lanes becomes an expression of the lane's number.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpPrepare.h"

#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/WarpWords.h"
#include "runtime/sim/instructions.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace cameo;

namespace {

constexpr unsigned kWordBytes = 4;

constexpr StringLiteral kLane = "cameo.lane";

/// Whether lanes that wait with `buffer` do so each for itself.
bool isApart(const Value &buffer) {
  auto *variable = dyn_cast<AllocaInst>(buffer.stripPointerCasts());
  return variable && variable->hasMetadata(kOwnWaits);
}

class Preparation {
public:
  Preparation(Function &function, const std::array<uint32_t, 3> &block)
      : function(function), block(block), layout(function.getParent()->getDataLayout()),
        i32(Type::getInt32Ty(function.getContext())), i64(Type::getInt64Ty(function.getContext())) {
  }

  std::string run() {
    dropMarkers();
    IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
    FunctionCallee source = function.getParent()->getOrInsertFunction(
        kLane, FunctionType::get(i32, /*isVarArg=*/false));
    auto *declaration = cast<Function>(source.getCallee());
    declaration->setDoesNotAccessMemory();
    declaration->setDoesNotThrow();
    // Not said to return, or it would be gone where nothing depends on it.
    declaration->addFnAttr(Attribute::Convergent);
    lane = entry.CreateCall(source);
    replaceIndices(entry);
    replaceThreads(entry);
    for (AllocaInst *variable : variables())
      if (std::string problem = spread(*variable); !problem.empty())
        return problem;
    return {};
  }

private:
  void dropMarkers();
  void replaceIndices(IRBuilder<> &builder);
  void replaceThreads(IRBuilder<> &builder);
  SmallVector<AllocaInst *> variables();
  std::string spread(AllocaInst &variable);
  std::string spreadWords(AllocaInst &buffer);

  Value *contextWord(IRBuilder<> &builder, size_t offset, Type *type) {
    Value *place = builder.CreateConstGEP1_64(builder.getInt8Ty(), function.getArg(0), offset);
    LoadInst *value = builder.CreateLoad(type, place);
    value->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(function.getContext(), {}));
    return value;
  }

  Function &function;
  const std::array<uint32_t, 3> &block;
  const DataLayout &layout;
  Type *i32, *i64;
  CallInst *lane = nullptr;
};

/// What helps only optimisations that are over, and would look like an effect; and counts, which
/// the scalar form is for.
void Preparation::dropMarkers() {
  auto counts = [&](const StoreInst &store) {
    auto *table = dyn_cast<LoadInst>(getUnderlyingObject(store.getPointerOperand()));
    return table && contextField(*table) == offsetof(CameoSimThread, executions);
  };
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction);
        call && call->isAssumeLikeIntrinsic() && call->use_empty())
      call->eraseFromParent();
    else if (auto *store = dyn_cast<StoreInst>(&instruction); store && counts(*store)) {
      Value *count = store->getValueOperand();
      store->eraseFromParent();
      RecursivelyDeleteTriviallyDeadInstructions(count);
    }
  }
}

/// Thread indices from the warp's number, which is the first lane's, and the lane's.
void Preparation::replaceIndices(IRBuilder<> &builder) {
  SmallVector<std::pair<LoadInst *, size_t>> loads;
  for (Instruction &instruction : instructions(function))
    if (auto *load = dyn_cast<LoadInst>(&instruction))
      if (auto field = contextField(*load))
        loads.push_back({load, *field});
  uint32_t threads = block[0] * block[1] * block[2];
  auto *warp = cast<LoadInst>(contextWord(builder, offsetof(CameoSimThread, warp), i32));
  MDBuilder ranges(function.getContext());
  warp->setMetadata(LLVMContext::MD_range,
                    ranges.createRange(APInt(32, 0), APInt(32, threads / kWarpLanes)));
  Value *linear =
      builder.CreateAdd(builder.CreateShl(warp, 5, "", /*HasNUW=*/true, /*HasNSW=*/true), lane, "",
                        /*HasNUW=*/true, /*HasNSW=*/true);
  auto index = [&](unsigned dimension) {
    Value *value = linear;
    uint32_t below = 1;
    for (unsigned i = 0; i < dimension; ++i)
      below *= block[i];
    if (below > 1)
      value = builder.CreateUDiv(value, builder.getInt32(below));
    return below * block[dimension] == threads
               ? value
               : builder.CreateURem(value, builder.getInt32(block[dimension]));
  };
  constexpr size_t kTid = offsetof(CameoSimThread, tid), kNtid = offsetof(CameoSimThread, ntid);
  for (auto [load, field] : loads) {
    Value *value = nullptr;
    if (field >= kTid && field < kTid + 12)
      value = index((field - kTid) / 4);
    else if (field >= kNtid && field < kNtid + 12)
      value = builder.getInt32(block[(field - kNtid) / 4]);
    else if (field == offsetof(CameoSimThread, lane))
      value = lane;
    else if (field == offsetof(CameoSimThread, warp))
      value = warp;
    if (!value)
      continue;
    if (load == warp || load->getType() != i32)
      continue;
    load->replaceAllUsesWith(value);
    load->eraseFromParent();
  }
}

/// Engine calls that concern one thread are given that one's context.
void Preparation::replaceThreads(IRBuilder<> &builder) {
  Value *own = nullptr;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallInst>(&instruction);
    auto engine = call ? engineFunction(*call) : std::nullopt;
    if (!engine || call->arg_empty() || call->getArgOperand(0) != function.getArg(0))
      continue;
    bool waitsApart = isMbarrierWait(*call) && isApart(*call->getArgOperand(3));
    if (isCollective(*engine) && !waitsApart)
      continue;
    if (!own) {
      Value *api = contextWord(builder, offsetof(CameoSimThread, api), builder.getPtrTy());
      auto *stride =
          builder.CreateLoad(i32, builder.CreateConstGEP1_64(builder.getInt8Ty(), api,
                                                             offsetof(CameoSimApi, thread_stride)));
      stride->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(function.getContext(), {}));
      own = builder.CreateGEP(
          builder.getInt8Ty(), function.getArg(0),
          builder.CreateMul(builder.CreateZExt(lane, i64), builder.CreateZExt(stride, i64)));
    }
    call->setArgOperand(0, own);
  }
}

SmallVector<AllocaInst *> Preparation::variables() {
  SmallVector<AllocaInst *> result;
  for (Instruction &instruction : instructions(function))
    if (auto *variable = dyn_cast<AllocaInst>(&instruction))
      result.push_back(variable);
  return result;
}

/// One variable a lane; or, of the operands of collective instructions, one row per word.
std::string Preparation::spread(AllocaInst &variable) {
  std::optional<TypeSize> size = variable.getAllocationSize(layout);
  if (!size || size->isScalable() || variable.getParent() != &function.getEntryBlock())
    return "a private variable has no fixed size";
  for (User *user : variable.users()) {
    auto *call = dyn_cast<CallInst>(user);
    if (!call || engineFunction(*call) != offsetof(CameoSimApi, blocking_instruction))
      continue;
    if (!isWait(*call))
      return spreadWords(variable);
    if (!isApart(variable))
      return {};
  }
  IRBuilder<> builder(lane->getNextNode());
  uint64_t bytes = alignTo(*size, variable.getAlign());
  AllocaInst *all = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), bytes * kWarpLanes));
  all->setAlignment(std::max(variable.getAlign(), Align(16)));
  all->moveBefore(lane);
  Value *own = builder.CreateInBoundsGEP(
      builder.getInt8Ty(), all,
      builder.CreateMul(builder.CreateZExt(lane, i64), builder.getInt64(bytes)));
  variable.replaceAllUsesWith(own);
  variable.eraseFromParent();
  return {};
}

/// What takes word `index` out of the vector `vector` has it as `piece`.
void replaceElements(Instruction &vector, unsigned index, IRBuilder<> &builder, Value *piece) {
  auto *type = dyn_cast<FixedVectorType>(vector.getType());
  if (!type || type->getScalarSizeInBits() != 8 * kWordBytes)
    return;
  for (User *user : make_early_inc_range(vector.users())) {
    auto *extract = dyn_cast<ExtractElementInst>(user);
    auto *at = extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
    if (!at || !at->equalsInt(index))
      continue;
    extract->replaceAllUsesWith(builder.CreateBitCast(piece, extract->getType()));
    extract->eraseFromParent();
  }
}

std::string Preparation::spreadWords(AllocaInst &buffer) {
  uint64_t words = buffer.getAllocationSize(layout)->getFixedValue() / kWordBytes;
  IRBuilder<> entry(lane);
  AllocaInst *rows = entry.CreateAlloca(ArrayType::get(i32, words * kWarpLanes));
  rows->setAlignment(Align(32));
  const char *problem = "operands of a collective instruction are not in words";

  // Accesses at constant places, word by word.
  struct Use {
    Value *pointer;
    uint64_t offset;
  };
  SmallVector<Use> work{{&buffer, 0}};
  SmallVector<Instruction *> dead;
  while (!work.empty()) {
    Use use = work.pop_back_val();
    for (User *user : make_early_inc_range(use.pointer->users())) {
      auto *instruction = cast<Instruction>(user);
      if (auto *gep = dyn_cast<GetElementPtrInst>(instruction)) {
        APInt offset(64, use.offset);
        if (!gep->accumulateConstantOffset(layout, offset))
          return problem;
        work.push_back({gep, offset.getZExtValue()});
        dead.push_back(gep);
        continue;
      }
      if (auto *call = dyn_cast<CallInst>(instruction)) {
        if (use.offset != 0 || !engineFunction(*call))
          return problem;
        call->replaceUsesOfWith(use.pointer, rows);
        continue;
      }
      if (!isa<LoadInst, StoreInst>(instruction))
        return problem;
      Type *type = getLoadStoreType(instruction);
      uint64_t bytes = layout.getTypeStoreSize(type);
      if (bytes % kWordBytes || use.offset % kWordBytes || type->isAggregateType())
        return problem;
      unsigned count = bytes / kWordBytes;
      IRBuilder<> builder(instruction);
      auto word = [&](unsigned i) {
        Value *index =
            builder.CreateAdd(builder.CreateZExt(lane, i64),
                              builder.getInt64((use.offset / kWordBytes + i) * kWarpLanes));
        return builder.CreateInBoundsGEP(i32, rows, index);
      };
      Type *pieces = count == 1 ? i32 : FixedVectorType::get(i32, count);
      if (auto *store = dyn_cast<StoreInst>(instruction)) {
        Value *value = store->getValueOperand();
        if (type->isPointerTy())
          value = builder.CreatePtrToInt(value, i64);
        if (count > 1 && !isa<FixedVectorType>(type))
          value = builder.CreateBitCast(value, pieces);
        for (unsigned i = 0; i < count; ++i)
          builder.CreateStore(builder.CreateBitCast(wordOf(builder, value, i), i32), word(i));
      } else {
        Value *value = count == 1 ? nullptr : PoisonValue::get(pieces);
        for (unsigned i = 0; i < count; ++i) {
          Value *piece = builder.CreateLoad(i32, word(i));
          replaceElements(*instruction, i, builder, piece);
          value = count == 1 ? piece : builder.CreateInsertElement(value, piece, i);
        }
        value = type->isPointerTy()
                    ? builder.CreateIntToPtr(builder.CreateBitCast(value, i64), type)
                    : builder.CreateBitCast(value, type);
        instruction->replaceAllUsesWith(value);
      }
      instruction->eraseFromParent();
    }
  }
  for (Instruction *gep : reverse(dead))
    gep->eraseFromParent();
  buffer.eraseFromParent();
  return {};
}

/// The threads of the function's blocks; nothing where that is not known.
std::optional<std::array<uint32_t, 3>> blockOf(const Function &function) {
  SmallVector<StringRef> sizes;
  function.getFnAttribute(kWarpBlockAttr).getValueAsString().split(sizes, ',');
  std::array<uint32_t, 3> block{};
  if (sizes.size() != block.size())
    return std::nullopt;
  for (auto [size, text] : zip(block, sizes))
    if (text.getAsInteger(10, size) || size == 0)
      return std::nullopt;
  return block;
}

/// What LLVM computes on each of several ways to a place, to have it there, is computed there:
/// where lanes take these ways each for itself, it would be unknown that they all have the same.
bool computeBehindJoins(Function &function, const DominatorTree &dominators) {
  bool changed = false;
  for (BasicBlock &block : function)
    for (PHINode &phi : make_early_inc_range(block.phis())) {
      auto *first = dyn_cast<Instruction>(phi.getIncomingValue(0));
      auto isBefore = [&](const Value *operand) {
        auto *instruction = dyn_cast<Instruction>(operand);
        return !instruction || (instruction->getParent() != &block &&
                                dominators.dominates(instruction->getParent(), &block));
      };
      if (!first || !isa<CastInst, GetElementPtrInst, BinaryOperator>(first) ||
          !all_of(first->operands(), isBefore) ||
          !all_of(phi.incoming_values(), [&](const Value *value) {
            auto *other = dyn_cast<Instruction>(value);
            return other && other->isIdenticalTo(first);
          }))
        continue;
      Instruction *copy = first->clone();
      copy->insertBefore(&*block.getFirstInsertionPt());
      phi.replaceAllUsesWith(copy);
      phi.eraseFromParent();
      changed = true;
    }
  return changed;
}

/// The code of an instruction that lanes wait at or execute together; none: another call.
uint64_t blockingCode(const CallInst &call) {
  if (engineFunction(call) != offsetof(CameoSimApi, blocking_instruction))
    return CAMEO_SIM_OP_NONE;
  auto *code = dyn_cast<ConstantInt>(call.getArgOperand(1));
  return code ? code->getZExtValue() : CAMEO_SIM_OP_NONE;
}

} // namespace

bool cameo::isMbarrierWait(const CallInst &call) {
  return (blockingCode(call) & 0xff) == CAMEO_SIM_OP_MBAR_WAIT;
}

bool cameo::isWait(const CallInst &call) {
  return cameoSimFacts(blockingCode(call)) & CAMEO_SIM_BLOCKS;
}

bool cameo::isOwnWait(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  return call && isMbarrierWait(*call) && call->getArgOperand(0) != call->getFunction()->getArg(0);
}

std::optional<size_t> cameo::warpCollective(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  auto engine = call ? engineFunction(*call) : std::nullopt;
  if (engine && isCollective(*engine) && !isOwnWait(instruction))
    return engine;
  return std::nullopt;
}

Instruction *cameo::laneOf(Function &function) {
  const Function *source = function.getParent()->getFunction(kLane);
  if (source)
    for (const User *user : source->users())
      if (auto *call = dyn_cast<CallInst>(user); call && call->getFunction() == &function)
        return const_cast<CallInst *>(call);
  return nullptr;
}

bool ComputeBehindJoinsPass::rewrite(Function &function, FunctionAnalysisManager &analyses) {
  return computeBehindJoins(function, analyses.getResult<DominatorTreeAnalysis>(function));
}

/// Everything in which lanes differ becomes an expression of the lane's number: thread indices, the
/// thread's context, private variables (32 of each), and the operands of collective instructions,
/// which come to lie as rows of 32. Operands of instructions that wait for an mbarrier stay one
/// buffer: the warp waits as one, unless the buffer is marked with kOwnWaits.
bool SpreadLanesPass::rewrite(Function &function, FunctionAnalysisManager &) {
  if (laneOf(function))
    return false;
  auto block = blockOf(function);
  if (!block) {
    setWarpProblem(function, "the block's size is not known");
  } else if (uint64_t((*block)[0]) * (*block)[1] * (*block)[2] % kWarpLanes != 0) {
    setWarpProblem(function, "its blocks are not a whole number of warps");
  } else if (std::string problem = Preparation(function, *block).run(); !problem.empty()) {
    setWarpProblem(function, problem);
  }
  return true;
}
