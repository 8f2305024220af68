// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/UndefinedValues.h"

#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace cameo;

unsigned cameo::countElements(Type type) {
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
    unsigned count = 0;
    for (Type field : structure.getBody())
      count += countElements(field);
    return count;
  }
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return array.getNumElements() * countElements(array.getElementType());
  if (LLVM::isCompatibleVectorType(type))
    return LLVM::isScalableVectorType(type) ? 0 : LLVM::getVectorNumElements(type).getFixedValue();
  return type.isIntOrFloat() || isa<LLVM::LLVMPointerType>(type) ? 1 : 0;
}

LLVM::AllocaOp cameo::localArrayOf(Value address) {
  while (Operation *op = address.getDefiningOp()) {
    if (auto array = dyn_cast<LLVM::AllocaOp>(op))
      return array;
    if (!isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp>(op))
      return nullptr;
    address = op->getOperand(0);
  }
  return nullptr;
}

bool cameo::carriesOperands(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  if (auto instruction = dyn_cast<kernel::PtxOp>(op))
    return instruction.decode().isPure() && !instruction.decode().isCollective();
  // Functions are those of libdevice.
  return isa<LLVM::LLVMDialect>(op->getDialect()) &&
         (isMemoryEffectFree(op) || isa<LLVM::CallOp, LLVM::CallIntrinsicOp>(op));
}

/// Whether a value lies in memory as whole bytes, and as many on GPU and host.
static bool isOfBytes(Type type) {
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type))
    return llvm::all_of(structure.getBody(), isOfBytes);
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return isOfBytes(array.getElementType());
  if (LLVM::isCompatibleVectorType(type) && !LLVM::isScalableVectorType(type))
    return isOfBytes(LLVM::getVectorElementType(type));
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0;
}

/// Whether a local array is accessed by plain loads and stores alone.
static bool allAccessesAreKnown(LLVM::AllocaOp array) {
  if (!isa_and_nonnull<LLVM::ConstantOp>(array.getArraySize().getDefiningOp()) ||
      !isOfBytes(array.getElemType()))
    return false;
  SmallVector<Value> work{array};
  while (!work.empty()) {
    Value address = work.pop_back_val();
    for (Operation *user : address.getUsers()) {
      Type accessed;
      if (isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp>(user) && user->getOperand(0) == address &&
          isa<LLVM::LLVMPointerType>(user->getResult(0).getType())) {
        work.push_back(user->getResult(0));
        continue;
      }
      if (auto load = dyn_cast<LLVM::LoadOp>(user))
        accessed = load.getType();
      else if (auto store = dyn_cast<LLVM::StoreOp>(user); store && store.getValue() != address)
        accessed = store.getValue().getType();
      if (!accessed || !isOfBytes(accessed))
        return false;
    }
  }
  return true;
}

UndefinedValues::UndefinedValues(LLVM::LLVMFuncOp kernel) {
  kernel.walk([&](LLVM::AllocaOp array) {
    if (allAccessesAreKnown(array))
      known.insert(array);
  });
  // Sources first; then what they reach.
  kernel.walk([&](Operation *op) {
    bool isSource = isa<LLVM::UndefOp, LLVM::PoisonOp>(op);
    if (auto load = dyn_cast<LLVM::LoadOp>(op))
      isSource = isKnown(localArrayOf(load.getAddr()));
    if (auto shuffle = dyn_cast<LLVM::ShuffleVectorOp>(op))
      isSource = llvm::is_contained(shuffle.getMask(), -1);
    if (isSource)
      visit(op);
  });
  while (!work.empty())
    visit(work.pop_back_val());
}

llvm::BitVector UndefinedValues::get(Value value) const {
  auto found = elements.find(value);
  return found == elements.end() ? llvm::BitVector(countElements(value.getType())) : found->second;
}

bool UndefinedValues::update(Value value, const llvm::BitVector &more) {
  if (more.none())
    return false;
  llvm::BitVector &now = elements.try_emplace(value, more.size()).first->second;
  llvm::BitVector before = now;
  now |= more;
  if (now == before)
    return false;
  work.insert(value.user_begin(), value.user_end());
  return true;
}

void UndefinedValues::visit(Operation *op) {
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (auto [index, target] : llvm::enumerate(op->getSuccessors())) {
      SuccessorOperands operands = branch.getSuccessorOperands(index);
      for (unsigned i = operands.getProducedOperandCount(); i < operands.size(); ++i)
        update(target->getArgument(i), get(operands[i]));
    }
  } else if (op->getNumResults() == 1 && countElements(op->getResult(0).getType())) {
    update(op->getResult(0), resultOf(op));
  }
}

