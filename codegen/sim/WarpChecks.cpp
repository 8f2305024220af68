// Calls of `access` are put together in groups. A group stands where its first call stood, in a
// block that the whole warp reaches; later calls join it, from the same block or from others that
// run if and only if this one does, and from branches that lanes take each for itself, with the
// condition of the branch. So a call moves up, past arithmetic, loads and stores, but never past
// another call of the engine, nor past one of `access` that has no group: the order in which the
// engine sees accesses of the same lane stays.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpChecks.h"

#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/SimTables.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace cameo;

namespace {

/// What would be computed twice to let one call join a group is given up beyond so many
/// instructions; and groups end at so many calls, for the sake of the kernel's frame.
constexpr unsigned kMaxCopies = 64, kMaxCalls = 64;

/// Operands of CameoSimApi::access.
enum Operand { kAddress = 1, kBytes, kAlignment, kSpace, kKind, kSite };

constexpr StringLiteral kChecked = "cameo.checked";

struct Member {
  CallInst *call;
  unsigned row;
  int32_t offset;
  Value *takesPart; // null: every lane does
};

struct Group {
  Instruction *position; // calls are checked before it
  SmallVector<Member> members;
  /// Of each row of addresses the first member's: as it stands there, and at the position.
  SmallVector<std::pair<Value *, Value *>> rows;
  DenseMap<Value *, Value *> copies; // what is computed at the position, too
};

bool isAccess(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  return call && engineFunction(*call) == offsetof(CameoSimApi, access);
}

/// Whether an access must not be seen earlier than `instruction`: lanes wait for each other there,
/// or it accesses memory in a way of its own.
bool isOrdered(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call || isa<IntrinsicInst>(call) || call->doesNotAccessMemory())
    return false;
  auto engine = engineFunction(*call);
  constexpr size_t kFirstFunction = offsetof(CameoSimApi, sinf),
                   kLastFunction = offsetof(CameoSimApi, atan2);
  bool isMath = engine && *engine >= kFirstFunction && *engine <= kLastFunction;
  return !isMath && !isAccess(instruction);
}

