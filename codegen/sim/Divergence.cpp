// Optimistic: every value is uniform until something shows that it is not.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/Divergence.h"

#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/WarpChecks.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace cameo;

namespace {

LaneShape divergent() {
  LaneShape shape;
  shape.kind = LaneShape::Divergent;
  return shape;
}

/// An affine shape, or a uniform one where all lanes turn out the same.
LaneShape affine(const std::array<int64_t, kWarpLanes> &offset, unsigned align) {
  LaneShape shape;
  if (all_of(offset, [&](int64_t o) { return o == offset[0]; }))
    return shape;
  shape.kind = LaneShape::Affine;
  shape.offset = offset;
  shape.align = align;
  return shape;
}

/// Whether the lanes' offsets and the part they share have no bit in common.
bool isDisjoint(const LaneShape &shape) {
  return all_of(shape.offset,
                [&](int64_t o) { return o >= 0 && (o >> std::min(shape.align, 62u)) == 0; });
}

template <typename Function> LaneShape map(const LaneShape &shape, unsigned align, Function f) {
  std::array<int64_t, kWarpLanes> offset;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    offset[lane] = f(shape.offset[lane]);
  return affine(offset, align);
}

unsigned trailingZeros(const Value *value, const DataLayout &layout) {
  if (!value->getType()->isIntegerTy())
    return 0;
  return std::min(computeKnownBits(value, layout).countMinTrailingZeros(), 62u);
}

/// Results that may differ between lanes whatever the operands are.
bool isSource(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  return isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction) ||
         (call && !call->doesNotAccessMemory());
}

/// Calls for the whole warp that have one result.
bool isOfWarp(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  auto engine = call ? engineFunction(*call) : std::nullopt;
  return engine == offsetof(CameoSimApi, vote) || engine == offsetof(CameoSimApi, warp_access);
}

} // namespace

LaneShape Divergence::shape(const Value *value) const { return shapes_->lookup(value); }

bool Divergence::differsBetweenLanes(const Value *value) const {
  LaneShape known = shape(value);
  std::array<int64_t, kWarpLanes> offset = known.offset;
  llvm::sort(offset);
  return known.kind == LaneShape::Affine &&
         std::adjacent_find(offset.begin(), offset.end()) == offset.end();
}

bool Divergence::isKnownVarying(const Value *condition) const {
  auto *instruction = dyn_cast<Instruction>(condition);
  if (!instruction || isUniform(instruction))
    return false;
  if (isa<TruncInst>(instruction))
    return shape(instruction->getOperand(0)).kind == LaneShape::Affine;
  if (isa<ICmpInst>(instruction))
    return shape(instruction->getOperand(0)).kind == LaneShape::Affine &&
           isa<ConstantInt>(instruction->getOperand(1));
  // Conjunctions and the like.
  return instruction->getType()->isIntegerTy(1) &&
         isa<BinaryOperator, SelectInst, FreezeInst>(instruction) &&
         any_of(instruction->operands(),
                [&](const Value *operand) { return isKnownVarying(operand); });
}

LaneShape Divergence::evaluatePhi(const PHINode &phi) const {
  if (joins_.contains(phi.getParent()))
    return divergent();
  LaneShape result;
  bool first = true;
  for (const Value *incoming : phi.incoming_values()) {
    if (incoming == &phi || isa<UndefValue>(incoming) ||
        (isa<Instruction>(incoming) && !shapes_->count(incoming)))
      continue; // the last of these: not known yet
    LaneShape other = shape(incoming);
    if (!first && !(result == other)) {
      // Aligned differently, or of an unlike kind that does not mix.
      if (result.kind == LaneShape::Affine && other.kind == LaneShape::Affine &&
          result.offset == other.offset)
        result.align = std::min(result.align, other.align);
      else
        return divergent();
    } else {
      result = other;
    }
    first = false;
  }
  return result;
}

