// Kernels and what ties their threads together:
//
//   gpu.func ... workgroup(%s : memref<4096xf32, ...>) kernel   ==> llvm.func, a shared global
//   gpu.thread_id x                                             ==> nvvm.read.ptx.sreg.tid.x
//   gpu.barrier                                                 ==> nvvm.barrier0
//   gpu.shuffle xor %v, %o, %w : f32                            ==> nvvm.shfl.sync bfly
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace cameo;

namespace {

/// Name of a shared variable of a kernel: unique once kernels' texts are put together.
std::string sharedName(StringRef kernel, Twine what) { return (kernel + "$" + what).str(); }

template <typename Op> struct GpuPattern : ConvertOpToLLVMPattern<Op> {
  GpuPattern(const DeviceTypeConverter &converter)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10), types(converter) {}
  const DeviceTypeConverter &types;
};

struct LowerKernel : GpuPattern<gpu::GPUFuncOp> {
  using GpuPattern::GpuPattern;

  LogicalResult matchAndRewrite(gpu::GPUFuncOp func, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!func.isKernel())
      return func.emitError("only kernels are compiled; inline other functions");
    if (func.getNumPrivateAttributions() != 0)
      return func.emitError("private attributions are not supported; use memref.alloca");

    unsigned parameters = func.getFunctionType().getNumInputs();
    TypeConverter::SignatureConversion signature(func.front().getNumArguments());
    SmallVector<Type> parameterTypes;
    for (unsigned i = 0; i < parameters; ++i) {
      Type type = types.convertType(func.getArgument(i).getType());
      if (!type)
        return func.emitError() << "parameter " << i << " has type "
                                << func.getArgument(i).getType() << ", which no kernel takes";
      signature.addInputs(i, type);
      parameterTypes.push_back(type);
    }
    auto lowered = rewriter.create<LLVM::LLVMFuncOp>(
        func.getLoc(), func.getName(),
        LLVM::LLVMFunctionType::get(rewriter.getType<LLVM::LLVMVoidType>(), parameterTypes));
    copyAttributes(func, lowered, rewriter);

    {
      OpBuilder::InsertionGuard guard(rewriter);
      for (auto [i, buffer] : llvm::enumerate(func.getWorkgroupAttributions())) {
        auto type = cast<MemRefType>(buffer.getType());
        int64_t alignment = kPointerAlignment;
        if (auto attr = dyn_cast_or_null<IntegerAttr>(
                func.getWorkgroupAttributionAttr(i, LLVM::LLVMDialect::getAlignAttrName())))
          alignment = attr.getInt();
        rewriter.setInsertionPoint(lowered);
        auto global = rewriter.create<LLVM::GlobalOp>(
            buffer.getLoc(),
            LLVM::LLVMArrayType::get(types.memoryType(type.getElementType()),
                                     type.getNumElements()),
            /*isConstant=*/false, LLVM::Linkage::Internal,
            sharedName(func.getName(), "shared" + Twine(i)), /*value=*/Attribute(), alignment,
            kShared);
        rewriter.setInsertionPointToStart(&func.front());
        Value pointer = rewriter.create<LLVM::AddressOfOp>(buffer.getLoc(), global);
        signature.remapInput(parameters + i, pointer);
      }
    }
    rewriter.inlineRegionBefore(func.getBody(), lowered.getBody(), lowered.end());
    if (failed(rewriter.convertRegionTypes(&lowered.getBody(), types, &signature)))
      return failure();
    rewriter.eraseOp(func);
    return success();
  }

  static void copyAttributes(gpu::GPUFuncOp func, LLVM::LLVMFuncOp lowered,
                             ConversionPatternRewriter &rewriter) {
    lowered->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), rewriter.getUnitAttr());
    for (NamedAttribute attr : func->getAttrs())
      if (isa_and_nonnull<kernel::KernelDialect>(attr.getNameDialect()))
        lowered->setAttr(attr.getName(), attr.getValue());
    if (auto block = declaredAttr<kernel::KernelDialect::BlockAttrHelper>(func))
      lowered->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), block);
    if (Attribute cluster = func->getAttr(kClusterAttribute))
      lowered->setAttr(kClusterAttribute, cluster);
    for (unsigned i = 0; i < func.getFunctionType().getNumInputs(); ++i) {
      if (DictionaryAttr attrs = func.getArgAttrDict(i))
        for (NamedAttribute attr : attrs)
          lowered.setArgAttr(i, attr.getName(), attr.getValue());
      if (isa<LLVM::LLVMPointerType>(lowered.getFunctionType().getParamType(i)) &&
          !lowered.getArgAttr(i, LLVM::LLVMDialect::getAlignAttrName()))
        lowered.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                           rewriter.getI64IntegerAttr(kPointerAlignment));
    }
  }
};

