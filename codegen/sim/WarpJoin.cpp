// Matrix instructions with nothing in between become one call of the engine, which finds the rows that
// they work on in one buffer:
//
//   call blocking_instruction(..., mma, ...) [ "cameo.rows"(%a0, ..., %d3) ]
//   call blocking_instruction(..., mma, ...) [ "cameo.rows"(%a0, ..., %e3) ]
//     ==>
//   call warp_matrices(%thread, %steps, 2, %rows, %places)
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/SimTables.h"
#include "runtime/sim/instructions.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace cameo;

namespace {

constexpr uint64_t kRowBytes = 4 * kWarpLanes;

/// A call with the rows that it works on.
struct RowsCall {
  CallInst *call;
  uint64_t code;
  SmallVector<AllocaInst *> rows;
  unsigned firstSum = 0, sums = 0; // words of the accumulator, which results of as many follow
};

class Joining {
public:
  explicit Joining(Function &function) : function(function) {
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&instruction))
        if (auto bundle = call->getOperandBundle(kMatrixRows))
          add(*call, *bundle);
  }

  bool run();

private:
  void add(CallInst &call, const OperandBundleUse &bundle);
  void layOutRows();
  void emit(ArrayRef<const RowsCall *> run);

  Function &function;
  std::vector<RowsCall> calls;
  MapVector<AllocaInst *, unsigned> places;
  AllocaInst *buffer = nullptr;
};

} // namespace

void Joining::add(CallInst &call, const OperandBundleUse &bundle) {
  RowsCall found{&call, cast<ConstantInt>(call.getArgOperand(1))->getZExtValue(), {}};
  found.sums = cameoSimSums(found.code, &found.firstSum);
  for (const Use &row : bundle.Inputs)
    found.rows.push_back(dyn_cast<AllocaInst>(row.get()));
  calls.push_back(std::move(found));
}

/// Whether `matrix` is given one of `results` for more than a sum.
static bool readsResult(const RowsCall &matrix, const SmallPtrSetImpl<AllocaInst *> &results) {
  for (auto [word, row] : enumerate(matrix.rows))
    if (results.contains(row) && (!matrix.sums || word < matrix.firstSum))
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

/// Lays the rows of all matrix instructions out in one buffer; words that nobody reads share a row.
void Joining::layOutRows() {
  BasicBlock &start = function.getEntryBlock();
  AllocaInst *unused = nullptr;
  for (RowsCall &matrix : calls)
    for (AllocaInst *&row : matrix.rows) {
      if (!row && !unused) {
        IRBuilder<> entry(&*start.getFirstInsertionPt());
        unused = entry.CreateAlloca(ArrayType::get(entry.getInt32Ty(), kWarpLanes));
      }
      if (!row)
        row = unused;
      places.insert({row, unsigned(places.size())});
    }
  IRBuilder<> entry(&start, start.begin());
  auto *type = ArrayType::get(entry.getInt8Ty(), kRowBytes * places.size());
  buffer = entry.CreateAlloca(type, nullptr, "rows");
  buffer->setAlignment(Align(64));
  for (auto [row, place] : places) {
    IRBuilder<> builder(buffer->getNextNode());
    row->replaceAllUsesWith(
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), buffer, kRowBytes * place));
    row->eraseFromParent();
  }
}

bool Joining::run() {
  if (calls.empty())
    return false;
  layOutRows();
  DenseMap<const CallInst *, const RowsCall *> known;
  for (RowsCall &matrix : calls)
    known[matrix.call] = &matrix;
  SmallPtrSet<const RowsCall *, 16> followers;
  auto following = [&](const RowsCall &matrix) {
    const CallInst *next = nextCall(*matrix.call);
    return next ? known.lookup(next) : nullptr;
  };
  for (RowsCall &matrix : calls)
    if (const RowsCall *next = following(matrix))
      followers.insert(next);
  std::vector<SmallVector<const RowsCall *>> runs;
  for (RowsCall &matrix : calls) {
    if (followers.contains(&matrix))
      continue;
    SmallPtrSet<AllocaInst *, 16> results;
    runs.emplace_back();
    for (const RowsCall *next = &matrix; next; next = following(*next)) {
      if (readsResult(*next, results)) {
        runs.emplace_back();
        results.clear();
      }
      runs.back().push_back(next);
      // Of other instructions than sums, all that they have may be results.
      for (AllocaInst *row : ArrayRef(next->rows).drop_front(next->firstSum))
        results.insert(row);
    }
  }
  for (ArrayRef<const RowsCall *> run : runs)
    emit(run);
  return true;
}

void Joining::emit(ArrayRef<const RowsCall *> run) {
  SimTables tables(*function.getParent());
  SmallVector<Constant *> steps;
  SmallVector<uint32_t> rows;
  for (const RowsCall *matrix : run) {
    steps.push_back(tables.row(SimStepRow{
        /*code_low=*/matrix->code,
        /*code_high=*/matrix->code >> 32,
        /*site=*/cast<ConstantInt>(matrix->call->getArgOperand(4))->getZExtValue(),
        /*first=*/rows.size(),
    }));
    for (AllocaInst *row : matrix->rows)
      rows.push_back(places.find(row)->second);
  }
  IRBuilder<> builder(run.front()->call);
  IRBuilder<> entry(buffer->getNextNode());
  EngineFunction engine = CAMEO_SIM_ENGINE(warp_matrices);
  callEngine(builder, engineEntry(entry, engine), engine,
             {function.getArg(0), tables.table(steps, "steps"), builder.getInt32(steps.size()),
              buffer, tables.words(rows, "places")});
  for (const RowsCall *matrix : run)
    matrix->call->eraseFromParent();
}

bool JoinMatricesPass::rewrite(Function &function, FunctionAnalysisManager &) {
  return Joining(function).run();
}
