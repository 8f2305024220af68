// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/UndefinedChecks.h"

#include "codegen/sim/UndefinedBits.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace cameo;

namespace {

constexpr unsigned kWarpLanes = 32;

/// An operand that must be defined.
struct Judged {
  unsigned operand;
  unsigned lanes = kWarpLanes; // the first ones of the warp
  Value condition = nullptr;   // only where this is true; null: always
};

/// The operands of `op` whose values matter there and then.
SmallVector<Judged> judgedOperands(Operation *op) {
  if (isa<LLVM::LoadOp, LLVM::CondBrOp, LLVM::SwitchOp>(op))
    return {{0}};
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    // Local arrays may hold undefined values.
    if (cast<LLVM::LLVMPointerType>(store.getAddr().getType()).getAddressSpace() == 0)
      return {{1}};
    return {{0}, {1}};
  }
  if (isa<LLVM::AtomicRMWOp>(op))
    return {{0}, {1}};
  SmallVector<Judged> judged;
  auto instruction = dyn_cast<kernel::PtxOp>(op);
  if (!isa<NVVM::NVVMDialect>(op->getDialect()) && (!instruction || carriesOperands(op)))
    return {};
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    judged.push_back({i});
  if (!instruction)
    return judged;
  const kernel::PtxInstruction &known = instruction.decode();
  for (Judged &operand : judged)
    operand.lanes = known.lanes;
  for (Judged &former : MutableArrayRef(judged).take_back(known.tied))
    former.condition = op->getOperand(op->getNumOperands() - known.tied - 1);
  return judged;
}

struct Check {
  UndefinedUse use;
  Value isUndefined;
};

/// Where the place in a local array is undefined, the array's beginning is accessed.
void stayInside(const Check &check, OpBuilder &builder) {
  Operation *user = check.use.user;
  bool isAddress = isa<LLVM::LoadOp>(user) || (isa<LLVM::StoreOp>(user) && check.use.operand == 1);
  Value address = user->getOperand(check.use.operand);
  LLVM::AllocaOp array = isAddress ? localArrayOf(address) : LLVM::AllocaOp();
  if (!array || array.getType() != address.getType())
    return;
  builder.setInsertionPoint(user);
  user->setOperand(check.use.operand, builder.create<LLVM::SelectOp>(
                                          user->getLoc(), check.isUndefined, array, address));
}

} // namespace

void cameo::insertUndefinedChecks(LLVM::LLVMFuncOp kernel, OpBuilder &builder,
                                  llvm::function_ref<void(const UndefinedUse &)> tell) {
  UndefinedValues undefined(kernel);
  SmallVector<Operation *> users;
  kernel.walk([&](Operation *op) {
    if (llvm::any_of(op->getOperands(), [&](Value value) { return undefined.mayBe(value); }))
      users.push_back(op);
  });
  UndefinedBits bits(undefined, builder);
  SmallVector<Check> checks;
  for (Operation *user : users)
    for (const Judged &judged : judgedOperands(user)) {
      Value operand = user->getOperand(judged.operand);
      if (!undefined.mayBe(operand))
        continue;
      Value flag = bits.anyAt(user, operand);
      if (judged.condition)
        flag = builder.create<LLVM::AndOp>(user->getLoc(), flag, judged.condition);
      checks.push_back({{user, judged.operand, undefined.originOf(operand), judged.lanes}, flag});
    }
  bits.complete();
  for (const Check &check : checks)
    stayInside(check, builder);
  for (const Check &check : checks) {
    Operation *user = check.use.user;
    Location loc = user->getLoc();
    Block *before = user->getBlock(), *after = before->splitBlock(user);
    Block *report = builder.createBlock(after);
    tell(check.use);
    builder.create<LLVM::BrOp>(loc, ValueRange(), after);
    builder.setInsertionPointToEnd(before);
    // Weights: it is not expected.
    builder.create<LLVM::CondBrOp>(loc, check.isUndefined, report, ValueRange(), after,
                                   ValueRange(), std::pair<int32_t, int32_t>(1, 1 << 20));
  }
  bits.defineSources();
}