struct LowerReturn : GpuPattern<gpu::ReturnOp> {
  using GpuPattern::GpuPattern;

  LogicalResult matchAndRewrite(gpu::ReturnOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

/// An unsigned 32-bit register as an index.
Value asIndex(const DeviceTypeConverter &types, Location loc, Value value, OpBuilder &builder) {
  Type type = types.getIndexType();
  return value.getType() == type ? value : builder.create<LLVM::ZExtOp>(loc, type, value);
}

template <typename Op, typename X, typename Y, typename Z> struct LowerIndex : GpuPattern<Op> {
  using GpuPattern<Op>::GpuPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    Value value;
    switch (op.getDimension()) {
    case gpu::Dimension::x:
      value = rewriter.create<X>(loc, i32);
      break;
    case gpu::Dimension::y:
      value = rewriter.create<Y>(loc, i32);
      break;
    case gpu::Dimension::z:
      value = rewriter.create<Z>(loc, i32);
      break;
    }
    rewriter.replaceOp(op, asIndex(this->types, loc, value, rewriter));
    return success();
  }
};

/// The block's size is a constant where the kernel states it.
struct LowerBlockDim
    : LowerIndex<gpu::BlockDimOp, NVVM::BlockDimXOp, NVVM::BlockDimYOp, NVVM::BlockDimZOp> {
  using LowerIndex::LowerIndex;

  LogicalResult matchAndRewrite(gpu::BlockDimOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto func = op->getParentOfType<FunctionOpInterface>();
    auto block = func ? declaredAttr<kernel::KernelDialect::BlockAttrHelper>(func) : nullptr;
    if (!block || block.size() != 3)
      return LowerIndex::matchAndRewrite(op, adaptor, rewriter);
    Type type = types.getIndexType();
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(
        op, type, rewriter.getIntegerAttr(type, block[static_cast<unsigned>(op.getDimension())]));
    return success();
  }
};

struct LowerLaneId : GpuPattern<gpu::LaneIdOp> {
  using GpuPattern::GpuPattern;

  LogicalResult matchAndRewrite(gpu::LaneIdOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value lane = rewriter.create<NVVM::LaneIdOp>(op.getLoc(), rewriter.getI32Type());
    rewriter.replaceOp(op, asIndex(types, op.getLoc(), lane, rewriter));
    return success();
  }
};

struct LowerBarrier : GpuPattern<gpu::BarrierOp> {
  using GpuPattern::GpuPattern;

  LogicalResult matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(op);
    return success();
  }
};

/// Width w splits the warp into segments of w lanes; all 32 lanes take part. 64-bit values go as
/// two halves.
struct LowerShuffle : GpuPattern<gpu::ShuffleOp> {
  using GpuPattern::GpuPattern;

