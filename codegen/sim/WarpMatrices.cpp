// Matrix instructions work where their operands and results lie, row by row: between lane loops
// each word that lanes keep is a row of 32. Accumulators become results in place, and instructions
// with nothing in between are one call of the engine.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimTables.h"
#include "codegen/sim/WarpRewriter.h"
#include "codegen/sim/WarpWords.h"

#include "runtime/sim/instructions.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace cameo;
using namespace cameo::warp;

static constexpr uint64_t kRowBytes = 4 * kWarpLanes;

/// The word of `rows` that a lane's `pointer` is, as prepareForWarp() has them.
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

/// Whether `matrix` is given one of `results` for more than a sum.
static bool readsResult(const MatrixCall &matrix, const SmallPtrSetImpl<AllocaInst *> &results) {
  for (auto [word, place] : enumerate(matrix.places))
    if (results.contains(place) && (!matrix.sums || word < matrix.firstSum))
      return true;
  return false;
}

/// The call that comes after `call`, if there is nothing else before.
static const CallInst *nextCall(const CallInst &call) {
  const Instruction *at = call.getNextNode();
  SmallPtrSet<const BasicBlock *, 8> seen;
  while (at->isTerminator()) {
    const BasicBlock *next = at->getParent()->getSingleSuccessor();
    if (!next || !next->getSinglePredecessor() || !seen.insert(next).second)
      return nullptr;
    at = &next->front();
  }
  return dyn_cast<CallInst>(at);
}

/// Lays the rows of all matrix instructions out in one buffer.
void Rewriter::layOutRows(MapVector<AllocaInst *, unsigned> &places) {
  for (MatrixCall &matrix : matrixCalls)
    for (AllocaInst *&row : matrix.places) {
      if (!row)
        row = unusedRow ? unusedRow : unusedRow = makeSlot(i32, "unused");
      places.insert({row, unsigned(places.size())});
    }
  BasicBlock &start = function.getEntryBlock();
  IRBuilder<> entry(&start, start.begin());
  auto *type = ArrayType::get(entry.getInt8Ty(), kRowBytes * places.size());
  matrixRows = entry.CreateAlloca(type, nullptr, "rows");
  matrixRows->setAlignment(Align(64));
  for (auto [row, place] : places) {
    IRBuilder<> builder(matrixRows->getNextNode());
    row->replaceAllUsesWith(
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), matrixRows, kRowBytes * place));
    row->eraseFromParent();
  }
}

/// Calls of the engine, one for instructions with nothing in between.
void Rewriter::emitMatrices() {
  if (matrixCalls.empty())
    return;
  DenseMap<const Instruction *, size_t> order; // of the code
  for (Instruction &instruction : instructions(function))
    order.insert({&instruction, order.size()});
  llvm::sort(matrixCalls, [&](const MatrixCall &a, const MatrixCall &b) {
    return order.lookup(a.call) < order.lookup(b.call);
  });
  MapVector<AllocaInst *, unsigned> places;
  layOutRows(places);
  DenseMap<const CallInst *, const MatrixCall *> known;
  for (MatrixCall &matrix : matrixCalls)
    known[matrix.call] = &matrix;
  SmallPtrSet<const MatrixCall *, 16> followers;
  auto following = [&](const MatrixCall &matrix) {
    const CallInst *next = nextCall(*matrix.call);
    return next ? known.lookup(next) : nullptr;
  };
  for (MatrixCall &matrix : matrixCalls)
    if (const MatrixCall *next = following(matrix))
      followers.insert(next);
  std::vector<SmallVector<const MatrixCall *>> runs;
  for (MatrixCall &matrix : matrixCalls) {
    if (followers.contains(&matrix))
      continue;
    SmallPtrSet<AllocaInst *, 16> results;
    runs.emplace_back();
    for (const MatrixCall *next = &matrix; next; next = following(*next)) {
      if (readsResult(*next, results)) {
        runs.emplace_back();
        results.clear();
      }
      runs.back().push_back(next);
      // Of other instructions than sums, all that they have may be results.
      for (AllocaInst *row : ArrayRef(next->places).drop_front(next->firstSum))
        results.insert(row);
    }
  }
  for (ArrayRef<const MatrixCall *> run : runs)
    emitRun(run, places);
}

void Rewriter::emitRun(ArrayRef<const MatrixCall *> run,
                       const MapVector<AllocaInst *, unsigned> &places) {
  SimTables tables(*function.getParent());
  SmallVector<Constant *> steps;
  SmallVector<uint32_t> rows;
  for (const MatrixCall *matrix : run) {
    uint64_t code = cast<ConstantInt>(matrix->call->getArgOperand(1))->getZExtValue();
    steps.push_back(tables.row(SimStepRow{
        /*code_low=*/code,
        /*code_high=*/code >> 32,
        /*site=*/cast<ConstantInt>(matrix->call->getArgOperand(4))->getZExtValue(),
        /*first=*/rows.size(),
    }));
    for (AllocaInst *row : matrix->places)
      rows.push_back(places.find(row)->second);
  }
  IRBuilder<> builder(run.front()->call);
  IRBuilder<> entry(matrixRows->getNextNode());
  EngineFunction engine = CAMEO_SIM_ENGINE(warp_matrices);
  callEngine(builder, engineEntry(entry, engine), engine,
             {function.getArg(0), tables.table(steps, "steps"), builder.getInt32(steps.size()),
              matrixRows, tables.words(rows, "places")});
  for (const MatrixCall *matrix : run)
    matrix->call->eraseFromParent();
}
