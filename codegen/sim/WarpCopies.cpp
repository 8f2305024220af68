// cp.async of a warp: where all lanes come by each of a kernel's copies, commits and waits, lanes
// leave what they copy in rows, and one call of the engine follows for all of them.
//
//   for each lane { ...; instruction(%lane's, cp.async, %words); ... }
//     ==>
//   for each lane { ...; targets[lane] = ...; sources[lane] = ...; ... }
//   warp_copies(%thread, %steps, count, %copies)
//
// Copies wait for each other, and for what lanes compute, but for no access of memory that a copy
// may fill: one without a wait before it is to find that there is no value.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/SimTables.h"
#include "codegen/sim/WarpPrepare.h"
#include "runtime/sim/instructions.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace cameo;

namespace {

/// A thread's instruction of cp.async.
struct CopyStep {
  CallInst *call;
  uint64_t code;
  StoreInst *target = nullptr, *source = nullptr, *size = nullptr; // of its operands
  bool copies() const { return (code & 0xff) == CAMEO_SIM_OP_CP_ASYNC; }
  bool waits() const { return (code & 0xff) == CAMEO_SIM_OP_CP_WAIT; }
};

/// The code of a thread's own instruction, or that of none.
uint64_t ownCode(const CallInst &call) {
  if (engineFunction(call) != offsetof(CameoSimApi, instruction))
    return CAMEO_SIM_OP_NONE;
  auto *code = dyn_cast<ConstantInt>(call.getArgOperand(1));
  return code ? code->getZExtValue() : CAMEO_SIM_OP_NONE;
}

bool isCopyStep(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  uint64_t opcode = call ? ownCode(*call) & 0xff : CAMEO_SIM_OP_NONE;
  return opcode == CAMEO_SIM_OP_CP_ASYNC || opcode == CAMEO_SIM_OP_CP_COMMIT;
}

/// The last store before `step`'s call, in its block, of what is `offset` bytes behind its words.
StoreInst *operandStore(const CopyStep &step, int64_t offset, const DataLayout &layout) {
  int64_t wordsOffset = 0;
  const Value *words =
      GetPointerBaseWithConstantOffset(step.call->getArgOperand(2), wordsOffset, layout);
  for (Instruction *at = step.call->getPrevNode(); at; at = at->getPrevNode()) {
    if (isa<CallInst>(at) && at->mayWriteToMemory())
      return nullptr;
    auto *store = dyn_cast<StoreInst>(at);
    int64_t storeOffset = 0;
    if (store && store->isSimple() &&
        GetPointerBaseWithConstantOffset(store->getPointerOperand(), storeOffset, layout) ==
            words &&
        storeOffset == wordsOffset + offset)
      return store;
  }
  return nullptr;
}

/// Finds the operands; false if they are not as LowerSimInstructions leaves them.
bool findOperands(CopyStep &step, const DataLayout &layout) {
  if (!step.copies())
    return true;
  step.target = operandStore(step, 0, layout);
  step.source = operandStore(step, 8, layout);
  bool hasSize = step.code >> 16 & 0xff;
  step.size = hasSize ? operandStore(step, 16, layout) : nullptr;
  auto holds = [](const StoreInst *store, unsigned bits) {
    return store && store->getValueOperand()->getType()->isIntegerTy(bits);
  };
  return holds(step.target, 64) && holds(step.source, 64) && (!hasSize || holds(step.size, 32));
}

} // namespace

/// Whether `instruction` may access shared memory, or lets others do so.
static bool mayTouchCopies(const Instruction &instruction, const Function &function) {
  if (!instruction.mayReadOrWriteMemory() ||
      instruction.hasMetadata(LLVMContext::MD_invariant_load))
    return false;
  const Value *pointer = getLoadStorePointerOperand(&instruction);
  if (!pointer)
    return !isCopyStep(instruction);
  // A thread's own variable, or what the kernel was given a pointer to.
  const Value *object = getUnderlyingObject(pointer);
  auto *value = dyn_cast<LoadInst>(object);
  auto *parameter =
      value ? dyn_cast<LoadInst>(getUnderlyingObject(value->getPointerOperand())) : nullptr;
  return !isa<AllocaInst>(object) &&
         !(parameter && getUnderlyingObject(parameter->getPointerOperand()) == function.getArg(1));
}

