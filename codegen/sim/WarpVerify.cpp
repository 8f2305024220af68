// Collectives must be reached by the whole warp, and be for all of it; and where a lane waits for itself
// no other lane of its warp may be what it waits for.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/WarpPrepare.h"
#include "runtime/sim/instructions.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"

using namespace llvm;
using namespace cameo;

namespace {
class Verification {
public:
  Verification(Function &function, const Divergence &divergence)
      : function(function), divergence(divergence) {}

  /// Returns why the function cannot be vectorised, or nothing.
  std::string run();

private:
  bool waitsForItself(const CallInst &wait) const;
  bool isForOneLane(const Value *condition, bool value) const;
  bool isSharedBuffer(Value *pointer) const;

  Function &function;
  const Divergence &divergence;
};
} // namespace

/// Whether all lanes store the same into the variable `pointer`.
bool Verification::isSharedBuffer(Value *pointer) const {
  SmallVector<Value *> work{pointer->stripPointerCasts()};
  while (!work.empty())
    for (User *user : work.pop_back_val()->users()) {
      if (isa<GetElementPtrInst>(user))
        work.push_back(user);
      else if (auto *store = dyn_cast<StoreInst>(user);
               store && (divergence.isInDivergentRegion(store->getParent()) ||
                         !divergence.isUniform(store->getValueOperand())))
        return false;
    }
  return true;
}

/// Whether an instruction of a thread's own may be what another thread waits for.
static bool arrives(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call || engineFunction(*call) != offsetof(CameoSimApi, instruction))
    return false;
  auto *code = dyn_cast<ConstantInt>(call->getArgOperand(1));
  return code && cameoSimFacts(code->getZExtValue()) & CAMEO_SIM_ARRIVES;
}

/// The collective instruction that a value was read from, right after it.
static const CallInst *resultOf(const Value *value) {
  auto *load = dyn_cast<LoadInst>(value);
  if (!load)
    return nullptr;
  const Value *rows = getUnderlyingObject(load->getPointerOperand());
  for (const Instruction *at = load->getPrevNode(); at; at = at->getPrevNode())
    if (auto *call = dyn_cast<CallInst>(at); call && engineFunction(*call))
      return engineFunction(*call) == offsetof(CameoSimApi, blocking_instruction) &&
                     getUnderlyingObject(call->getArgOperand(3)) == rows
                 ? call
                 : nullptr;
  return nullptr;
}

/// Whether at most one lane of a warp has a condition of `value`.
bool Verification::isForOneLane(const Value *condition, bool value) const {
  auto *instruction = dyn_cast<Instruction>(condition);
  if (!instruction)
    return false;
  if (auto *compare = dyn_cast<ICmpInst>(instruction)) {
    bool equal = compare->getPredicate() == ICmpInst::ICMP_EQ;
    if (!equal && compare->getPredicate() != ICmpInst::ICMP_NE)
      return false;
    if (equal == value)
      return divergence.differsBetweenLanes(compare->getOperand(0)) &&
             divergence.isUniform(compare->getOperand(1));
    auto *zero = dyn_cast<ConstantInt>(compare->getOperand(1));
    return value && zero && zero->isZero() && isForOneLane(compare->getOperand(0), true);
  }
  if (!value)
    return false;
  if (isa<TruncInst, FreezeInst>(instruction) || instruction->getOpcode() == Instruction::And)
    return any_of(instruction->operands(),
                  [&](const Value *operand) { return isForOneLane(operand, true); });
  const CallInst *call = resultOf(instruction);
  auto *code = call ? dyn_cast<ConstantInt>(call->getArgOperand(1)) : nullptr;
  return code && (code->getZExtValue() & 0xff) == CAMEO_SIM_OP_ELECT;
}

