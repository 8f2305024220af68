// What basic blocks of device-stage kernels compute, for the simulator's counters.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/lower/DevicePatterns.h"
#include "codegen/sim/SimContext.h"
#include "passes/Statistics.h"

#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace cameo {
#define GEN_PASS_DEF_INFEROPERATIONCOUNTS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

static uint32_t elementsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

/// Local memory is what is neither global nor shared.
static bool isLocal(Value pointer) {
  unsigned space = cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
  return space != kGlobal && space != kShared;
}

static CameoSimCount floatKind(Type element, bool fma) {
  if (element.isF64())
    return fma ? CAMEO_SIM_COUNT_F64_FMA : CAMEO_SIM_COUNT_F64;
  if (element.getIntOrFloatBitWidth() == 16)
    return CAMEO_SIM_COUNT_F16;
  return fma ? CAMEO_SIM_COUNT_F32_FMA : CAMEO_SIM_COUNT_F32;
}

/// The operations of one execution of `block` by a thread. Accesses to global and shared memory,
/// synchronisation and `kernel.ptx` are not among them: the engine counts those as they happen.
static CameoSimBasicBlock countOperations(Block &block) {
  CameoSimBasicBlock result = {};
  auto add = [&](CameoSimCount kind, uint32_t count) { result.counts[kind] += count; };
  for (Operation &op : block) {
    if (!isa<LLVM::LLVMDialect>(op.getDialect()))
      continue;
    TypeSwitch<Operation *>(&op)
        .Case([&](LLVM::LoadOp load) {
          if (isLocal(load.getAddr()))
            add(CAMEO_SIM_COUNT_LOCAL_READ, DataLayout::closest(load).getTypeSize(load.getType()));
        })
        .Case([&](LLVM::StoreOp store) {
          if (isLocal(store.getAddr()))
            add(CAMEO_SIM_COUNT_LOCAL_WRITTEN,
                DataLayout::closest(store).getTypeSize(store.getValue().getType()));
        })
        .Case([&](LLVM::GEPOp address) {
          if (!address.getDynamicIndices().empty())
            add(CAMEO_SIM_COUNT_INTEGER, 1);
        })
        .Case<LLVM::FMAOp, LLVM::FMulAddOp>([&](Operation *fma) {
          Type type = fma->getResult(0).getType();
          add(floatKind(getElementTypeOrSelf(type), /*fma=*/true), elementsOf(type));
        })
        .Case<LLVM::FAddOp, LLVM::FSubOp, LLVM::FMulOp, LLVM::FNegOp, LLVM::FAbsOp, LLVM::MaxNumOp,
              LLVM::MinNumOp, LLVM::MaximumOp, LLVM::MinimumOp, LLVM::FCmpOp, LLVM::CopySignOp>(
            [&](Operation *arithmetic) {
              Type type = arithmetic->getOperand(0).getType();
              add(floatKind(getElementTypeOrSelf(type), /*fma=*/false), elementsOf(type));
            })
        .Case<LLVM::FPExtOp, LLVM::FPTruncOp, LLVM::FPToSIOp, LLVM::FPToUIOp, LLVM::SIToFPOp,
              LLVM::UIToFPOp, LLVM::FFloorOp, LLVM::FCeilOp, LLVM::RoundEvenOp, LLVM::FTruncOp,
              LLVM::RoundOp, LLVM::RintOp>([&](Operation *conversion) {
          add(CAMEO_SIM_COUNT_CONVERSION, elementsOf(conversion->getResult(0).getType()));
        })
        .Case<LLVM::FDivOp, LLVM::FRemOp, LLVM::SqrtOp, LLVM::CallOp, LLVM::CallIntrinsicOp,
              LLVM::ExpOp, LLVM::Exp2Op, LLVM::LogOp, LLVM::Log2Op, LLVM::PowOp, LLVM::SinOp,
              LLVM::CosOp>([&](Operation *special) {
          add(CAMEO_SIM_COUNT_SPECIAL,
              special->getNumResults() ? elementsOf(special->getResult(0).getType()) : 1);
        })
        .Case<LLVM::AddOp, LLVM::SubOp, LLVM::MulOp, LLVM::SDivOp, LLVM::UDivOp, LLVM::SRemOp,
              LLVM::URemOp, LLVM::AndOp, LLVM::OrOp, LLVM::XOrOp, LLVM::ShlOp, LLVM::LShrOp,
              LLVM::AShrOp, LLVM::ICmpOp, LLVM::SelectOp, LLVM::SMaxOp, LLVM::SMinOp, LLVM::UMaxOp,
              LLVM::UMinOp, LLVM::AbsOp, LLVM::CtPopOp>([&](Operation *arithmetic) {
          add(CAMEO_SIM_COUNT_INTEGER, elementsOf(arithmetic->getResult(0).getType()));
        });
  }
  return result;
}

namespace {
struct InferOperationCounts : cameo::impl::InferOperationCountsBase<InferOperationCounts> {
  using InferOperationCountsBase::InferOperationCountsBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    for (LLVM::LLVMFuncOp kernel : simKernels(getOperation())) {
      SmallVector<Attribute> blocks;
      for (Block &block : kernel.getBody()) {
        CameoSimBasicBlock counts = countOperations(block);
        blocks.push_back(builder.getDenseI32ArrayAttr(
            ArrayRef(reinterpret_cast<const int32_t *>(counts.counts), CAMEO_SIM_COUNTS)));
        count(&getContext(), getArgument(), "blocks");
      }
      kernel->setAttr(kSimCountsAttr, builder.getArrayAttr(blocks));
    }
  }
};
} // namespace
