// br %c, %then, %done         ==>  %lanes = vote.ballot(%c)
// then: barrier; br %done          %parted = %lanes is neither none nor all
//                                  br %parted, %report, %go
//                             go:  %any = %lanes is not none
//                                  br %any, %then, %done
//
// where %c may differ between lanes, for all that is known. A collective for the whole warp on one
// of the ways (PTX ISA, bar.sync, shfl.sync, ...: all lanes of the mask execute it) means that it
// does not. Where lanes do differ, as numbers of theirs tell, or where they may meet at collectives
// of either way, the scalar form shows what happens.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"
#include "runtime/sim/instructions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace cameo;

namespace {

using Blocks = SmallSetVector<BasicBlock *, 16>;

class Branches {
public:
  Branches(Function &function, Instruction &lane, FunctionAnalysisManager &analyses)
      : function(function), lane(lane), analyses(analyses) {}

  bool run() {
    bool changed = false;
    // One makes others known: what it guards is no longer between lanes.
    for (; takeOne(); changed = true)
      analyses.invalidate(function, PreservedAnalyses::none());
    return changed;
  }

private:
  bool takeOne();
  void take(BranchInst &branch, CallInst &collective, bool way);

  /// The blocks from `start` to `join`, without that.
  static Blocks blocksBefore(BasicBlock *start, const BasicBlock *join) {
    Blocks blocks;
    if (start != join)
      blocks.insert(start);
    for (size_t i = 0; i < blocks.size(); ++i)
      for (BasicBlock *after : successors(blocks[i]))
        if (after != join)
          blocks.insert(after);
    return blocks;
  }

  /// The first collective of all lanes in these blocks, but for those in `others`, too.
  static CallInst *collectiveIn(const Blocks &blocks, const Blocks *others = nullptr) {
    for (BasicBlock *block : blocks)
      if (!others || !others->contains(block))
        for (Instruction &instruction : *block)
          if (auto *call = dyn_cast<CallInst>(&instruction); call && isOfAllLanes(*call))
            return call;
    return nullptr;
  }

  static bool isOfAllLanes(const CallInst &call) {
    auto engine = engineFunction(call);
    auto isAll = [&](unsigned operand) {
      auto *mask = dyn_cast<ConstantInt>(call.getArgOperand(operand));
      return mask && mask->isMinusOne();
    };
    if (engine == offsetof(CameoSimApi, barrier))
      return true;
    if (engine == offsetof(CameoSimApi, shuffle) || engine == offsetof(CameoSimApi, vote))
      return isAll(2);
    if (engine == offsetof(CameoSimApi, warp_sync))
      return isAll(1);
    if (engine != offsetof(CameoSimApi, blocking_instruction) || !isAll(2))
      return false;
    auto *code = dyn_cast<ConstantInt>(call.getArgOperand(1));
    // Any lane may wait for an mbarrier.
    return code && (code->getZExtValue() & 0xff) != CAMEO_SIM_OP_MBAR_WAIT;
  }

  Function &function;
  Instruction &lane;
  FunctionAnalysisManager &analyses;
};

bool Branches::takeOne() {
  const auto &divergence = analyses.getResult<DivergenceAnalysis>(function);
  if (!divergence.problem().empty())
    return false;
  const auto &postDominators = analyses.getResult<PostDominatorTreeAnalysis>(function);
  struct Candidate {
    BranchInst *branch;
    Blocks region;
    CallInst *collective; // null: the branch stays
    bool way;             // the condition's value on the way there
  };
  std::vector<Candidate> candidates;
  for (BasicBlock &block : function) {
    auto *branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || divergence.isUniform(branch->getCondition()))
      continue;
    auto *node = postDominators.getNode(&block);
    const BasicBlock *join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    if (!join)
      return false;
    Blocks left = blocksBefore(branch->getSuccessor(0), join);
    Blocks right = blocksBefore(branch->getSuccessor(1), join);
    Blocks region = left;
    region.insert(right.begin(), right.end());
    CallInst *collective = collectiveIn(region);
    if (divergence.isKnownVarying(branch->getCondition()) ||
        (collectiveIn(left, &right) && collectiveIn(right, &left)))
      collective = nullptr;
    candidates.push_back({branch, std::move(region), collective, collectiveIn(left) != nullptr});
  }
  for (const Candidate &one : candidates) {
    if (!one.collective)
      continue;
    // Outer branches first; of a loop with several exits each lies between the ways of the others.
    BasicBlock *own = one.branch->getParent();
    if (any_of(candidates, [&](const Candidate &other) {
          return other.region.contains(own) && !one.region.contains(other.branch->getParent());
        }))
      continue;
    take(*one.branch, *one.collective, one.way);
    return true;
  }
  return false;
}

void Branches::take(BranchInst &branch, CallInst &collective, bool way) {
  IRBuilder<> entry(lane.getNextNode());
  EngineFunction vote = CAMEO_SIM_ENGINE(vote), instruction = CAMEO_SIM_ENGINE(instruction);
  Value *voteEntry = engineEntry(entry, vote);
  Value *instructionEntry = engineEntry(entry, instruction);
  Value *site = collective.getArgOperand(collective.arg_size() - 1);
  Value *thread = function.getArg(0);

  IRBuilder<> builder(&branch);
  Value *all = builder.getInt32(~0u), *none = builder.getInt32(0);
  CallInst *lanes =
      callEngine(builder, voteEntry, vote,
                 {thread, builder.getInt32(CAMEO_SIM_VOTE_BALLOT), all,
                  builder.CreateZExt(branch.getCondition(), builder.getInt32Ty()), site});
  lanes->addFnAttr(Attribute::Convergent);
  Value *any = builder.CreateICmpNE(lanes, none);
  Value *parted = builder.CreateAnd(any, builder.CreateICmpNE(lanes, all));
  branch.setCondition(any);
  BasicBlock *head = branch.getParent();
  BasicBlock *go = head->splitBasicBlock(&branch, head->getName() + ".together");
  auto *report = BasicBlock::Create(function.getContext(), "parted", &function, go);
  head->getTerminator()->eraseFromParent();
  builder.SetInsertPoint(head);
  builder.CreateCondBr(parted, report, go);
  builder.SetInsertPoint(report);
  Value *those = way ? lanes : builder.CreateNot(lanes);
  Value *code = builder.CreateShl(builder.CreateZExt(those, builder.getInt64Ty()), 32);
  callEngine(builder, instructionEntry, instruction,
             {thread, builder.CreateOr(code, builder.getInt64(CAMEO_SIM_OP_PARTED)),
              ConstantPointerNull::get(builder.getPtrTy()), site});
  builder.CreateBr(go);
}

} // namespace

bool UniformiseBranchesPass::rewrite(Function &function, FunctionAnalysisManager &analyses) {
  Instruction *lane = laneOf(function);
  return lane && Branches(function, *lane, analyses).run();
}
