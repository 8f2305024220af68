// The invariants of stages: what a rung of the ladder promises to the passes that follow it.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/Pipeline.h"
#include "codegen/lower/DevicePatterns.h"
#include "codegen/lower/TargetInstructions.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/InPlace.h"
#include "passes/graph/ConstantFolding.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace cameo {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

struct StageVerifier {
  ModuleOp module;
  Stage stage;

  InFlightDiagnostic error(Operation *op) {
    return emitError(op->getLoc())
           << "'" << op->getName() << "' at stage " << stageName(stage) << ": ";
  }
  LogicalResult verify() {
    if (stage < Stage::Dispatched)
      return verifyOnnx();
    if (failed(verifyVariants()))
      return failure();
    WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<onnx::OnnxDialect>(op->getDialect())) {
        error(op) << "operators have become dispatches by now";
        return WalkResult::interrupt();
      }
      if (failed(verify(op)))
        return WalkResult::interrupt();
      // What is inside a dispatch is its own affair.
      return isa<kernel::DispatchOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

private:
  LogicalResult verifyOnnx() {
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    if (functions.size() != 1)
      return emitError(module.getLoc()) << "a model at stage " << stageName(stage)
                                        << " is one function; there are " << functions.size();
    WalkResult result = functions.front().walk([&](Operation *op) {
      if (!isa<func::FuncDialect, onnx::OnnxDialect>(op->getDialect())) {
        error(op) << "only the onnx dialect is expected";
        return WalkResult::interrupt();
      }
      return stage == Stage::Normalized ? WalkResult(verifyNormalized(op)) : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    if (stage == Stage::Normalized)
      if (Operation *op = findUninferred(functions.front()))
        return error(op) << "it has no rank, although its shape can be inferred";
    return success();
  }

  /// What a pass of this stage would still change.
  LogicalResult verifyNormalized(Operation *op) {
    if (identityOf(op))
      return error(op) << "it computes nothing; what uses it can use its operand";
    int64_t growth;
    if (!op->hasAttr(kKeptUnfoldedAttr) && !op->getNumRegions() &&
        succeeded(foldToConstants(op, kFoldedBytes, /*reclaim=*/false, growth)))
      return error(op) << "its operands are constants, so its results are";
    if (foldsIntoWindow(op))
      return error(op) << "the padding before it can be its own";
    if (foldsIntoConvolution(op))
      return error(op) << "it can be folded into the convolution before it";
    return success();
  }

  LogicalResult verifyVariants() {
    auto variants = module.getOps<rt::VariantOp>();
    if (variants.empty())
      return emitError(module.getLoc()) << "a model at stage " << stageName(stage)
                                        << " has a variant for each architecture; there is none";
    for (auto function : module.getOps<func::FuncOp>())
      return error(function) << "functions stand in variants";
    for (rt::VariantOp variant : variants)
      if (variant.getOps<func::FuncOp>().empty())
        return error(variant) << "it has no entry function";
    return success();
  }

  LogicalResult verify(Operation *op) {
    if (auto dispatch = dyn_cast<kernel::DispatchOp>(op)) {
      if (stage >= Stage::Tiled)
        return error(op) << "dispatches have become launches by now";
      if (stage == Stage::Scheduled && !dispatch.getSchedule())
        return error(op) << "it has no schedule";
    }
    if (isa<rt::ConcatOp>(op))
      return error(op) << "concatenations have become storages by now";
    // Dispatches are not entered.
    if (isa<linalg::LinalgDialect>(op->getDialect()))
      return error(op) << "compute ops stand in dispatches";
    if (stage < Stage::Tiled)
      return success();
    if (auto launch = dyn_cast<rt::LaunchOp>(op); launch && failed(verifyLaunch(launch)))
      return failure();
    bool isKernel = op->getParentOfType<gpu::GPUModuleOp>() != nullptr;
    if (stage == Stage::Tiled && isKernel)
      return verifyMemorySpaces(op);
    if (stage >= Stage::Device && isKernel &&
        !isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()) &&
        !isa<gpu::ModuleEndOp, kernel::PtxOp>(op))
      return error(op) << "kernels are llvm, nvvm and kernel.ptx by now";
    if (auto instruction = dyn_cast<kernel::PtxOp>(op); instruction && stage >= Stage::Device)
      return verifyInstruction(instruction);
    if (stage >= Stage::Device && isa<LLVM::InlineAsmOp>(op))
      return error(op) << "inline assembly appears only in PTX";
    if (stage == Stage::Host && !isKernel && !isa<rt::ConstantOp>(op))
      return verifyBuffers(op);
    return success();
  }

  LogicalResult verifyLaunch(rt::LaunchOp launch) {
    Operation *kernel = SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr());
    if (stage == Stage::Tiled ? !isa_and_nonnull<gpu::GPUFuncOp>(kernel)
                              : !isa_and_nonnull<LLVM::LLVMFuncOp>(kernel))
      return error(launch) << "no kernel " << launch.getKernelAttr();
    // The compiler of the kernel must know of memory that parameters share.
    auto pairs = launch->getAttrOfType<DenseI64ArrayAttr>(rt::kInPlaceAttr);
    for (int64_t position : pairs ? pairs.asArrayRef() : ArrayRef<int64_t>())
      if (cast<FunctionOpInterface>(kernel).getArgAttr(position,
                                                       LLVM::LLVMDialect::getNoAliasAttrName()))
        return error(launch) << "parameter " << position << " of " << launch.getKernelAttr()
                             << " is noalias and may be written in place";
    auto wanted = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedAttribute);
    if (wanted && (!launch.getShared() ||
                   getConstantIntValue(launch.getShared()) != std::optional(wanted.getInt())))
      return error(launch) << "it needs " << wanted.getInt() << " B of dynamic shared memory for "
                           << launch.getKernelAttr();
    return success();
  }

  /// Only a variant has a target.
  LogicalResult verifyInstruction(kernel::PtxOp op) {
    auto variant = op->getParentOfType<rt::VariantOp>();
    if (!variant)
      return error(op) << "kernels stand in variants";
    llvm::Expected<const Target *> target = findTarget(variant.getTarget());
    if (!target)
      return error(op) << llvm::toString(target.takeError());
    return verifyTargetInstruction(op, **target);
  }

  LogicalResult verifyMemorySpaces(Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto memref = dyn_cast<MemRefType>(type); memref && !memref.getMemorySpace())
        return error(op) << "the memory space of " << memref << " is not named";
    return success();
  }

  LogicalResult verifyBuffers(Operation *op) {
    for (Type type : llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                              llvm::to_vector(op->getResultTypes())))
      if (isa<TensorType>(type))
        return error(op) << "tensors have become buffers by now";
    if (auto get = dyn_cast<rt::GetConstantOp>(op)) {
      auto constant = module.lookupSymbol<rt::ConstantOp>(get.getConstant());
      if (constant && !constant.getOffset())
        return error(op) << "constant @" << get.getConstant() << " has no place";
    }
    return success();
  }
};

struct VerifyStage : cameo::impl::VerifyStageBase<VerifyStage> {
  using VerifyStageBase::VerifyStageBase;

  void runOnOperation() override {
    llvm::Expected<Stage> known = findStage(stage);
    if (!known) {
      emitError(getOperation().getLoc()) << llvm::toString(known.takeError());
      return signalPassFailure();
    }
    if (failed(StageVerifier{getOperation(), *known}.verify()))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