/// Whether an arrival may come before `goal`, or anything that `stops` knows, on a way from `work`.
static bool findsArrival(SmallVector<const Instruction *> work,
                         function_ref<bool(const Instruction &)> stops,
                         function_ref<bool(const BasicBlock *)> isWithin) {
  SmallPtrSet<const Instruction *, 16> seen;
  while (!work.empty()) {
    const Instruction *at = work.pop_back_val();
    if (!seen.insert(at).second)
      continue;
    for (; at && !stops(*at); at = at->getNextNode()) {
      if (arrives(*at))
        return true;
      if (at->isTerminator())
        for (const BasicBlock *after : successors(at->getParent()))
          if (isWithin(after))
            work.push_back(&after->front());
    }
  }
  return false;
}

/// While a lane waits for itself, the others of its warp stand still: those that come later in the
/// lane loop have not begun its region, all have done what comes before. Whether that is no matter.
bool Verification::waitsForItself(const CallInst &wait) const {
  // To the next collective, where others would have to wait for the lane anyhow, or to such a wait,
  // they do nothing that it may be waiting for.
  auto stops = [&](const Instruction &at) { return warpCollective(at) || isOwnWait(at); };
  auto anywhere = [](const BasicBlock *) { return true; };
  const BasicBlock *home = wait.getParent();
  if (!divergence.isInDivergentRegion(home))
    return !findsArrival({wait.getNextNode()}, stops, anywhere);
  auto isWithin = [&](const BasicBlock *block) {
    return divergence.isInDivergentRegion(block) && divergence.isSameRegion(block, home);
  };
  SmallVector<const Instruction *> others, outside, entries;
  bool isLeader = false;
  for (const BasicBlock &block : function) {
    auto *branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || none_of(successors(&block), isWithin))
      continue;
    bool parts = branch->isConditional() && !divergence.isUniform(branch->getCondition());
    for (const BasicBlock *after : successors(&block)) {
      if (parts)
        (isWithin(&block) ? others : outside).push_back(&after->front());
      if (!isWithin(&block) && isWithin(after))
        entries.push_back(&after->front());
    }
    if (!isWithin(&block) && parts)
      for (bool way : {false, true})
        isLeader |= isForOneLane(branch->getCondition(), way) &&
                    isWithin(branch->getSuccessor(!way)) && !isWithin(branch->getSuccessor(way));
  }
  if (findsArrival(outside, stops, anywhere))
    return false;
  // Within the region of a lane that comes by alone there are no others.
  auto never = [](const Instruction &) { return false; };
  return isLeader ||
         (!findsArrival(others, stops, anywhere) && !findsArrival(entries, never, isWithin));
}

std::string Verification::run() {
  for (BasicBlock &block : function)
    for (Instruction &instruction : block) {
      if (isOwnWait(instruction) && !waitsForItself(cast<CallInst>(instruction)))
        return "a lane waits for an mbarrier while others of its warp may arrive at one";
      auto engine = warpCollective(instruction);
      if (!engine)
        continue;
      if (*engine == offsetof(CameoSimApi, warp_access) ||
          *engine == offsetof(CameoSimApi, warp_copies))
        continue; // made for the warp
      auto &call = cast<CallInst>(instruction);
      if (isMbarrierWait(call) &&
          (divergence.isInDivergentRegion(&block) || !isSharedBuffer(call.getArgOperand(3)))) {
        if (auto *buffer = dyn_cast<AllocaInst>(call.getArgOperand(3)->stripPointerCasts()))
          buffer->setMetadata(kPartedWait, MDNode::get(function.getContext(), {}));
        return "lanes may wait for different mbarriers or phases";
      }
      if (divergence.isInDivergentRegion(&block))
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
      else if (!isWait(call))
        whole = isAll(2) && isa<ConstantInt>(call.getArgOperand(1));
      if (!whole)
        return "a collective operation is for a part of the warp";
      for (unsigned operand : shared)
        if (!divergence.isUniform(call.getArgOperand(operand)))
          return "lanes may name different barriers";
    }
  return {};
}

bool VerifyCollectivesPass::rewrite(Function &function, FunctionAnalysisManager &analyses) {
  const auto &divergence = analyses.getResult<DivergenceAnalysis>(function);
  std::string problem = divergence.problem();
  if (problem.empty())
    problem = Verification(function, divergence).run();
  if (!problem.empty())
    setWarpProblem(function, problem);
  return !problem.empty();
}
