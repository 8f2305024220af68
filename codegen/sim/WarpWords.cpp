// Values for matrix instructions, word by word.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpWords.h"

#include "codegen/sim/EngineCalls.h"
#include "codegen/sim/SimPasses.h"
#include "runtime/sim/instructions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace cameo;

static constexpr unsigned kWordBits = 32;

bool cameo::isMatrixInstruction(const CallInst &call) {
  if (engineFunction(call) != offsetof(CameoSimApi, blocking_instruction))
    return false;
  auto *code = dyn_cast<ConstantInt>(call.getArgOperand(1));
  switch (code ? code->getZExtValue() & 0xff : CAMEO_SIM_OP_NONE) {
  case CAMEO_SIM_OP_MMA:
  case CAMEO_SIM_OP_LDMATRIX:
  case CAMEO_SIM_OP_STMATRIX:
  case CAMEO_SIM_OP_WGMMA:
    return true;
  default:
    return false;
  }
}

static unsigned wordsIn(Type *type) {
  unsigned bits = type->getPrimitiveSizeInBits();
  return bits % kWordBits ? 0 : bits / kWordBits;
}

/// What a word of a vector is kept as: its element, or an integer for several elements.
static Type *wordTypeOf(FixedVectorType *type) {
  Type *element = type->getElementType();
  return element->getPrimitiveSizeInBits() == kWordBits ? element
                                                        : Type::getInt32Ty(type->getContext());
}

Value *cameo::wordOf(IRBuilderBase &builder, Value *value, unsigned index) {
  auto *extract = dyn_cast<ExtractElementInst>(value);
  if (auto *at = extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
      at && value->getType()->getPrimitiveSizeInBits() == kWordBits)
    return wordOf(builder, extract->getVectorOperand(), unsigned(at->getZExtValue()));
  auto *type = dyn_cast<FixedVectorType>(value->getType());
  if (!type || wordsIn(type) == 1)
    return value;
  bool wholeElements = type->getElementType()->getPrimitiveSizeInBits() == kWordBits;
  if (auto *cast = dyn_cast<BitCastInst>(value); cast && isa<VectorType>(cast->getSrcTy()))
    return wordOf(builder, cast->getOperand(0), index);
  if (auto *insert = dyn_cast<InsertElementInst>(value); insert && wholeElements)
    if (auto *at = dyn_cast<ConstantInt>(insert->getOperand(2)))
      return at->equalsInt(index) ? insert->getOperand(1)
                                  : wordOf(builder, insert->getOperand(0), index);
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(value); shuffle && wholeElements) {
    int from = shuffle->getMaskValue(index);
    auto *source = cast<FixedVectorType>(shuffle->getOperand(0)->getType());
    int count = int(source->getNumElements());
    if (from < 0)
      return PoisonValue::get(type->getElementType());
    return wordOf(builder, shuffle->getOperand(from >= count), unsigned(from % count));
  }
  if (!wholeElements)
    value = builder.CreateBitCast(value,
                                  FixedVectorType::get(wordTypeOf(type), unsigned(wordsIn(type))));
  return builder.CreateExtractElement(value, builder.getInt64(index));
}

namespace {

/// Phis of vectors that matrix instructions are given or make become a phi for each word, so that
/// each word's lanes lie side by side between lane loops:
///
///   %v = phi <2 x float> [ %a, %x ], [ %b, %y ]   ==>   %v0 = phi float [ %a0, %x ], [ %b0, %y ]
///                                                       %v1 = phi float [ %a1, %x ], [ %b1, %y ]
class PhiSplitting {
public:
  explicit PhiSplitting(Function &function) : function(function) {}

  bool run() {
    findBuffers();
    if (buffers.empty())
      return false;
    for (Instruction &instruction : instructions(function))
      if (auto *phi = dyn_cast<PHINode>(&instruction); phi && isVector(*phi) && isForMatrices(*phi))
        phis.insert(phi);
    for (PHINode *phi : phis)
      makeWords(*phi);
    for (PHINode *phi : phis)
      fillWords(*phi);
    for (PHINode *phi : phis)
      phi->replaceAllUsesWith(PoisonValue::get(phi->getType()));
    for (PHINode *phi : phis)
      phi->eraseFromParent();
    return !phis.empty();
  }

private:
  void findBuffers() {
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&instruction); call && isMatrixInstruction(*call))
        buffers.insert(getUnderlyingObject(call->getArgOperand(3)));
  }

  static bool isVector(const PHINode &phi) {
    return isa<FixedVectorType>(phi.getType()) && wordsIn(phi.getType()) > 1;
  }
  static bool moves(const Value *value) {
    return isa<PHINode, BitCastInst, InsertElementInst, ExtractElementInst, ShuffleVectorInst>(
        value);
  }

  /// Whether the phi's words are operands or results of matrix instructions, moved at most.
  bool isForMatrices(const PHINode &phi) const {
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Value *> work{&phi};
    while (!work.empty()) {
      const Value *value = work.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      for (const User *user : value->users()) {
        auto *store = dyn_cast<StoreInst>(user);
        if (store && buffers.contains(getUnderlyingObject(store->getPointerOperand())))
          return true;
        if (moves(user))
          work.push_back(user);
      }
      for (const Value *operand : cast<User>(value)->operands()) {
        auto *load = dyn_cast<LoadInst>(operand);
        if (load && buffers.contains(getUnderlyingObject(load->getPointerOperand())))
          return true;
        if (moves(operand))
          work.push_back(operand);
      }
    }
    return false;
  }

  /// The words' phis, and the vector that they make.
  void makeWords(PHINode &phi) {
    auto *type = cast<FixedVectorType>(phi.getType());
    Type *word = wordTypeOf(type);
    unsigned count = wordsIn(type);
    IRBuilder<> builder(&phi);
    SmallVector<PHINode *> &parts = words[&phi];
    for (unsigned i = 0; i < count; ++i)
      parts.push_back(builder.CreatePHI(word, phi.getNumIncomingValues()));
    builder.SetInsertPoint(&*phi.getParent()->getFirstInsertionPt());
    Value *vector = PoisonValue::get(FixedVectorType::get(word, count));
    for (unsigned i = 0; i < count; ++i)
      vector = builder.CreateInsertElement(vector, parts[i], builder.getInt64(i));
    vector = builder.CreateBitCast(vector, type);
    phi.replaceUsesWithIf(vector, [&](Use &use) {
      auto *user = dyn_cast<PHINode>(use.getUser());
      return !user || !phis.contains(user);
    });
  }

  void fillWords(PHINode &phi) {
    for (auto [i, part] : enumerate(words[&phi]))
      for (unsigned from = 0; from < phi.getNumIncomingValues(); ++from) {
        BasicBlock *block = phi.getIncomingBlock(from);
        if (int known = part->getBasicBlockIndex(block); known >= 0) {
          part->addIncoming(part->getIncomingValue(unsigned(known)), block);
          continue;
        }
        Value *value = phi.getIncomingValue(from), *word = nullptr;
        IRBuilder<> builder(block->getTerminator());
        auto *other = dyn_cast<PHINode>(value);
        if (other && phis.contains(other))
          word = words[other][i];
        else
          word = wordOf(builder, value, unsigned(i));
        part->addIncoming(builder.CreateBitCast(word, part->getType()), block);
      }
  }

  Function &function;
  SmallPtrSet<const Value *, 4> buffers;
  SetVector<PHINode *> phis;
  MapVector<PHINode *, SmallVector<PHINode *>> words;
};

} // namespace

bool SplitMatrixPhisPass::rewrite(Function &function, FunctionAnalysisManager &) {
  return PhiSplitting(function).run();
}
