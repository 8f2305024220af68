// Matrix instructions work where their operands and results lie, row by row: between lane loops
// each word that lanes keep is a row of 32. Accumulators become results in place.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/WarpRewriter.h"
#include "codegen/sim/WarpWords.h"

#include "runtime/sim/instructions.h"

#include "llvm/IR/CFG.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace cameo;
using namespace cameo::warp;

/// The word of `rows` that a lane's `pointer` is, as SpreadLanesPass has them.
static std::optional<unsigned> rowIndex(const Value *pointer, const AllocaInst *rows) {
  auto *gep = dyn_cast<GetElementPtrInst>(pointer);
  if (!gep || gep->getPointerOperand() != rows || gep->getNumIndices() != 1)
    return std::nullopt;
  auto *add = dyn_cast<BinaryOperator>(gep->getOperand(1));
  auto *offset = add ? dyn_cast<ConstantInt>(add->getOperand(1)) : nullptr;
  if (!add || add->getOpcode() != Instruction::Add || !offset ||
      offset->getZExtValue() % kWarpLanes)
    return std::nullopt;
  return unsigned(offset->getZExtValue() / kWarpLanes);
}

/// What `value` is the bits of: 32 of them.
static Value *stripCasts(Value *value) {
  while (auto *cast = dyn_cast<BitCastInst>(value)) {
    if (cast->getSrcTy()->getPrimitiveSizeInBits() != 32)
      break;
    value = cast->getOperand(0);
  }
  return value;
}

/// What the word that `load` reads is taken for.
static Type *typeOfUses(const LoadInst &load) {
  for (const User *user : load.users())
    if (isa<BitCastInst>(user) && user->getType()->getPrimitiveSizeInBits() == 32)
      return user->getType();
  return load.getType();
}

/// Whether all that is read of `rows` is read right behind a collective that has left it there.
static bool isReadAtOnce(const AllocaInst *rows) {
  return all_of(rows->users(), [&](const User *user) {
    if (isa<CallInst>(user))
      return true;
    auto *gep = dyn_cast<GetElementPtrInst>(user);
    return gep && rowIndex(gep, rows) && all_of(gep->users(), [&](const User *access) {
             auto *load = dyn_cast<LoadInst>(access);
             if (!load)
               return isa<StoreInst>(access);
             const BasicBlock *before = load->getParent()->getSinglePredecessor();
             auto *call = before ? dyn_cast<CallInst>(&before->front()) : nullptr;
             if (!call || !is_contained(call->args(), rows))
               return false;
             for (const Instruction *at = load->getPrevNode(); at; at = at->getPrevNode())
               if (auto *store = dyn_cast<StoreInst>(at);
                   store && rowIndex(store->getPointerOperand(), rows) == rowIndex(gep, rows))
                 return false;
             return true;
           });
  });
}

/// The row that holds `value`, of 32 bits, for all lanes; null if there is none.
AllocaInst *Rewriter::rowOf(Value *value) {
  value = stripCasts(value);
  AllocaInst *slot = slots.lookup(value);
  auto *phi = dyn_cast<PHINode>(value);
  if (!slot && phi && warpBlocks.contains(phi->getParent()) && !divergence.isUniform(phi) &&
      phi->getType()->getPrimitiveSizeInBits() == 32)
    slot = slots[phi] = makeSlot(phi->getType(), "phi");
  auto *result = dyn_cast<Instruction>(value);
  if (!slot || (!phi && !storedResults.contains(result)))
    return nullptr;
  auto *array = cast<ArrayType>(slot->getAllocatedType());
  return array->getElementType()->getPrimitiveSizeInBits() == 32 ? slot : nullptr;
}

/// Whether nothing needs `value` once `call` has read it.
bool Rewriter::diesAt(Value *value, const CallInst &call) {
  for (; stripCasts(value) != value; value = cast<Instruction>(value)->getOperand(0))
    if (!value->hasOneUse())
      return false;
  if (!value->hasOneUse())
    return false;
  // Nor another round of a loop in which the value is not made anew.
  const BasicBlock *made = cast<Instruction>(value)->getParent(), *used = call.getParent();
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<const BasicBlock *> work(successors(used));
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (block == made || !seen.insert(block).second)
      continue;
    if (block == used)
      return false;
    work.append(succ_begin(block), succ_end(block));
  }
  return true;
}

/// Words a lane that an instruction is given.
static unsigned operandWords(uint64_t code) {
  switch (code & 0xff) {
  case CAMEO_SIM_OP_LDMATRIX:
    return 2;
  case CAMEO_SIM_OP_STMATRIX:
    return 2 + (code >> 8 & 0xff);
  default:
    unsigned first, sums = cameoSimSums(code, &first);
    return first + sums;
  }
}