/// Whether all lanes read the same one's value: shfl.sync.idx with one index for the whole warp.
bool Divergence::isFromOneLane(const CallInst &call) const {
  if (engineFunction(call) != offsetof(CameoSimApi, shuffle))
    return false;
  auto number = [&](unsigned operand) {
    return dyn_cast<ConstantInt>(call.getArgOperand(operand));
  };
  const ConstantInt *kind = number(1), *mask = number(2), *clamp = number(5);
  // Segments of a warp have an index each; and a lane out of range reads its own value.
  return kind && kind->equalsInt(CAMEO_SIM_SHFL_IDX) && mask && mask->isMinusOne() && clamp &&
         clamp->equalsInt(31) && isUniform(call.getArgOperand(4));
}

LaneShape Divergence::evaluate(const Instruction &instruction) const {
  using namespace PatternMatch;
  if (&instruction == lane_) {
    std::array<int64_t, kWarpLanes> offset;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      offset[lane] = lane;
    return affine(offset, 31);
  }
  if (isOfWarp(instruction))
    return LaneShape();
  if (auto *call = dyn_cast<CallInst>(&instruction); call && isFromOneLane(*call))
    return LaneShape();
  if (const CallInst *address = checkedAddress(instruction))
    return shape(address->getArgOperand(0));
  if (isSource(instruction))
    return divergent();
  if (auto *phi = dyn_cast<PHINode>(&instruction))
    return evaluatePhi(*phi);

  // Without divergent operands the result is uniform; with affine ones it may still be known.
  bool anyAffine = false;
  for (const Value *operand : instruction.operands()) {
    LaneShape::Kind kind = shape(operand).kind;
    if (kind == LaneShape::Divergent)
      return divergent();
    anyAffine |= kind == LaneShape::Affine;
  }
  if (!anyAffine)
    return LaneShape();
  const DataLayout &layout = instruction.getModule()->getDataLayout();
  const Value *left = instruction.getOperand(0);
  LaneShape a = shape(left);
  const APInt *number = nullptr;
  if (isa<ZExtInst, SExtInst, TruncInst, FreezeInst>(instruction))
    return isDisjoint(a) ? a : divergent();
  if (auto *compare = dyn_cast<ICmpInst>(&instruction)) {
    // What lanes add to the part they share does not take them across a multiple of 2^align.
    const Value *bound = instruction.getOperand(1);
    ICmpInst::Predicate predicate = compare->getPredicate();
    bool isLess = predicate == ICmpInst::ICMP_ULT || predicate == ICmpInst::ICMP_UGE ||
                  predicate == ICmpInst::ICMP_SLT || predicate == ICmpInst::ICMP_SGE;
    return isLess && isDisjoint(a) && shape(bound).kind == LaneShape::Uniform &&
                   trailingZeros(bound, layout) >= a.align
               ? LaneShape()
               : divergent();
  }
  auto *binary = dyn_cast<BinaryOperator>(&instruction);
  if (!binary)
    return divergent();
  const Value *right = instruction.getOperand(1);
  LaneShape b = shape(right);
  bool isAdd = match(binary, m_AddLike(m_Value(), m_Value()));
  if (isAdd || binary->getOpcode() == Instruction::Sub) {
    unsigned alignA = a.kind == LaneShape::Affine ? a.align : trailingZeros(left, layout);
    unsigned alignB = b.kind == LaneShape::Affine ? b.align : trailingZeros(right, layout);
    std::array<int64_t, kWarpLanes> offset;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      offset[lane] = a.offset[lane] + (isAdd ? b.offset[lane] : -b.offset[lane]);
    return affine(offset, std::min(alignA, alignB));
  }
  if (!match(right, m_APInt(number)) || number->getActiveBits() > 31)
    return divergent();
  int64_t constant = number->getSExtValue();
  unsigned log2 = number->isPowerOf2() ? number->logBase2() : 0;
  switch (binary->getOpcode()) {
  case Instruction::Mul:
    return map(a, std::min(62u, a.align + number->countr_zero()),
               [&](int64_t o) { return int64_t(uint64_t(o) * uint64_t(constant)); });
  case Instruction::Shl:
    if (constant < 0 || constant >= 64) // poison
      return divergent();
    return map(a, std::min<unsigned>(62, a.align + constant),
               [&](int64_t o) { return int64_t(uint64_t(o) << constant); });
  case Instruction::URem:
    if (!number->isPowerOf2() || !isDisjoint(a))
      return divergent();
    return map(a, a.align, [&](int64_t o) { return o & (constant - 1); });
  case Instruction::And:
    return isDisjoint(a) ? map(a, a.align, [&](int64_t o) { return o & constant; }) : divergent();
  case Instruction::UDiv:
    if (!number->isPowerOf2())
      return divergent();
    constant = log2;
    [[fallthrough]];
  case Instruction::LShr:
    if (!isDisjoint(a))
      return divergent();
    return map(a, a.align - std::min<unsigned>(a.align, constant),
               [&](int64_t o) { return o >> constant; });
  default:
    return divergent();
  }
}

