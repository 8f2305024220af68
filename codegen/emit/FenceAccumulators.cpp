// ^loop(%s: f32):  ...  ^exit:  use(%s)
//   ==>
// ^loop(%s: f32):  ...  ^exit:  %t = llvm.inline_asm "" "=f,0" %s;  use(%t)
//
// A product that has one step of depth has a loop that runs once, which LLVM removes. What one
// block alone reads LLVM computes there (InstCombine): each chain of multiply-adds would go behind
// the test of its own store, and all operands be loaded before, into registers that the kernel does
// not have.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/FenceAccumulators.h"

#include "codegen/Passes.h"
#include "passes/Statistics.h"

#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

namespace cameo {
#define GEN_PASS_DEF_FENCEACCUMULATORS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

/// Whether it counts from one constant to another in a single step.
bool runsOnce(Block *header, LLVM::BrOp back) {
  auto leave = dyn_cast<LLVM::CondBrOp>(header->getTerminator());
  auto test = leave ? leave.getCondition().getDefiningOp<LLVM::ICmpOp>() : LLVM::ICmpOp();
  auto counter = test ? dyn_cast<BlockArgument>(test.getLhs()) : BlockArgument();
  if (!counter || counter.getOwner() != header || test.getPredicate() != LLVM::ICmpPredicate::slt)
    return false;
  auto next = back.getDestOperands()[counter.getArgNumber()].getDefiningOp<LLVM::AddOp>();
  APInt first, step, end;
  if (!next || next.getLhs() != counter || !matchPattern(next.getRhs(), m_ConstantInt(&step)) ||
      !matchPattern(test.getRhs(), m_ConstantInt(&end)))
    return false;
  for (Block *from : header->getPredecessors()) {
    if (from == back->getBlock())
      continue;
    auto enter = dyn_cast<LLVM::BrOp>(from->getTerminator());
    if (!enter ||
        !matchPattern(enter.getDestOperands()[counter.getArgNumber()], m_ConstantInt(&first)))
      return false;
    if (first.getSExtValue() + step.getSExtValue() < end.getSExtValue())
      return false;
  }
  return true;
}

/// Sums of a loop that runs once, which starts again at this branch: what multiply-adds give it.
SmallVector<BlockArgument> sumsOf(LLVM::BrOp back) {
  SmallVector<BlockArgument> sums;
  for (auto [argument, next] : llvm::zip(back.getDest()->getArguments(), back.getDestOperands())) {
    Type type = getElementTypeOrSelf(argument.getType());
    if (next.getDefiningOp<LLVM::FMAOp>() && (type.isF32() || type.isF64()))
      sums.push_back(argument);
  }
  if (!sums.empty() && !runsOnce(back.getDest(), back))
    sums.clear();
  return sums;
}

/// One instruction for all of them, which are alive there together anyway.
SmallVector<Value> fence(OpBuilder &builder, Location loc, ArrayRef<Value> sums) {
  SmallVector<std::string> constraints;
  for (Value sum : sums)
    constraints.push_back(sum.getType().isF64() ? "=d" : "=f");
  for (size_t i = 0; i < sums.size(); ++i)
    constraints.push_back(std::to_string(i));
  SmallVector<Type> types = llvm::to_vector(ValueRange(sums).getTypes());
  bool isAlone = types.size() == 1;
  Type type =
      isAlone ? types.front() : LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  auto assembly = builder.create<LLVM::InlineAsmOp>(
      loc, type, sums, "", llvm::join(constraints, ","),
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  SmallVector<Value> fenced;
  for (size_t i = 0; i < sums.size(); ++i)
    fenced.push_back(isAlone ? assembly.getResult(0)
                             : builder.create<LLVM::ExtractValueOp>(loc, assembly.getResult(0), i));
  return fenced;
}

/// The elements of a vector, or the number itself: assembly has no vectors of 32 bits an element.
void appendElements(OpBuilder &builder, Value sum, SmallVectorImpl<Value> &elements) {
  auto vector = dyn_cast<VectorType>(sum.getType());
  if (!vector)
    return elements.push_back(sum);
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    Value place = builder.create<LLVM::ConstantOp>(sum.getLoc(), builder.getI64IntegerAttr(i));
    elements.push_back(builder.create<LLVM::ExtractElementOp>(sum.getLoc(), sum, place));
  }
}

/// Takes as many of `elements` as `type` has.
Value joined(OpBuilder &builder, Location loc, Type type, ArrayRef<Value> &elements) {
  auto vector = dyn_cast<VectorType>(type);
  Value whole = vector ? builder.create<LLVM::UndefOp>(loc, vector) : elements.front();
  for (int64_t i = 0; vector && i < vector.getNumElements(); ++i) {
    Value place = builder.create<LLVM::ConstantOp>(loc, builder.getI64IntegerAttr(i));
    whole = builder.create<LLVM::InsertElementOp>(loc, whole, elements[i], place);
  }
  elements = elements.drop_front(vector ? vector.getNumElements() : 1);
  return whole;
}

void fenceAt(Block *exit, ArrayRef<BlockArgument> sums, CFGLoop &loop) {
  SmallVector<std::pair<OpOperand *, size_t>> uses;
  for (auto [index, sum] : llvm::enumerate(sums))
    for (OpOperand &use : sum.getUses())
      if (!loop.contains(use.getOwner()->getBlock()))
        uses.push_back({&use, index});
  if (uses.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(exit);
  Location loc = sums.front().getLoc();
  SmallVector<Value> elements, wholes;
  for (BlockArgument sum : sums)
    appendElements(builder, sum, elements);
  SmallVector<Value> fenced = fence(builder, loc, elements);
  ArrayRef<Value> rest = fenced;
  for (BlockArgument sum : sums)
    wholes.push_back(joined(builder, loc, sum.getType(), rest));
  for (auto [use, index] : uses)
    use->set(wholes[index]);
}

struct FenceAccumulators : cameo::impl::FenceAccumulatorsBase<FenceAccumulators> {
  using FenceAccumulatorsBase::FenceAccumulatorsBase;

  void runOnOperation() override {
    getOperation()->walk([&](LLVM::LLVMFuncOp function) {
      if (!function.isExternal() && !function.getBody().hasOneBlock())
        visit(function);
    });
  }

  void visit(LLVM::LLVMFuncOp function) {
    DominanceInfo dominance(function);
    CFGLoopInfo loops(dominance.getDomTree(&function.getBody()));
    for (CFGLoop *loop : loops.getLoopsInPreorder()) {
      Block *latch = loop->getLoopLatch(), *exit = loop->getExitBlock();
      auto back = latch ? dyn_cast<LLVM::BrOp>(latch->getTerminator()) : LLVM::BrOp();
      // The only way out, so that all that is behind the loop is behind it.
      if (!back || !exit || !exit->getSinglePredecessor())
        continue;
      SmallVector<BlockArgument> sums = sumsOf(back);
      if (sums.empty())
        continue;
      fenceAt(exit, sums, *loop);
      count(&getContext(), getArgument(), "fenced", sums.size());
    }
  }
};

} // namespace

bool cameo::hasAccumulatorsToFence(Operation *module) {
  return module
      ->walk([](LLVM::BrOp branch) {
        return sumsOf(branch).empty() ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}
