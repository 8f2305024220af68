// A data-flow analysis: of each value, at each place, how many groups of wgmma have been committed
// since the one that computes it, at least, if it may be in flight there.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace cameo {
#define GEN_PASS_DEF_VERIFYWGMMARESULTS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

/// Groups that have been committed since, counting its own.
using Age = int;
constexpr Age kNotCommitted = 0;
/// wait_group leaves 7 in flight at most.
constexpr Age kOldest = 8;

struct InFlight {
  Age age;
  Operation *by; // the wgmma
};

/// The values in flight, in the order of the kernel, so that errors are reported in that order.
using State = llvm::MapVector<Value, InFlight>;

/// Which step of wgmma an operation is.
struct Step {
  enum Kind { None, Multiply, Commit, Wait } kind = None;
  Age left = 0;      // groups that a wait leaves in flight
  unsigned sums = 0; // operands of a multiplication that are accumulators: [first, first + sums)
  unsigned first = 0;
};

Step stepOf(Operation *op) {
  auto instruction = dyn_cast<kernel::PtxOp>(op);
  if (!instruction)
    return {};
  const kernel::PtxInstruction &known = instruction.decode();
  switch (known.opcode) {
  case CAMEO_SIM_OP_WGMMA:
    return {Step::Multiply, 0, known.tied, unsigned(instruction.getInputs().size()) - known.tied};
  case CAMEO_SIM_OP_WGMMA_COMMIT:
    return {Step::Commit};
  case CAMEO_SIM_OP_WGMMA_WAIT:
    return {Step::Wait, Age(known.modifiers[0])};
  default:
    return {};
  }
}

/// Whether an operation gives registers another name, and no more.
bool passesOn(Operation *op) {
  return isa<LLVM::ExtractValueOp, LLVM::InsertValueOp, LLVM::BitcastOp>(op);
}

class Verifier {
public:
  explicit Verifier(LLVM::LLVMFuncOp kernel) : kernel(kernel) {}

  /// Whether no wgmma's results are used too early: only once a wgmma.wait_group has waited for it,
  /// on every way there; until then they may be the accumulator of another wgmma, and be passed on.
  LogicalResult run() {
    llvm::SetVector<Block *> work;
    kernel.walk([&](Operation *op) {
      if (stepOf(op).kind == Step::Multiply)
        work.insert(op->getBlock());
    });
    if (work.empty())
      return success();
    while (!work.empty()) {
      Block *block = work.pop_back_val();
      State state = atStart[block];
      for (Operation &op : *block)
        step(op, state);
      for (Block *next : enter(block->getTerminator(), state))
        work.insert(next);
    }
    // With all that is known at the blocks' beginnings: the first such use of each wgmma.
    SmallPtrSet<Operation *, 8> told;
    for (Block &block : kernel.getBody()) {
      State state = atStart.lookup(&block);
      for (Operation &op : block) {
        const InFlight *used = findEarlyUse(op, state);
        if (used && told.insert(used->by).second)
          report(op, *used);
        step(op, state);
      }
    }
    return success(told.empty());
  }

private:
  static bool merge(State &into, Value value, InFlight more) {
    auto [known, isNew] = into.insert({value, more});
    if (isNew || more.age >= known->second.age) // the youngest may be in flight the longest
      return isNew;
    known->second = more;
    return true;
  }

  /// What `op` changes.
  static void step(Operation &op, State &state) {
    // Of what it computed last time, in a loop, nothing has this name any more.
    for (Value result : op.getResults())
      state.erase(result);
    Step step = stepOf(&op);
    switch (step.kind) {
    case Step::Multiply:
      for (Value result : op.getResults())
        state.insert({result, {kNotCommitted, &op}});
      break;
    case Step::Commit:
      for (auto &[value, inFlight] : state)
        inFlight.age = std::min(inFlight.age + 1, kOldest);
      break;
    case Step::Wait:
      state.remove_if([&](const auto &entry) { return entry.second.age > step.left; });
      break;
    case Step::None:
      if (!passesOn(&op))
        break;
      for (Value operand : op.getOperands())
        if (auto found = state.find(operand); found != state.end()) {
          InFlight passed = found->second; // the map may move
          merge(state, op.getResult(0), passed);
        }
      break;
    }
  }

  /// Takes `state` to the blocks behind `end`; those that have changed.
  SmallVector<Block *> enter(Operation *end, const State &state) {
    SmallVector<Block *> changed;
    auto branch = dyn_cast<BranchOpInterface>(end);
    for (auto [index, next] : llvm::enumerate(end->getSuccessors())) {
      State &known = atStart[next];
      bool isNews = false;
      for (const auto &[value, inFlight] : state)
        if (auto argument = dyn_cast<BlockArgument>(value);
            !argument || argument.getOwner() != next)
          isNews |= merge(known, value, inFlight);
      SuccessorOperands operands = branch.getSuccessorOperands(index);
      for (unsigned i = operands.getProducedOperandCount(); i < operands.size(); ++i)
        if (auto found = state.find(operands[i]); found != state.end())
          isNews |= merge(known, next->getArgument(i), found->second);
      if (isNews)
        changed.push_back(next);
    }
    return changed;
  }

  /// What `op` uses and must not; null: nothing.
  static const InFlight *findEarlyUse(Operation &op, const State &state) {
    Step step = stepOf(&op);
    if (passesOn(&op))
      return nullptr;
    for (OpOperand &operand : op.getOpOperands()) {
      auto found = state.find(operand.get());
      if (found == state.end())
        continue;
      unsigned number = operand.getOperandNumber();
      if (step.kind == Step::Multiply && number >= step.first && number < step.first + step.sums)
        continue;
      // What a branch passes on.
      auto branch = dyn_cast<BranchOpInterface>(op);
      if (branch && branch.getSuccessorBlockArgument(number))
        continue;
      return &found->second;
    }
    return nullptr;
  }

  void report(Operation &op, const InFlight &inFlight) {
    auto name = [](Operation *named) {
      auto instruction = dyn_cast<kernel::PtxOp>(named);
      return instruction ? instruction.getInstruction() : named->getName().getStringRef();
    };
    InFlightDiagnostic error = emitError(op.getLoc());
    error << "kernel " << kernel.getName() << ": " << name(&op) << " uses a result of "
          << name(inFlight.by) << " (" << inFlight.by->getLoc() << ") that may be in flight; ";
    if (inFlight.age == kNotCommitted)
      error << "wgmma.commit_group and wgmma.wait_group are missing between";
    else
      error << "a wgmma.wait_group of " << inFlight.age - 1 << " or less is missing between";
  }

  LLVM::LLVMFuncOp kernel;
  llvm::DenseMap<Block *, State> atStart;
};

struct VerifyWgmmaResults : cameo::impl::VerifyWgmmaResultsBase<VerifyWgmmaResults> {
  using VerifyWgmmaResultsBase::VerifyWgmmaResultsBase;

  void runOnOperation() override {
    bool failing = false;
    getOperation()->walk(
        [&](LLVM::LLVMFuncOp kernel) { failing |= failed(Verifier(kernel).run()); });
    if (failing)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