/// What lanes store in each word of `rows` between the collective before and the end of `block`;
/// copies do not count.
static DenseMap<unsigned, StoreInst *> operandStores(BasicBlock *block, const AllocaInst *rows) {
  DenseMap<unsigned, StoreInst *> operands;
  while (block) {
    for (Instruction &instruction : reverse(*block))
      if (auto *store = dyn_cast<StoreInst>(&instruction))
        if (auto word = rowIndex(store->getPointerOperand(), rows))
          operands.insert({*word, store});
    BasicBlock *between = block->getSinglePredecessor();
    auto *call = between ? dyn_cast<CallInst>(&between->front()) : nullptr;
    if (!call || engineFunction(*call) != offsetof(CameoSimApi, warp_copies))
      break;
    block = between->getSinglePredecessor();
  }
  return operands;
}

/// Lets `call`, in a block of its own, work on rows; false where it is not seen what they are.
bool Rewriter::lowerMatrix(CallInst &call) {
  auto *rows = dyn_cast<AllocaInst>(call.getArgOperand(3)->stripPointerCasts());
  BasicBlock *before = call.getParent()->getSinglePredecessor();
  BasicBlock *after = call.getParent()->getSingleSuccessor();
  if (!isMatrixInstruction(call) || !rows || !before || !after || !isReadAtOnce(rows))
    return false;
  uint64_t code = cast<ConstantInt>(call.getArgOperand(1))->getZExtValue();
  uint64_t words = cast<ArrayType>(rows->getAllocatedType())->getNumElements() / kWarpLanes;
  MatrixCall matrix{&call, SmallVector<AllocaInst *>(words, nullptr)};
  matrix.sums = cameoSimSums(code, &matrix.firstSum);

  DenseMap<unsigned, StoreInst *> operands = operandStores(before, rows);
  for (unsigned word = 0; word < operandWords(code); ++word)
    if (!operands.count(word))
      return false;
  SmallVector<bool> dying(words, false);
  for (unsigned word = 0; word < words; ++word) {
    StoreInst *store = operands.lookup(word);
    if (!store)
      continue;
    Value *pointer = store->getPointerOperand(), *value = store->getValueOperand();
    matrix.places[word] = rowOf(value);
    if (matrix.places[word]) {
      dying[word] = diesAt(value, call);
      store->eraseFromParent();
      while (isa<BitCastInst>(value) && value->use_empty()) {
        auto *cast = llvm::cast<Instruction>(value);
        value = cast->getOperand(0);
        cast->eraseFromParent();
      }
    } else {
      while (operandRows.size() <= word)
        operandRows.push_back(makeSlot(i32, "operand"));
      matrix.places[word] = operandRows[word];
      LanesBuilder builder(divergence, store);
      storeRow(builder, value, operandRows[word], &lane);
      store->eraseFromParent();
    }
    RecursivelyDeleteTriviallyDeadInstructions(pointer);
  }

  SmallVector<std::pair<LoadInst *, unsigned>> results;
  for (Instruction &instruction : *after)
    if (auto *load = dyn_cast<LoadInst>(&instruction))
      if (auto word = rowIndex(load->getPointerOperand(), rows))
        results.push_back({load, *word});
  DenseMap<unsigned, Instruction *> made;
  for (auto [load, word] : results) {
    Instruction *&result = made[word];
    if (!result) {
      unsigned sum = word - matrix.sums;
      bool inPlace = matrix.sums && word >= matrix.firstSum + matrix.sums && dying[sum];
      AllocaInst *row = inPlace ? matrix.places[sum] : makeSlot(i32, "result");
      if (inPlace)
        sumRows.insert(row);
      // What lanes read of the row, once it is known where.
      LanesBuilder builder(divergence, call.getNextNode());
      result = builder.CreateLoad(typeOfUses(*load), row);
      slots[result] = row;
      storedResults.insert(result);
      matrix.places[word] = row;
    }
    Value *pointer = load->getPointerOperand();
    for (User *user : make_early_inc_range(load->users()))
      if (user->getType() == result->getType() && isa<BitCastInst>(user)) {
        user->replaceAllUsesWith(result);
        cast<Instruction>(user)->eraseFromParent();
      }
    LanesBuilder builder(divergence, load);
    if (!load->use_empty())
      load->replaceAllUsesWith(builder.CreateBitCast(result, load->getType()));
    load->eraseFromParent();
    RecursivelyDeleteTriviallyDeadInstructions(pointer);
  }
  matrixCalls.push_back(std::move(matrix));
  return true;
}

/// Says on each call of a matrix instruction which rows it works on.
void Rewriter::nameRows() {
  for (const MatrixCall &matrix : matrixCalls) {
    SmallVector<Value *> rows;
    for (AllocaInst *row : matrix.places)
      rows.push_back(row ? cast<Value>(row)
                         : ConstantPointerNull::get(PointerType::getUnqual(context)));
    CallInst::Create(matrix.call, OperandBundleDef(kMatrixRows.str(), rows),
                     matrix.call->getIterator());
    matrix.call->eraseFromParent();
  }
}
