// %s = nvvm.ldmatrix %p {num = 2 : i32, ...}    ==>  %r:2 = kernel.ptx "ldmatrix...x2..."(%p), and
//                                                   %s a struct of both
// nvvm.mbarrier.init %g, %n : !llvm.ptr, i32    ==>  kernel.ptx "mbarrier.init.shared.b64" on %g
//                                                   as an address of shared memory
// nvvm.prefetch.tensormap %m, predicate = %c    ==>  a branch by %c around the instruction
//
// nvvm.mbarrier.try_wait.parity %g, %p, %t      ==>  a loop around mbarrier.try_wait
//
// Each operation becomes the instruction that MLIR writes for it (NVVMOps.td), so that what comes
// after the device stage knows one spelling.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/ReplaceNvvmInstructions.h"

#include "codegen/Passes.h"
#include "codegen/lower/DevicePatterns.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace cameo {
#define GEN_PASS_DEF_REPLACENVVMINSTRUCTIONS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;
using cameo::kernel::PtxType;

namespace {

struct Instruction {
  std::string text;
  SmallVector<Value> operands;
  Value predicate = {};     // executed only where it holds
  bool repeats = false;     // until its result holds
  unsigned firstResult = 0; // of the instruction's, that the operation has, too
};

std::string shapeOf(NVVM::MMAShapeAttr shape) {
  return llvm::formatv("m{0}n{1}k{2}", shape.getM(), shape.getN(), shape.getK());
}

/// Operations that differ from an instruction in nothing but their name.
StringRef plainInstruction(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<NVVM::RcpApproxFtzF32Op>([](auto) { return "rcp.approx.ftz.f32"; })
      .Case<NVVM::MBarrierInvalOp, NVVM::MBarrierInvalSharedOp>(
          [](auto) { return "mbarrier.inval.shared.b64"; })
      .Case<NVVM::MBarrierArriveOp, NVVM::MBarrierArriveSharedOp>(
          [](auto) { return "mbarrier.arrive.shared.b64"; })
      .Case<NVVM::MBarrierArriveNocompleteOp, NVVM::MBarrierArriveNocompleteSharedOp>(
          [](auto) { return "mbarrier.arrive.noComplete.shared.b64"; })
      .Case<NVVM::MBarrierTestWaitOp, NVVM::MBarrierTestWaitSharedOp>(
          [](auto) { return "mbarrier.test_wait.shared.b64"; })
      .Case<NVVM::FenceScClusterOp>([](auto) { return "fence.sc.cluster"; })
      .Case<NVVM::FenceMbarrierInitOp>([](auto) { return "fence.mbarrier_init.release.cluster"; })
      .Case<NVVM::CpAsyncCommitGroupOp>([](auto) { return "cp.async.commit_group"; })
      .Case<NVVM::CpAsyncBulkCommitGroupOp>([](auto) { return "cp.async.bulk.commit_group"; })
      .Case<NVVM::WgmmaFenceAlignedOp>([](auto) { return "wgmma.fence.sync.aligned"; })
      .Case<NVVM::WgmmaGroupSyncAlignedOp>([](auto) { return "wgmma.commit_group.sync.aligned"; })
      .Default([](Operation *) { return StringRef(); });
}

std::string reduxInstruction(NVVM::ReduxKind kind) {
  switch (kind) {
  case NVVM::ReduxKind::UMAX:
    return "redux.sync.max.u32";
  case NVVM::ReduxKind::UMIN:
    return "redux.sync.min.u32";
  case NVVM::ReduxKind::AND:
  case NVVM::ReduxKind::OR:
  case NVVM::ReduxKind::XOR:
    return llvm::formatv("redux.sync.{0}.b32", NVVM::stringifyReduxKind(kind));
  default:
    return llvm::formatv("redux.sync.{0}.s32", NVVM::stringifyReduxKind(kind));
  }
}

Instruction mmaInstruction(NVVM::MmaOp op) {
  auto type = [](std::optional<NVVM::MMATypes> type) {
    return type ? NVVM::stringifyMMATypes(*type) : "?";
  };
  bool saturates = op.getIntOverflowBehavior() == NVVM::MMAIntOverflow::satfinite;
  Instruction result;
  result.text = llvm::formatv(
      "mma.sync.aligned.{0}.{1}.{2}{3}.{4}.{5}.{6}.{7}", shapeOf(op.getShape()),
      NVVM::stringifyMMALayout(op.getLayoutA()), NVVM::stringifyMMALayout(op.getLayoutB()),
      saturates ? ".satfinite" : "", type(op.resultPtxType()), type(op.getMultiplicandAPtxType()),
      type(op.getMultiplicandBPtxType()), type(op.accumPtxType()));
  llvm::append_range(result.operands, op.getOperandA());
  llvm::append_range(result.operands, op.getOperandB());
  llvm::append_range(result.operands, op.getOperandC());
  return result;
}

Instruction wgmmaInstruction(NVVM::WgmmaMmaAsyncOp op, OpBuilder &builder) {
  NVVM::WGMMATypes a = op.getTypeA();
  bool is16 = a == NVVM::WGMMATypes::f16 || a == NVVM::WGMMATypes::bf16;
  bool saturates = op.getSatfinite() == NVVM::MMAIntOverflow::satfinite;
  auto sign = [](NVVM::WGMMAScaleIn scale) { return scale == NVVM::WGMMAScaleIn::neg ? -1 : 1; };
  Instruction result;
  result.text =
      llvm::formatv("wgmma.mma_async.sync.aligned.{0}{1}.{2}.{3}.{4}", shapeOf(op.getShape()),
                    saturates ? ".satfinite" : "", NVVM::stringifyWGMMATypes(op.getTypeD()),
                    NVVM::stringifyWGMMATypes(a), NVVM::stringifyWGMMATypes(op.getTypeB()));
  if (op.getTypeD() != NVVM::WGMMATypes::s32)
    result.text += llvm::formatv(" {0},{1}", sign(op.getScaleA()), sign(op.getScaleB()));
  // Transposed is what is not k-major: PTX ISA, "imm-trans-a".
  if (is16)
    result.text += llvm::formatv(",{0},{1}", int(op.getLayoutA() == NVVM::MMALayout::col),
                                 int(op.getLayoutB() == NVVM::MMALayout::row));
  Location loc = op.getLoc();
  Value counts = builder.create<LLVM::ConstantOp>(
      loc, builder.getI1Type(), int64_t(op.getScaleD() == NVVM::WGMMAScaleOut::one));
  result.operands = {op.getDescriptorA(), op.getDescriptorB(), counts};
  auto sums = cast<LLVM::LLVMStructType>(op.getInouts().getType());
  for (size_t i = 0; i < sums.getBody().size(); ++i)
    result.operands.push_back(builder.create<LLVM::ExtractValueOp>(loc, op.getInouts(), i));
  return result;
}

Instruction tensorLoad(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) {
  bool im2col = !op.getIm2colOffsets().empty();
  Instruction result;
  result.text = llvm::formatv(
      "cp.async.bulk.tensor.{0}d.shared::cluster.global.{1}.mbarrier::complete_tx::bytes{2}{3}",
      op.getCoordinates().size(), im2col ? "im2col" : "tile",
      op.getMulticastMask() ? ".multicast::cluster" : "",
      op.getL2CacheHint() ? ".L2::cache_hint" : ""); // which none has: an error, not a loss
  result.operands = {op.getDstMem(), op.getTmaDescriptor()};
  llvm::append_range(result.operands, op.getCoordinates());
  result.operands.push_back(op.getMbar());
  llvm::append_range(result.operands, op.getIm2colOffsets());
  if (op.getMulticastMask())
    result.operands.push_back(op.getMulticastMask());
  result.predicate = op.getPredicate();
  return result;
}

Instruction tensorStore(NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp op) {
  Instruction result;
  result.text = llvm::formatv("cp.async.bulk.tensor.{0}d.global.shared::cta.tile.bulk_group",
                              op.getCoordinates().size());
  result.operands = {op.getTmaDescriptor()};
  llvm::append_range(result.operands, op.getCoordinates());
  result.operands.push_back(op.getSrcMem());
  result.predicate = op.getPredicate();
  return result;
}

std::string fenceInstruction(NVVM::FenceProxyOp op) {
  std::string text = ("fence.proxy." + NVVM::stringifyProxyKind(op.getKind())).str();
  if (op.getKind() == NVVM::ProxyKind::async_shared)
    text += ("::" + NVVM::stringifySharedSpace(*op.getSpace())).str();
  return text;
}

/// The instruction that `op` is, if it has a twin.
std::optional<Instruction> instructionOf(Operation *op, OpBuilder &builder) {
  if (StringRef plain = plainInstruction(op); !plain.empty())
    return Instruction{plain.str(), llvm::to_vector(op->getOperands())};
  auto withNumber = [](StringRef name, int64_t number) {
    return Instruction{llvm::formatv("{0} {1}", name, number).str(), {}};
  };
  auto aligned = [](auto op, const char *name) {
    return Instruction{name + std::string(op.getAligned() ? ".aligned" : ""), {}};
  };
  return llvm::TypeSwitch<Operation *, std::optional<Instruction>>(op)
      .Case([&](NVVM::ReduxOp op) {
        return Instruction{reduxInstruction(op.getKind()), {op.getVal(), op.getMaskAndClamp()}};
      })
      .Case<NVVM::MBarrierInitOp, NVVM::MBarrierInitSharedOp>([](auto op) {
        return Instruction{
            "mbarrier.init.shared.b64", {op.getAddr(), op.getCount()}, op.getPredicate()};
      })
      .Case<NVVM::MBarrierArriveExpectTxOp, NVVM::MBarrierArriveExpectTxSharedOp>([](auto op) {
        return Instruction{"mbarrier.arrive.expect_tx.shared.b64",
                           {op.getAddr(), op.getTxcount()},
                           op.getPredicate()};
      })
      // How long one try may take is left to the GPU: what is waited for is the phase.
      .Case<NVVM::MBarrierTryWaitParityOp, NVVM::MBarrierTryWaitParitySharedOp>([](auto op) {
        return Instruction{"mbarrier.try_wait.parity.shared.b64",
                           {op.getAddr(), op.getPhase()},
                           /*predicate=*/{},
                           /*repeats=*/true};
      })
      .Case([&](NVVM::BarrierArriveOp op) {
        Value id = op.getBarrierId();
        if (!id)
          id = builder.create<LLVM::ConstantOp>(op.getLoc(), builder.getI32Type(), int64_t(0));
        return Instruction{"bar.arrive", {id, op.getNumberOfThreads()}};
      })
      .Case([&](NVVM::ClusterArriveOp op) { return aligned(op, "barrier.cluster.arrive"); })
      .Case([&](NVVM::ClusterArriveRelaxedOp op) {
        return aligned(op, "barrier.cluster.arrive.relaxed");
      })
      .Case([&](NVVM::ClusterWaitOp op) { return aligned(op, "barrier.cluster.wait"); })
      .Case([](NVVM::FenceProxyOp op) { return Instruction{fenceInstruction(op), {}}; })
      .Case([&](NVVM::SetMaxRegisterOp op) {
        bool more = op.getAction() == NVVM::SetMaxRegisterAction::increase;
        return withNumber(more ? "setmaxnreg.inc.sync.aligned.u32"
                               : "setmaxnreg.dec.sync.aligned.u32",
                          op.getRegCount());
      })
      .Case([&](NVVM::ElectSyncOp op) {
        Value all =
            builder.create<LLVM::ConstantOp>(op.getLoc(), builder.getI32Type(), int64_t(-1));
        return Instruction{"elect.sync", {all}, {}, /*repeats=*/false, /*firstResult=*/1};
      })
      .Case([&](NVVM::CpAsyncOp op) {
        Instruction result =
            withNumber(("cp.async." + NVVM::stringifyLoadCacheModifierKind(op.getModifier()) +
                        ".shared.global")
                           .str(),
                       op.getSize());
        llvm::append_range(result.operands, op->getOperands());
        return result;
      })
      .Case(
          [&](NVVM::CpAsyncWaitGroupOp op) { return withNumber("cp.async.wait_group", op.getN()); })
      .Case<NVVM::CpAsyncMBarrierArriveOp, NVVM::CpAsyncMBarrierArriveSharedOp>([](auto op) {
        return Instruction{op.getNoinc() ? "cp.async.mbarrier.arrive.noinc.shared.b64"
                                         : "cp.async.mbarrier.arrive.shared.b64",
                           {op.getAddr()}};
      })
      .Case([](NVVM::LdMatrixOp op) {
        bool transposed = op.getLayout() == NVVM::MMALayout::col;
        return Instruction{llvm::formatv("ldmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16",
                                         op.getNum(), transposed ? ".trans" : ""),
                           {op.getPtr()}};
      })
      .Case([](NVVM::StMatrixOp op) {
        bool transposed = op.getLayout() == NVVM::MMALayout::col;
        return Instruction{llvm::formatv("stmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16",
                                         op.getSources().size(), transposed ? ".trans" : ""),
                           llvm::to_vector(op->getOperands())};
      })
      .Case([](NVVM::MmaOp op) { return mmaInstruction(op); })
      .Case([&](NVVM::CpAsyncBulkWaitGroupOp op) {
        return withNumber(op.getRead() ? "cp.async.bulk.wait_group.read"
                                       : "cp.async.bulk.wait_group",
                          op.getGroup());
      })
      .Case([](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) { return tensorLoad(op); })
      .Case([](NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp op) { return tensorStore(op); })
      .Case([](NVVM::PrefetchTensorMapOp op) {
        return Instruction{"prefetch.tensormap", {op.getTmaDescriptor()}, op.getPredicate()};
      })
      .Case([&](NVVM::WgmmaWaitGroupSyncOp op) {
        return withNumber("wgmma.wait_group.sync.aligned", op.getGroup());
      })
      .Case([&](NVVM::WgmmaMmaAsyncOp op) { return wgmmaInstruction(op, builder); })
      .Default([](Operation *) { return std::nullopt; });
}

/// A type of the llvm dialect for an operand or result that the operation does not show.
Type typeOf(PtxType type, Builder &builder) {
  switch (type) {
  case PtxType::B16:
    return builder.getI16Type();
  case PtxType::B64:
    return builder.getI64Type();
  case PtxType::F32:
    return builder.getF32Type();
  case PtxType::F64:
    return builder.getF64Type();
  case PtxType::Predicate:
    return builder.getI1Type();
  default:
    return builder.getI32Type();
  }
}

/// What comes after `op` runs in any case, `op` only where `predicate` holds.
void guard(Operation *op, Value predicate, OpBuilder &builder) {
  Block *before = op->getBlock();
  Block *own = before->splitBlock(op);
  Block *after = own->splitBlock(op->getNextNode());
  builder.setInsertionPointToEnd(before);
  builder.create<LLVM::CondBrOp>(op->getLoc(), predicate, own, after);
  builder.setInsertionPointToEnd(own);
  builder.create<LLVM::BrOp>(op->getLoc(), after);
}

/// Executes `op` until its only result holds.
void repeat(Operation *op, OpBuilder &builder) {
  Block *before = op->getBlock();
  Block *loop = before->splitBlock(op);
  Block *after = loop->splitBlock(op->getNextNode());
  builder.setInsertionPointToEnd(before);
  builder.create<LLVM::BrOp>(op->getLoc(), loop);
  builder.setInsertionPointToEnd(loop);
  builder.create<LLVM::CondBrOp>(op->getLoc(), op->getResult(0), after, loop);
}

/// Returns what is wrong with it, or nothing.
std::string replace(Operation *op, Instruction instruction) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  std::string error;
  FailureOr<kernel::PtxInstruction> known =
      kernel::parsePtxInstruction(instruction.text, instruction.operands.size(), error);
  if (failed(known))
    return error;