class Grouping {
public:
  Grouping(Function &function, Instruction &lane, FunctionAnalysisManager &analyses)
      : function(function), lane(lane),
        divergence(analyses.getResult<DivergenceAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        postDominators(analyses.getResult<PostDominatorTreeAnalysis>(function)),
        loops(analyses.getResult<LoopAnalysis>(function)),
        evolution(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        i8(Type::getInt8Ty(function.getContext())), ptr(PointerType::get(i8, 0)) {}

  void run() {
    if (!divergence.problem().empty())
      return;
    ReversePostOrderTraversal<Function *> order(&function);
    for (BasicBlock *block : order)
      if (!divergence.isInDivergentRegion(block))
        visit(*block, order);
    for (auto &group : groups)
      emit(*group);
  }

private:
  void visit(BasicBlock &block, ReversePostOrderTraversal<Function *> &order);
  Group *inherited(BasicBlock &block);
  void place(CallInst &call, Group *&group, Instruction *position);
  bool join(Group &group, CallInst &call);
  bool findRow(Group &group, Value *address, Member &member);
  Value *available(Value *value, Group &group, bool isSure, unsigned &budget);
  Value *condition(BasicBlock *block, Group &group, unsigned &budget);
  BasicBlock *converged(const BasicBlock *block) const;
  static void sort(Group &group);
  void emit(Group &group);

  Function &function;
  Instruction &lane;
  const Divergence &divergence;
  const DominatorTree &dominators;
  const PostDominatorTree &postDominators;
  const LoopInfo &loops;
  ScalarEvolution &evolution;
  IntegerType *i8;
  PointerType *ptr;
  std::vector<std::unique_ptr<Group>> groups;
  DenseMap<const BasicBlock *, Group *> atEnd; // what is open behind blocks of the whole warp
  SmallPtrSet<const CallInst *, 32> grouped;
};

/// The last block of the whole warp that comes before `block`, always.
BasicBlock *Grouping::converged(const BasicBlock *block) const {
  auto *node = dominators.getNode(block)->getIDom();
  while (node && divergence.isInDivergentRegion(node->getBlock()))
    node = node->getIDom();
  return node ? node->getBlock() : nullptr;
}

/// The group that accesses of `block` may still join, though it began in an earlier one.
Group *Grouping::inherited(BasicBlock &block) {
  BasicBlock *before = converged(&block);
  Group *group = before ? atEnd.lookup(before) : nullptr;
  if (!group || !postDominators.dominates(&block, before) ||
      loops.getLoopFor(before) != loops.getLoopFor(&block))
    return nullptr;
  // What comes between must leave the order as it is.
  SmallPtrSet<const Value *, 16> members;
  for (const Member &member : group->members)
    members.insert(member.call);
  SmallPtrSet<BasicBlock *, 16> seen;
  SmallVector<BasicBlock *> work(successors(before));
  while (!work.empty()) {
    BasicBlock *between = work.pop_back_val();
    if (between == &block || !seen.insert(between).second)
      continue;
    for (Instruction &instruction : *between)
      if (isOrdered(instruction) || (isAccess(instruction) && !members.count(&instruction)))
        return nullptr;
    work.append(succ_begin(between), succ_end(between));
  }
  return group;
}

void Grouping::visit(BasicBlock &block, ReversePostOrderTraversal<Function *> &order) {
  Group *group = inherited(block);
  for (Instruction &instruction : block) {
    if (isAccess(instruction))
      place(cast<CallInst>(instruction), group, &instruction);
    else if (isOrdered(instruction))
      group = nullptr;
  }
  // The branches that lanes take from here, each for itself.
  for (BasicBlock *branch : order) {
    if (!divergence.isInDivergentRegion(branch) || converged(branch) != &block)
      continue;
    for (Instruction &instruction : *branch) {
      if (isAccess(instruction))
        place(cast<CallInst>(instruction), group, block.getTerminator());
      // Nothing moves past one that stays.
      if (isOrdered(instruction) ||
          (isAccess(instruction) && !grouped.count(cast<CallInst>(&instruction)))) {
        atEnd[&block] = nullptr;
        return;
      }
    }
  }
  atEnd[&block] = group;
}

/// Lets `call` join `group`, or one that begins at `position`, if that can be.
void Grouping::place(CallInst &call, Group *&group, Instruction *position) {
  for (unsigned operand = kBytes; operand <= kSite; ++operand)
    if (!isa<ConstantInt>(call.getArgOperand(operand))) {
      group = nullptr; // nothing moves past a call that stays
      return;
    }
  if (group && group->members.size() < kMaxCalls && join(*group, call))
    return;
  auto begun = std::make_unique<Group>();
  begun->position = position;
  if (!join(*begun, call)) {
    group = nullptr;
    return;
  }
  group = begun.get();
  groups.push_back(std::move(begun));
}

/// Whether the address is that of a row, and a number of bytes that is the same for all lanes.
bool Grouping::findRow(Group &group, Value *address, Member &member) {
  const SCEV *own = evolution.getSCEV(address);
  for (auto [index, row] : llvm::enumerate(group.rows)) {
    auto *distance =
        dyn_cast<SCEVConstant>(evolution.getMinusSCEV(own, evolution.getSCEV(row.first)));
    if (!distance || !distance->getAPInt().isSignedIntN(32))
      continue;
    member.row = index;
    member.offset = distance->getAPInt().getSExtValue();
    return true;
  }
  return false;
}

bool Grouping::join(Group &group, CallInst &call) {
  unsigned budget = kMaxCopies;
  BasicBlock *block = call.getParent();
  Member member{&call, unsigned(group.rows.size()), 0, nullptr};
  if (divergence.isInDivergentRegion(block)) {
    member.takesPart = condition(block, group, budget);
    if (!member.takesPart)
      return false;
  }
  Value *address = call.getArgOperand(kAddress);
  if (!findRow(group, address, member)) {
    Value *early = available(address, group, !member.takesPart, budget);
    if (!early)
      return false;
    group.rows.push_back({address, early});
  }
  group.members.push_back(member);
  grouped.insert(&call);
  return true;
}

/// `value` at the group's position, computed again if need be; null if it cannot be told there.
/// `isSure`: what computes it is executed anyway.
Value *Grouping::available(Value *value, Group &group, bool isSure, unsigned &budget) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || dominators.dominates(instruction, group.position))
    return value;
  if (Value *known = group.copies.lookup(value))
    return known;
  bool isPure = isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst, SelectInst, FreezeInst,
                    IntrinsicInst>(instruction) &&
                !instruction->mayReadOrWriteMemory();
  bool isConstant = isa<LoadInst>(instruction) &&
                    instruction->hasMetadata(LLVMContext::MD_invariant_load) && isSure;
  if (!(isPure && (isSure || isSafeToSpeculativelyExecute(instruction))) && !isConstant)
    return nullptr;
  if (budget == 0)
    return nullptr;
  --budget;
  SmallVector<Value *> operands;
  for (Value *operand : instruction->operands()) {
    operands.push_back(available(operand, group, isSure, budget));
    if (!operands.back())
      return nullptr;
  }
  Instruction *copy = instruction->clone();
  for (auto [index, operand] : llvm::enumerate(operands))
    copy->setOperand(index, operand);
  if (!isSure)
    copy->dropPoisonGeneratingFlags();
  copy->insertBefore(group.position);
  return group.copies[value] = copy;
}