/// True if that is news.
bool Divergence::addDivergentRegion(const BasicBlock &branching,
                                    const PostDominatorTree &postDominators) {
  auto *node = postDominators.getNode(&branching);
  const BasicBlock *join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  if (!join) {
    problem_ = "lanes that take different ways do not meet again";
    return false;
  }
  bool changed = joins_.insert(join).second;
  SmallVector<const BasicBlock *> work(successors(&branching));
  const BasicBlock *first = work.front() == join ? work.back() : work.front();
  SmallPtrSet<const BasicBlock *, 16> seen;
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (block == join || !seen.insert(block).second)
      continue;
    changed |= divergentRegion_.insert(block).second;
    regions_.unionSets(first, block);
    work.append(succ_begin(block), succ_end(block));
  }
  return changed;
}

Divergence::Divergence(Function &function, const Instruction *lane,
                       const PostDominatorTree &postDominators)
    : lane_(lane) {
  ReversePostOrderTraversal<Function *> order(&function);
  bool changed = true;
  while (changed && problem_.empty()) {
    changed = false;
    for (BasicBlock *block : order) {
      for (Instruction &instruction : *block) {
        LaneShape &known = (*shapes_)[&instruction];
        LaneShape now = evaluate(instruction);
        // Never up again: a phi may see an operand that is still too good.
        if (now.kind < known.kind || known == now)
          continue;
        if (known.kind == LaneShape::Affine && now.kind == LaneShape::Affine) {
          if (known.offset != now.offset)
            now = divergent();
          else
            now.align = std::min(now.align, known.align);
          if (now == known)
            continue;
        }
        known = now;
        changed = true;
      }
      auto *branch = dyn_cast<BranchInst>(block->getTerminator());
      if (branch && branch->isConditional() && !isUniform(branch->getCondition()))
        changed |= addDivergentRegion(*block, postDominators);
    }
  }
}

AnalysisKey DivergenceAnalysis::Key;

Divergence DivergenceAnalysis::run(Function &function, FunctionAnalysisManager &analyses) {
  return Divergence(function, laneOf(function),
                    analyses.getResult<PostDominatorTreeAnalysis>(function));
}

static void printShape(const LaneShape &shape, raw_ostream &output) {
  switch (shape.kind) {
  case LaneShape::Uniform:
    output << "uniform";
    return;
  case LaneShape::Divergent:
    output << "divergent";
    return;
  case LaneShape::Affine:
    output << "affine, multiple of 2^" << shape.align << " +";
    for (int64_t offset : shape.offset)
      output << ' ' << offset;
  }
}

PreservedAnalyses DivergencePrinterPass::run(Function &function,
                                             FunctionAnalysisManager &analyses) {
  const auto &divergence = analyses.getResult<DivergenceAnalysis>(function);
  errs() << "divergence of " << function.getName() << ":\n";
  if (!divergence.problem().empty())
    errs() << "  problem: " << divergence.problem() << '\n';
  for (BasicBlock &block : function) {
    block.printAsOperand(errs() << "  ", /*PrintType=*/false);
    errs() << (divergence.isInDivergentRegion(&block) ? ": in a divergent region\n" : ":\n");
    for (Instruction &instruction : block) {
      if (instruction.getType()->isVoidTy())
        continue;
      instruction.printAsOperand(errs() << "    ", /*PrintType=*/false);
      printShape(divergence.shape(&instruction), errs() << ": ");
      errs() << '\n';
    }
  }
  return PreservedAnalyses::all();
}
