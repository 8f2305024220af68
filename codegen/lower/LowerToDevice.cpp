// LowerToDevice: tiled kernels ==> llvm and nvvm. See Passes.td for what it promises.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/lower/DevicePatterns.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Rt.h"
#include "passes/Statistics.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace cameo {
#define GEN_PASS_DEF_LOWERTODEVICE
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace cameo;

DeviceTypeConverter::DeviceTypeConverter(MLIRContext *context, const LowerToLLVMOptions &options)
    : LLVMTypeConverter(context, options) {
  addConversion([](MemRefType type) -> std::optional<Type> {
    if (type.getRank() != 1 || !type.getLayout().isIdentity())
      return Type();
    unsigned space = kGeneric;
    if (auto attr = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace()))
      switch (attr.getValue()) {
      case gpu::AddressSpace::Global:
        space = kGlobal;
        break;
      case gpu::AddressSpace::Workgroup:
        space = kShared;
        break;
      case gpu::AddressSpace::Private:
        break;
      }
    return LLVM::LLVMPointerType::get(type.getContext(), space);
  });
}

Type DeviceTypeConverter::memoryType(Type element) const {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return convertType(element);
}

namespace {

struct LowerToDevice : cameo::impl::LowerToDeviceBase<LowerToDevice> {
  using LowerToDeviceBase::LowerToDeviceBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    llvm::Expected<const Target *> found = targetOf(module);
    if (!found) {
      module.emitError(llvm::toString(found.takeError()));
      return signalPassFailure();
    }
    unsigned indexBits = 64;
    if (auto attr = declaredAttr<kernel::KernelDialect::IndexBitsAttrHelper>(module))
      indexBits = attr.getInt();
    if (indexBits != 32 && indexBits != 64) {
      module.emitError() << "kernel.index_bits is " << indexBits << "; 32 and 64 are possible";
      return signalPassFailure();
    }
    if (failed(verifyTypes(module)) || failed(verifyLimits(module, **found)) ||
        failed(makeExact(module, **found)) || failed(lowerStructuredControlFlow(module)) ||
        failed(lowerToLlvm(module, indexBits)))
      return signalPassFailure();
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        count(&getContext(), getArgument(), "kernels");
  }

  llvm::Expected<const Target *> targetOf(gpu::GPUModuleOp module) {
    if (auto attr = dyn_cast_or_null<rt::TargetAttr>(
            declaredAttr<kernel::KernelDialect::TargetAttrHelper>(module)))
      return findTarget(attr);
    if (auto variant = module->getParentOfType<rt::VariantOp>())
      return findTarget(variant.getTarget());
    return findTarget(target);
  }

  /// Conversion would only say that an operation is illegal; the reason is nearly always this one.
  LogicalResult verifyTypes(gpu::GPUModuleOp module) {
    auto check = [](Operation *op, Type type) -> LogicalResult {
      auto memref = dyn_cast<MemRefType>(type);
      if (!memref || (memref.getRank() == 1 && memref.getLayout().isIdentity()))
        return success();
      return op->emitError() << "kernels take rank-1 contiguous memrefs; this is " << type;
    };
    WalkResult result = module.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (failed(check(op, type)))
          return WalkResult::interrupt();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            if (failed(check(op, type)))
              return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult verifyLimits(gpu::GPUModuleOp module, const Target &target) {
    for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
      // PTX identifiers; LLVM would rename anything else, and the launch would not find it.
      auto isIdentifier = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; };
      if (!llvm::all_of(kernel.getName(), isIdentifier) || llvm::isDigit(kernel.getName().front()))
        return kernel.emitError() << "'" << kernel.getName()
                                  << "' cannot be a kernel's name in PTX";
      if (auto block = declaredAttr<kernel::KernelDialect::BlockAttrHelper>(kernel)) {
        int64_t threads = 1;
        for (int32_t size : block.asArrayRef())
          threads *= size;
        if (block.size() != 3 || threads < 1 || threads > target.maxThreadsPerBlock)
          return kernel.emitError() << "requires a block of " << threads << " threads; "
                                    << target.name << " allows " << target.maxThreadsPerBlock;
      }
      uint64_t shared = 0;
      for (BlockArgument buffer : kernel.getWorkgroupAttributions()) {
        auto type = cast<MemRefType>(buffer.getType());
        if (!type.hasStaticShape())
          return kernel.emitError("shared memory needs a static size");
        unsigned bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
        shared = llvm::alignTo(shared, kPointerAlignment) +
                 type.getNumElements() * llvm::divideCeil(bits, 8);
      }
      if (auto dynamic = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedAttribute)) {
        uint64_t all = shared + dynamic.getInt();
        if (dynamic.getInt() < 0 || all > target.maxSharedPerBlock)
          return kernel.emitError() << "requires " << all << " B of shared memory; " << target.name
                                    << " allows " << target.maxSharedPerBlock << " B";
      }
      if (shared > target.staticSharedPerBlock)
        return kernel.emitError() << "requires " << shared << " B of static shared memory; "
                                  << target.name << " allows " << target.staticSharedPerBlock
                                  << " B";
    }
    return success();
  }

  LogicalResult makeExact(gpu::GPUModuleOp module, const Target &target) {
    // First, because they recognise minima that are taken apart below.
    RewritePatternSet narrow(&getContext());
    populateNarrowFloatPatterns(narrow, target);
    if (failed(applyPatternsAndFoldGreedily(module, std::move(narrow))))
      return failure();
    RewritePatternSet patterns(&getContext());
    populateExactFloatPatterns(patterns, target);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    return applyPatternsAndFoldGreedily(module, std::move(patterns));
  }

  LogicalResult lowerStructuredControlFlow(gpu::GPUModuleOp module) {
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget conversion(getContext());
    conversion.addIllegalDialect<scf::SCFDialect>();
    conversion.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(module, conversion, std::move(patterns));
  }

  LogicalResult lowerToLlvm(gpu::GPUModuleOp module, unsigned indexBits) {
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(indexBits);
    DeviceTypeConverter converter(&getContext(), options);
    RewritePatternSet patterns(&getContext());
    populateGpuToDevicePatterns(converter, patterns);
    populateMemoryToDevicePatterns(converter, patterns);
    populateMathToDevicePatterns(converter, patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns,
                                           /*reassociateFPReductions=*/false,
                                           /*force32BitVectorIndices=*/true);
    ConversionTarget conversion(getContext());
    conversion.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
    conversion.addLegalOp<gpu::GPUModuleOp, gpu::ModuleEndOp, kernel::PtxOp>();
    // NVPTX has no instructions for these; they are libdevice calls.
    conversion.addIllegalOp<LLVM::CosOp, LLVM::ExpOp, LLVM::Exp2Op, LLVM::FRemOp, LLVM::LogOp,
                            LLVM::Log10Op, LLVM::Log2Op, LLVM::PowOp, LLVM::SinOp>();
    return applyFullConversion(module, conversion, std::move(patterns));
  }
};

} // namespace