/// Whether a lane comes to `block`, in a divergent region, from the block of the whole warp before
/// it; null if that cannot be told at the group's position.
Value *Grouping::condition(BasicBlock *block, Group &group, unsigned &budget) {
  if (Value *known = group.copies.lookup(block))
    return known;
  BasicBlock *start = converged(block);
  // Loops that only some lanes run are theirs.
  if (loops.getLoopFor(block) != loops.getLoopFor(start))
    return nullptr;
  Value *result = nullptr;
  for (BasicBlock *before : predecessors(block)) {
    if (before != start && !divergence.isInDivergentRegion(before))
      return nullptr;
    Value *reached = nullptr; // null: always
    if (before != start) {
      reached = condition(before, group, budget);
      if (!reached)
        return nullptr;
    }
    IRBuilder<> builder(group.position);
    auto *branch = dyn_cast<BranchInst>(before->getTerminator());
    if (!branch)
      return nullptr;
    Value *taken = nullptr;
    if (branch->isConditional()) {
      taken = available(branch->getCondition(), group, /*isSure=*/before == start, budget);
      if (!taken)
        return nullptr;
      if (branch->getSuccessor(0) != block)
        taken = builder.CreateNot(taken);
    }
    // Conditions that are not reached may be poison.
    Value *edge = !reached ? taken : !taken ? reached : builder.CreateLogicalAnd(reached, taken);
    if (!edge)
      return nullptr;
    result = result ? builder.CreateLogicalOr(result, edge) : edge;
  }
  return group.copies[block] = result;
}

/// Brings accesses together that have rows in common, as far as the order does not matter: reads
/// among each other, and writes.
void Grouping::sort(Group &group) {
  auto field = [](const Member &member, unsigned operand) {
    return cast<ConstantInt>(member.call->getArgOperand(operand))->getZExtValue();
  };
  auto *begin = group.members.begin(), *end = group.members.end();
  while (begin != end) {
    auto *next = std::find_if(begin, end, [&](const Member &member) {
      return field(member, kKind) != field(*begin, kKind);
    });
    DenseMap<Value *, unsigned> order; // of conditions and calls, as they come
    for (auto *member = begin; member != next; ++member) {
      order.try_emplace(member->takesPart, order.size());
      order.try_emplace(member->call, order.size());
    }
    auto key = [&](const Member &member) {
      return std::tuple(member.row, order.lookup(member.takesPart), field(member, kBytes),
                        field(member, kAlignment), field(member, kSpace), member.offset,
                        order.lookup(member.call));
    };
    llvm::sort(begin, next, [&](const Member &a, const Member &b) { return key(a) < key(b); });
    begin = next;
  }
}

