// nvvm.read.ptx.sreg.tid.x                ==>    a load from the thread's context
// nvvm.barrier0, shfl.sync, vote, ...     ==>    calls of the engine
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "codegen/sim/SimTrace.h"
#include "passes/Statistics.h"

namespace cameo {
#define GEN_PASS_DEF_LOWERNVVMTOENGINE
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

/// Where in a thread's context the special register is that `op` reads.
static std::optional<size_t> registerOf(Operation *op) {
  struct Register {
    StringRef name;
    size_t offset;
  };
#define CAMEO_SIM_REGISTER(NAME, FIELD)                                                            \
  {"nvvm.read.ptx.sreg." NAME ".x", offsetof(CameoSimThread, FIELD)},                              \
      {"nvvm.read.ptx.sreg." NAME ".y", offsetof(CameoSimThread, FIELD) + 4},                      \
      {"nvvm.read.ptx.sreg." NAME ".z", offsetof(CameoSimThread, FIELD) + 8}
  static constexpr Register registers[] = {
      CAMEO_SIM_REGISTER("tid", tid),
      CAMEO_SIM_REGISTER("ctaid", ctaid),
      CAMEO_SIM_REGISTER("ntid", ntid),
      CAMEO_SIM_REGISTER("nctaid", nctaid),
      CAMEO_SIM_REGISTER("clusterid", clusterid),
      CAMEO_SIM_REGISTER("nclusterid", nclusterid),
      CAMEO_SIM_REGISTER("cluster.ctaid", cluster_ctaid),
      CAMEO_SIM_REGISTER("cluster.nctaid", cluster_nctaid),
      {"nvvm.read.ptx.sreg.cluster.ctarank", offsetof(CameoSimThread, cluster_ctarank)},
      {"nvvm.read.ptx.sreg.cluster.nctarank", offsetof(CameoSimThread, cluster_nctarank)},
      {"nvvm.read.ptx.sreg.laneid", offsetof(CameoSimThread, lane)},
  };
#undef CAMEO_SIM_REGISTER
  for (const Register &known : registers)
    if (known.name == op->getName().getStringRef())
      return known.offset;
  return std::nullopt;
}

static uint32_t kindOf(NVVM::ShflKind kind) {
  switch (kind) {
  case NVVM::ShflKind::idx:
    return CAMEO_SIM_SHFL_IDX;
  case NVVM::ShflKind::up:
    return CAMEO_SIM_SHFL_UP;
  case NVVM::ShflKind::down:
    return CAMEO_SIM_SHFL_DOWN;
  case NVVM::ShflKind::bfly:
    return CAMEO_SIM_SHFL_BFLY;
  }
  llvm_unreachable("all kinds are there");
}

/// The engine gives the value, and above it the predicate.
static void lowerShuffle(NVVM::ShflOp op, SimContext &context) {
  OpBuilder &builder = context.builder;
  Location loc = op.getLoc();
  Value value = op.getVal();
  Type type = value.getType();
  if (type != context.i32)
    value = builder.create<LLVM::BitcastOp>(loc, context.i32, value);
  Value packed =
      context
          .call(loc, CAMEO_SIM_ENGINE(shuffle),
                {context.constant(loc, context.i32, kindOf(op.getKind())), op.getThreadMask(),
                 value, op.getOffset(), op.getMaskAndClamp(), context.site(loc, "shuffle")})
          .getResult();
  Value result = builder.create<LLVM::TruncOp>(loc, context.i32, packed);
  if (type != context.i32)
    result = builder.create<LLVM::BitcastOp>(loc, type, result);
  if (auto pair = dyn_cast<LLVM::LLVMStructType>(op.getType())) {
    Value high = builder.create<LLVM::LShrOp>(loc, packed, context.constant(loc, context.i64, 32));
    Value valid = builder.create<LLVM::TruncOp>(loc, builder.getI1Type(), high);
    Value both = builder.create<LLVM::UndefOp>(loc, pair);
    both = builder.create<LLVM::InsertValueOp>(loc, both, result, 0);
    result = builder.create<LLVM::InsertValueOp>(loc, both, valid, 1);
  }
  context.replace(op, result);
}

/// Whether `op` is known.
static bool lower(Operation *op, SimContext &context) {
  OpBuilder &builder = context.builder;
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  auto word = [&](int64_t value) { return context.constant(loc, context.i32, value); };
  if (std::optional<size_t> offset = registerOf(op)) {
    context.replace(op, context.member(context.i32, *offset));
  } else if (isa<NVVM::WarpSizeOp>(op)) {
    context.replace(op, word(32));
  } else if (isa<NVVM::Barrier0Op>(op)) {
    context.call(loc, CAMEO_SIM_ENGINE(barrier), {word(0), word(0), context.site(loc, "barrier")});
    op->erase();
  } else if (auto barrier = dyn_cast<NVVM::BarrierOp>(op)) {
    Value id = barrier.getBarrierId() ? barrier.getBarrierId() : word(0);
    Value count = barrier.getNumberOfThreads() ? barrier.getNumberOfThreads() : word(0);
    context.call(loc, CAMEO_SIM_ENGINE(barrier), {id, count, context.site(loc, "barrier")});
    op->erase();
  } else if (auto sync = dyn_cast<NVVM::SyncWarpOp>(op)) {
    context.call(loc, CAMEO_SIM_ENGINE(warp_sync),
                 {sync.getMask(), context.site(loc, "warp barrier")});
    op->erase();
  } else if (auto vote = dyn_cast<NVVM::VoteBallotOp>(op)) {
    Value predicate = builder.create<LLVM::ZExtOp>(loc, context.i32, vote.getPred());
    context.replace(op, context
                            .call(loc, CAMEO_SIM_ENGINE(vote),
                                  {word(CAMEO_SIM_VOTE_BALLOT), vote.getMask(), predicate,
                                   context.site(loc, "vote")})
                            .getResult());
  } else if (auto shuffle = dyn_cast<NVVM::ShflOp>(op)) {
    lowerShuffle(shuffle, context);
  } else if (auto call = dyn_cast<LLVM::CallOp>(op)) {
    context.call(loc, CAMEO_SIM_ENGINE(trace), llvm::to_vector(call.getArgOperands()));
    op->erase();
  } else {
    return false;
  }
  return true;
}

namespace {
struct LowerNvvmToEngine : cameo::impl::LowerNvvmToEngineBase<LowerNvvmToEngine> {
  using LowerNvvmToEngineBase::LowerNvvmToEngineBase;

  void runOnOperation() override {
    bool failing = false;
    for (LLVM::LLVMFuncOp body : simBodies(getOperation())) {
      SimContext context(body);
      SmallVector<Operation *> operations;
      body.walk([&](Operation *op) {
        auto call = dyn_cast<LLVM::CallOp>(op);
        if (op != body && (!isa<LLVM::LLVMDialect>(op->getDialect()) ||
                           (call && call.getCallee() == kTraceFunction)))
          operations.push_back(op);
      });
      for (Operation *op : operations) {
        if (lower(op, context)) {
          count(&getContext(), getArgument(), "lowered");
          continue;
        }
        emitError(op->getLoc()) << "kernel " << entryOf(body).getName()
                                << ": the simulator does not know " << op->getName().getStringRef();
        failing = true;
      }
    }
    if (failing)
      return signalPassFailure();
    if (Operation *trace = SymbolTable::lookupSymbolIn(getOperation(), kTraceFunction))
      trace->erase();
  }
};
} // namespace