  SmallVector<Type> results;
  auto structure = op->getNumResults() ? dyn_cast<LLVM::LLVMStructType>(op->getResult(0).getType())
                                       : LLVM::LLVMStructType();
  for (auto [index, type] : llvm::enumerate(known->results)) {
    Type result = typeOf(type, builder);
    if (structure && index < structure.getBody().size())
      result = structure.getBody()[index];
    else if (!structure && op->getNumResults() && index == instruction.firstResult)
      result = op->getResult(0).getType();
    results.push_back(result);
  }
  std::string mismatch = "'" + instruction.text + "' has other operands or results";
  if (known->operands.size() != instruction.operands.size() ||
      (structure && structure.getBody().size() != results.size()))
    return mismatch;
  for (auto [type, value] : llvm::zip(known->operands, instruction.operands)) {
    auto pointer = dyn_cast<LLVM::LLVMPointerType>(value.getType());
    if (type == PtxType::Shared && pointer && pointer.getAddressSpace() == kGeneric)
      value = builder.create<LLVM::AddrSpaceCastOp>(
          loc, LLVM::LLVMPointerType::get(op->getContext(), kShared), value);
    if (!kernel::accepts(type, value.getType()))
      return mismatch;
  }
  for (auto [type, result] : llvm::zip(known->results, results))
    if (!kernel::accepts(type, result))
      return mismatch;