/// The first element of a struct or array that `position` names.
static unsigned firstElement(Type type, ArrayRef<int64_t> position) {
  unsigned first = 0;
  for (int64_t index : position) {
    if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
      for (Type field : structure.getBody().take_front(index))
        first += countElements(field);
      type = structure.getBody()[index];
    } else {
      type = cast<LLVM::LLVMArrayType>(type).getElementType();
      first += index * countElements(type);
    }
  }
  return first;
}

static void copyElements(llvm::BitVector &to, unsigned at, const llvm::BitVector &from,
                         unsigned begin, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    to[at + i] = from[begin + i];
}

static std::optional<uint64_t> constantOf(Value value) {
  auto constant = value.getDefiningOp<LLVM::ConstantOp>();
  auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return number ? std::optional(number.getValue().getZExtValue()) : std::nullopt;
}

llvm::BitVector UndefinedValues::resultOf(Operation *op) const {
  Type type = op->getResult(0).getType();
  unsigned count = countElements(type);
  llvm::BitVector none(count), all(count, true), result(count);
  if (isa<LLVM::UndefOp, LLVM::PoisonOp>(op))
    return all;
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return isKnown(localArrayOf(load.getAddr())) ? all : none;
  if (isa<LLVM::FreezeOp>(op) || !carriesOperands(op))
    return none;
  if (auto insert = dyn_cast<LLVM::InsertElementOp>(op)) {
    std::optional<uint64_t> place = constantOf(insert.getPosition());
    result = get(insert.getVector());
    if (place && *place < count)
      result[*place] = mayBe(insert.getValue());
    else if (mayBe(insert.getValue()))
      result = all;
    return mayBe(insert.getPosition()) ? all : result;
  }
  if (auto extract = dyn_cast<LLVM::ExtractElementOp>(op)) {
    llvm::BitVector from = get(extract.getVector());
    std::optional<uint64_t> place = constantOf(extract.getPosition());
    bool undefined = place && *place < from.size() ? from[*place] : from.any();
    return undefined || mayBe(extract.getPosition()) ? all : none;
  }
  if (auto shuffle = dyn_cast<LLVM::ShuffleVectorOp>(op)) {
    llvm::BitVector from[2] = {get(shuffle.getV1()), get(shuffle.getV2())};
    for (auto [i, source] : llvm::enumerate(shuffle.getMask()))
      result[i] = source < 0 || from[source >= int(from[0].size())][source % from[0].size()];
    return result;
  }
  if (auto insert = dyn_cast<LLVM::InsertValueOp>(op)) {
    result = get(insert.getContainer());
    copyElements(result, firstElement(type, insert.getPosition()), get(insert.getValue()), 0,
                 countElements(insert.getValue().getType()));
    return result;
  }
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
    copyElements(result, 0, get(extract.getContainer()),
                 firstElement(extract.getContainer().getType(), extract.getPosition()), count);
    return result;
  }
  // Elements of vectors go side by side, also those of other sizes (bitcast); all else is
  // undefined where anything is.
  for (Value operand : op->getOperands()) {
    if (!mayBe(operand))
      continue;
    llvm::BitVector from = get(operand);
    bool isSideBySide = LLVM::isCompatibleVectorType(type) &&
                        LLVM::isCompatibleVectorType(operand.getType()) &&
                        (from.size() == count || isa<LLVM::BitcastOp>(op));
    unsigned pieces = std::max<unsigned>(count, from.size());
    if (!isSideBySide || pieces % count || pieces % from.size())
      return all;
    for (unsigned i = 0; i < pieces; ++i)
      if (from[i * from.size() / pieces])
        result.set(i * count / pieces);
  }
  return result;
}

Operation *UndefinedValues::originOf(Value value) const {
  llvm::SetVector<Value> reached;
  SmallPtrSet<Operation *, 4> origins;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    Value at = reached[i];
    auto follow = [&](Value from) {
      if (mayBe(from))
        reached.insert(from);
    };
    Operation *op = at.getDefiningOp();
    if (auto load = dyn_cast_or_null<LLVM::LoadOp>(op)) {
      origins.insert(localArrayOf(load.getAddr()));
    } else if (op) {
      bool derived = llvm::any_of(op->getOperands(), [&](Value from) { return mayBe(from); });
      if (!derived)
        origins.insert(op);
      llvm::for_each(op->getOperands(), follow);
    } else {
      auto argument = cast<BlockArgument>(at);
      for (Block *before : argument.getOwner()->getPredecessors()) {
        auto branch = cast<BranchOpInterface>(before->getTerminator());
        for (auto [index, target] : llvm::enumerate(before->getSuccessors()))
          if (target == argument.getOwner())
            follow(branch.getSuccessorOperands(index)[argument.getArgNumber()]);
      }
    }
  }
  return origins.size() == 1 ? *origins.begin() : nullptr;
}