/// Copies of the whole warp that end in one call: those of a block up to a wait, or up to what
/// `stops` them.
static std::vector<std::vector<CopyStep>>
splitIntoRuns(ArrayRef<CopyStep> steps, function_ref<bool(const Instruction &)> stops) {
  std::vector<std::vector<CopyStep>> runs;
  for (const CopyStep &step : steps) {
    bool joins = !runs.empty() && !runs.back().back().waits() &&
                 runs.back().back().call->getParent() == step.call->getParent();
    for (Instruction *at = step.call->getPrevNode(); joins && at != runs.back().back().call;
         at = at->getPrevNode())
      joins = !stops(*at);
    if (!joins)
      runs.emplace_back();
    runs.back().push_back(step);
  }
  return runs;
}

/// Where the call for `run` goes: behind all that lanes do until they meet, or where they wait.
static Instruction *endOfRun(ArrayRef<CopyStep> run,
                             function_ref<bool(const Instruction &)> stops) {
  Instruction *at = run.back().call;
  if (run.back().waits())
    return at;
  do
    at = at->getNextNode();
  while (!at->isTerminator() && !stops(*at));
  return at;
}

bool GatherCopiesPass::rewrite(Function &function, FunctionAnalysisManager &analyses) {
  Instruction *lane = laneOf(function);
  if (!lane)
    return false;
  const auto &divergence = analyses.getResult<DivergenceAnalysis>(function);
  const DataLayout &layout = function.getParent()->getDataLayout();
  std::vector<CopyStep> steps;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallInst>(&instruction);
    uint64_t code = call ? ownCode(*call) : CAMEO_SIM_OP_NONE;
    switch (code & 0xff) {
    case CAMEO_SIM_OP_CP_MBARRIER:
      return false; // of a thread's copies
    case CAMEO_SIM_OP_CP_ASYNC:
    case CAMEO_SIM_OP_CP_COMMIT:
    case CAMEO_SIM_OP_CP_WAIT:
      steps.push_back({call, code});
      if (divergence.isInDivergentRegion(call->getParent()) || !findOperands(steps.back(), layout))
        return false;
      break;
    default:
      break;
    }
  }
  if (steps.empty())
    return false;
  auto stops = [&](const Instruction &instruction) {
    return warpCollective(instruction) || mayTouchCopies(instruction, function);
  };
  auto runs = splitIntoRuns(steps, stops);
  size_t most = 1;
  for (ArrayRef<CopyStep> run : runs)
    most = std::max(most, size_t(count_if(run, [](const CopyStep &s) { return s.copies(); })));
  IRBuilder<> entry(lane);
  AllocaInst *copies = entry.CreateAlloca(
      ArrayType::get(entry.getInt8Ty(), most * sizeof(CameoSimWarpCopy)), nullptr, "copies");
  copies->setAlignment(Align(64));
  EngineFunction engine = CAMEO_SIM_ENGINE(warp_copies);
  Value *callee = engineEntry(entry, engine);
  SimTables tables(*function.getParent());
  for (ArrayRef<CopyStep> run : runs) {
    Instruction *end = endOfRun(run, stops);
    SmallVector<Constant *> rows;
    uint64_t place = 0;
    for (const CopyStep &step : run) {
      auto keep = [&](StoreInst *store, size_t offset, unsigned bytes) {
        IRBuilder<> builder(store);
        Value *index = builder.CreateZExt(lane, builder.getInt64Ty());
        Value *first =
            builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copies, place + offset);
        builder.CreateStore(store->getValueOperand(),
                            builder.CreateInBoundsGEP(builder.getIntNTy(8 * bytes), first, index));
      };
      if (step.copies()) {
        keep(step.target, offsetof(CameoSimWarpCopy, targets), 8);
        keep(step.source, offsetof(CameoSimWarpCopy, sources), 8);
        if (step.size)
          keep(step.size, offsetof(CameoSimWarpCopy, sizes), 4);
        place += sizeof(CameoSimWarpCopy);
      }
      rows.push_back(tables.row(SimStepRow{
          /*code_low=*/step.code,
          /*code_high=*/step.code >> 32,
          /*site=*/cast<ConstantInt>(step.call->getArgOperand(3))->getZExtValue(),
          /*first=*/0,
      }));
    }
    IRBuilder<> builder(end);
    callEngine(
        builder, callee, engine,
        {function.getArg(0), tables.table(rows, "copies"), builder.getInt32(rows.size()), copies});
  }
  for (CopyStep &step : steps) {
    step.call->eraseFromParent();
    for (StoreInst *store : {step.target, step.source, step.size})
      if (store)
        store->eraseFromParent();
  }
  return true;
}
