// Checks that a kernel of the device stage uses no undefined value where it matters, in front of
// the operations that do:
//
//   llvm.store %v, %p : !llvm.ptr<1>    ==>    if any bit of %v is undefined, report it
//
// What may be undefined (UndefinedValues.h) is followed bit by bit, by values that are computed
// beside it: ones for undefined bits. What cannot be undefined has none and costs nothing; of the
// rest LLVM removes what it can prove.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/DefinednessShadow.h"
#include "codegen/sim/SimContext.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"
#include "passes/Statistics.h"

#include "llvm/Support/FormatVariadic.h"

namespace cameo {
#define GEN_PASS_DEF_INSERTUNDEFINEDCHECKS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

/// A use of a value that is undefined.
struct UndefinedUse {
  Operation *user;
  unsigned operand;
  Operation *origin; // UndefinedValues::originOf()
  unsigned lanes;    // of the warp that use it, the first ones
};

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

/// What an undefined value is used for.
std::string describe(const UndefinedUse &use) {
  Operation *user = use.user;
  if (auto access = user->getAttrOfType<DictionaryAttr>(kSimAccessAttr)) {
    unsigned address = isa<LLVM::StoreOp>(user) ? 1 : 0;
    return (use.operand == address ? "the address of a " : "the value of a ") +
           access.getAs<StringAttr>("what").str();
  }
  if (isa<LLVM::CondBrOp, LLVM::SwitchOp>(user))
    return "the condition of a branch";
  auto instruction = dyn_cast<kernel::PtxOp>(user);
  return llvm::formatv("operand #{0} of {1}", use.operand,
                       instruction ? instruction.getInstruction() : user->getName().stripDialect());
}

void tell(const UndefinedUse &use, SimContext &context) {
  OpBuilder &builder = context.builder;
  Location loc = use.user->getLoc();
  Value code = context.constant(loc, context.i64, CAMEO_SIM_OP_UNDEFINED | use.lanes << 8);
  bool isArray = isa_and_nonnull<LLVM::AllocaOp>(use.origin);
  bool isInFile = use.origin && use.origin->getLoc()
                                    ->walk([](Location part) {
                                      return isa<FileLineColLoc>(part) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
                                    })
                                    .wasInterrupted();
  if (isArray || isInFile) { // the origin's site, plus one
    Value origin = context.site(use.origin->getLoc(), isArray ? "local array" : "undefined value");
    origin = builder.create<LLVM::ZExtOp>(loc, context.i64, origin);
    origin = builder.create<LLVM::AddOp>(loc, origin, context.constant(loc, context.i64, 1));
    origin = builder.create<LLVM::ShlOp>(loc, origin, context.constant(loc, context.i64, 32));
    code = builder.create<LLVM::OrOp>(loc, code, origin);
  }
  Value where = context.site(loc, describe(use));
  context.call(loc, CAMEO_SIM_ENGINE(instruction),
               {code, builder.create<LLVM::ZeroOp>(loc, context.ptr), where});
}

/// Splits blocks in front of uses of undefined values. In the kernel these become zero then, so
/// that nothing is built on them.
unsigned insertChecks(LLVM::LLVMFuncOp kernel) {
  SimContext context(kernel);
  OpBuilder &builder = context.builder;
  UndefinedValues undefined(kernel);
  SmallVector<Operation *> users;
  kernel.walk([&](Operation *op) {
    if (llvm::any_of(op->getOperands(), [&](Value value) { return undefined.mayBe(value); }))
      users.push_back(op);
  });
  DefinednessShadow bits(undefined, builder);
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
    tell(check.use, context);
    builder.create<LLVM::BrOp>(loc, ValueRange(), after);
    builder.setInsertionPointToEnd(before);
    // Weights: it is not expected.
    builder.create<LLVM::CondBrOp>(loc, check.isUndefined, report, ValueRange(), after,
                                   ValueRange(), std::pair<int32_t, int32_t>(1, 1 << 20));
  }
  bits.defineSources();
  return checks.size();
}

struct InsertUndefinedChecks : cameo::impl::InsertUndefinedChecksBase<InsertUndefinedChecks> {
  using InsertUndefinedChecksBase::InsertUndefinedChecksBase;

  void runOnOperation() override {
    for (LLVM::LLVMFuncOp body : simBodies(getOperation()))
      count(&getContext(), getArgument(), "checks", insertChecks(body));
  }
};

} // namespace