void Grouping::emit(Group &group) {
  sort(group);
  Module &module = *function.getParent();
  IRBuilder<> builder(group.position);

  // Lanes that do not take part, one row per condition.
  SmallVector<Value *> conditions;
  SimTables tables(module);
  SmallVector<Constant *> sites;
  for (const Member &member : group.members) {
    uint32_t lanesRow = CAMEO_SIM_ALL_LANES;
    if (member.takesPart) {
      lanesRow = llvm::find(conditions, member.takesPart) - conditions.begin();
      if (lanesRow == conditions.size())
        conditions.push_back(member.takesPart);
    }
    auto operand = [&](unsigned number) {
      return cast<ConstantInt>(member.call->getArgOperand(number))->getZExtValue();
    };
    sites.push_back(tables.row(SimAccessSiteRow{
        /*bytes=*/operand(kBytes),
        /*alignment=*/operand(kAlignment),
        /*space=*/operand(kSpace),
        /*kind=*/operand(kKind),
        /*site=*/operand(kSite),
        /*row=*/member.row,
        /*lanes_row=*/lanesRow,
        /*offset=*/member.offset,
    }));
  }
  unsigned count = group.members.size();
  Constant *constants = tables.table(sites, "accesses");

  IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
  auto makeRows = [&](Type *type, unsigned rows, const Twine &name) {
    AllocaInst *made = entry.CreateAlloca(ArrayType::get(type, rows * kWarpLanes), nullptr, name);
    made->setAlignment(Align(32));
    return made;
  };
  auto place = [&](IRBuilder<> &builder, AllocaInst *rows, unsigned index) {
    Type *type = cast<ArrayType>(rows->getAllocatedType())->getElementType();
    Value *own = builder.CreateZExt(&lane, builder.getInt64Ty(), "", /*IsNonNeg=*/true);
    return builder.CreateInBoundsGEP(
        type, rows, builder.CreateAdd(own, builder.getInt64(uint64_t(index) * kWarpLanes)));
  };
  AllocaInst *addresses = makeRows(ptr, group.rows.size(), "addresses");
  AllocaInst *allowed = makeRows(ptr, count, "allowed");
  Value *parts = ConstantPointerNull::get(ptr);
  for (auto [index, row] : llvm::enumerate(group.rows))
    builder.CreateStore(row.second, place(builder, addresses, index));
  if (!conditions.empty()) {
    AllocaInst *rows = makeRows(i8, conditions.size(), "parts");
    for (auto [index, condition] : llvm::enumerate(conditions))
      builder.CreateStore(builder.CreateZExt(condition, i8), place(builder, rows, index));
    parts = rows;
  }

  IRBuilder<> start(&lane);
  EngineFunction engine = CAMEO_SIM_ENGINE(warp_access);
  Value *found = callEngine(
      builder, engineEntry(start, engine), engine,
      {function.getArg(0), constants, builder.getInt32(count), addresses, parts, allowed});
  Value *isFaulty = builder.CreateICmpNE(found, builder.getInt32(0));

  FunctionCallee checked = module.getOrInsertFunction(
      kChecked, FunctionType::get(ptr, {ptr, builder.getInt1Ty(), ptr}, false));
  auto *declaration = cast<Function>(checked.getCallee());
  declaration->setDoesNotAccessMemory();
  declaration->setDoesNotThrow();
  declaration->addFnAttr(Attribute::WillReturn);
  for (auto [index, member] : llvm::enumerate(group.members)) {
    IRBuilder<> here(member.call);
    member.call->replaceAllUsesWith(here.CreateCall(
        checked, {member.call->getArgOperand(kAddress), isFaulty, place(here, allowed, index)}));
    member.call->eraseFromParent();
  }
}

} // namespace

bool GroupChecksPass::rewrite(Function &function, FunctionAnalysisManager &analyses) {
  Instruction *lane = laneOf(function);
  if (!lane || none_of(instructions(function), isAccess))
    return false;
  Grouping(function, *lane, analyses).run();
  return true;
}

const CallInst *cameo::checkedAddress(const Value &value) {
  auto *call = dyn_cast<CallInst>(&value);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName() == kChecked ? call : nullptr;
}