  LogicalResult matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type(), i64 = rewriter.getI64Type();
    auto constant = [&](Type type, int64_t value) -> Value {
      return rewriter.create<LLVM::ConstantOp>(loc, type, rewriter.getIntegerAttr(type, value));
    };
    auto kind = NVVM::ShflKind::bfly;
    switch (op.getMode()) {
    case gpu::ShuffleMode::XOR:
      break;
    case gpu::ShuffleMode::UP:
      kind = NVVM::ShflKind::up;
      break;
    case gpu::ShuffleMode::DOWN:
      kind = NVVM::ShflKind::down;
      break;
    case gpu::ShuffleMode::IDX:
      kind = NVVM::ShflKind::idx;
      break;
    }
    // PTX ISA, shfl.sync: c holds the segment mask (32 - w) in bits 8-12 and the clamp, which is
    // the segment's last lane, or its first for `up`.
    Value width = rewriter.create<LLVM::SubOp>(loc, constant(i32, 32), adaptor.getWidth());
    Value clamp = rewriter.create<LLVM::ShlOp>(loc, width, constant(i32, 8));
    if (kind != NVVM::ShflKind::up)
      clamp = rewriter.create<LLVM::OrOp>(loc, clamp, constant(i32, 31));
    Value everyone = constant(i32, -1);
    Type pairType = LLVM::LLVMStructType::getLiteral(getContext(), {i32, rewriter.getI1Type()});
    Value valid;
    auto shuffle = [&](Value word) -> Value {
      Value pair = rewriter.create<NVVM::ShflOp>(loc, pairType, everyone, word, adaptor.getOffset(),
                                                 clamp, kind, rewriter.getUnitAttr());
      valid = rewriter.create<LLVM::ExtractValueOp>(loc, pair, 1);
      return rewriter.create<LLVM::ExtractValueOp>(loc, pair, 0);
    };

    Value value = adaptor.getValue();
    Type type = value.getType();
    unsigned bits = type.getIntOrFloatBitWidth();
    Type integer = rewriter.getIntegerType(bits);
    if (!isa<IntegerType>(type))
      value = rewriter.create<LLVM::BitcastOp>(loc, integer, value);
    if (bits == 32) {
      value = shuffle(value);
    } else {
      Value high = rewriter.create<LLVM::LShrOp>(loc, value, constant(i64, 32));
      Value low = shuffle(rewriter.create<LLVM::TruncOp>(loc, i32, value));
      high = shuffle(rewriter.create<LLVM::TruncOp>(loc, i32, high));
      high = rewriter.create<LLVM::ShlOp>(loc, rewriter.create<LLVM::ZExtOp>(loc, i64, high),
                                          constant(i64, 32));
      value = rewriter.create<LLVM::OrOp>(loc, rewriter.create<LLVM::ZExtOp>(loc, i64, low), high);
    }
    if (!isa<IntegerType>(type))
      value = rewriter.create<LLVM::BitcastOp>(loc, type, value);
    rewriter.replaceOp(op, {value, valid});
    return success();
  }
};

/// Upstream makes this a fixed, 16-aligned array; it must be an external one, whose size the launch
/// gives.
struct LowerDynamicShared : GpuPattern<gpu::DynamicSharedMemoryOp> {
  using GpuPattern::GpuPattern;

  LogicalResult matchAndRewrite(gpu::DynamicSharedMemoryOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto function = op->getParentOfType<FunctionOpInterface>();
    auto module = op->getParentOfType<gpu::GPUModuleOp>();
    std::string name = sharedName(function.getName(), "dynamic");
    auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!global) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      constexpr unsigned alignment = 1024; // what 128-byte swizzled tiles need
      global = rewriter.create<LLVM::GlobalOp>(
          op.getLoc(), LLVM::LLVMArrayType::get(rewriter.getI8Type(), 0), /*isConstant=*/false,
          LLVM::Linkage::External, name, /*value=*/Attribute(), alignment, kShared);
    }
    rewriter.replaceOpWithNewOp<LLVM::AddressOfOp>(op, global);
    return success();
  }
};

} // namespace

void cameo::populateGpuToDevicePatterns(const DeviceTypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<LowerKernel, LowerReturn, LowerBlockDim, LowerLaneId, LowerBarrier, LowerShuffle,
               LowerDynamicShared>(converter);
  patterns.add<LowerIndex<gpu::ThreadIdOp, NVVM::ThreadIdXOp, NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>,
               LowerIndex<gpu::BlockIdOp, NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>,
               LowerIndex<gpu::GridDimOp, NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>>(
      converter);
}