  auto twin = builder.create<kernel::PtxOp>(loc, results, instruction.text, instruction.operands);
  if (structure) {
    Value all = builder.create<LLVM::UndefOp>(loc, structure);
    for (auto [index, result] : llvm::enumerate(twin.getOutputs()))
      all = builder.create<LLVM::InsertValueOp>(loc, all, result, index);
    op->getResult(0).replaceAllUsesWith(all);
  } else if (op->getNumResults()) {
    op->getResult(0).replaceAllUsesWith(twin.getOutputs()[instruction.firstResult]);
  }
  if (instruction.predicate)
    guard(twin, instruction.predicate, builder);
  if (instruction.repeats)
    repeat(twin, builder);
  op->erase();
  return {};
}

} // namespace

bool cameo::mayHaveNvvmInstructions(Operation *module) {
  // What the compiler writes itself stays as it is: registers, block barriers, shuffles.
  auto stays = [](Operation *op) {
    return op->getName().stripDialect().starts_with("read.ptx.sreg") ||
           isa<NVVM::Barrier0Op, NVVM::BarrierOp, NVVM::ShflOp, NVVM::SyncWarpOp,
               NVVM::VoteBallotOp>(op);
  };
  return module
      ->walk([&](Operation *op) {
        return isa<NVVM::NVVMDialect>(op->getDialect()) && !stays(op) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct ReplaceNvvmInstructions : cameo::impl::ReplaceNvvmInstructionsBase<ReplaceNvvmInstructions> {
  using ReplaceNvvmInstructionsBase::ReplaceNvvmInstructionsBase;

  void runOnOperation() override {
    SmallVector<Operation *> operations;
    getOperation()->walk([&](Operation *op) {
      if (isa<NVVM::NVVMDialect>(op->getDialect()))
        operations.push_back(op);
    });
    bool failing = false;
    for (Operation *op : operations) {
      OpBuilder builder(op);
      std::optional<Instruction> instruction = instructionOf(op, builder);
      if (!instruction)
        continue;
      Location loc = op->getLoc();
      std::string name = op->getName().getStringRef().str();
      if (std::string what = replace(op, std::move(*instruction)); !what.empty()) {
        emitError(loc) << "no instruction is this " << name << ": " << what;
        failing = true;
      }
    }
    if (failing)
      signalPassFailure();
  }
};
} // namespace
