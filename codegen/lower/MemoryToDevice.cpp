// Memory accesses on bare pointers:
//
//   %v = vector.load %m[%i] {kernel.alignment = 16 : i64} : memref<?xf16, ...>, vector<8xf16>
//   ==>
//   %p = llvm.getelementptr inbounds %m[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
//   %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
//
// Without the attribute an access is aligned to its element. i1 takes a byte, 0 or 1.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cameo;

namespace {

/// Shared by the patterns: address arithmetic and the memory form of values.
template <typename Op> struct AccessPattern : ConvertOpToLLVMPattern<Op> {
  AccessPattern(const DeviceTypeConverter &converter)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10), types(converter) {}

  Value address(Op op, MemRefType type, Value base, ValueRange indices,
                ConversionPatternRewriter &rewriter) const {
    return rewriter.create<LLVM::GEPOp>(op.getLoc(), base.getType(),
                                        types.memoryType(type.getElementType()), base, indices,
                                        /*inbounds=*/true);
  }

  unsigned alignment(Op op, MemRefType type) const {
    if (auto attr = op->template getAttrOfType<IntegerAttr>(kAlignmentAttr))
      return attr.getInt();
    return llvm::divideCeil(types.memoryType(type.getElementType()).getIntOrFloatBitWidth(), 8);
  }

  /// The type `type` (a scalar or vector of the memref's elements) has in memory.
  Type inMemory(Type type) const {
    Type element = types.memoryType(getElementTypeOrSelf(type));
    if (auto vector = dyn_cast<VectorType>(type))
      return VectorType::get(vector.getShape(), element);
    return element;
  }

  Value load(Op op, MemRefType memref, Type type, Value pointer,
             ConversionPatternRewriter &rewriter) const {
    Type stored = inMemory(type);
    Value value =
        rewriter.create<LLVM::LoadOp>(op.getLoc(), stored, pointer, alignment(op, memref));
    if (getElementTypeOrSelf(type).isInteger(1)) {
      Value zero =
          rewriter.create<LLVM::ConstantOp>(op.getLoc(), stored, rewriter.getZeroAttr(stored));
      value = rewriter.create<LLVM::ICmpOp>(op.getLoc(), LLVM::ICmpPredicate::ne, value, zero);
    }
    return value;
  }

  void store(Op op, MemRefType memref, Value value, Value pointer,
             ConversionPatternRewriter &rewriter) const {
    if (getElementTypeOrSelf(value.getType()).isInteger(1))
      value = rewriter.create<LLVM::ZExtOp>(op.getLoc(), inMemory(value.getType()), value);
    rewriter.create<LLVM::StoreOp>(op.getLoc(), value, pointer, alignment(op, memref));
  }

  const DeviceTypeConverter &types;
};

struct LowerLoad : AccessPattern<memref::LoadOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    Value pointer = address(op, type, adaptor.getMemref(), adaptor.getIndices(), rewriter);
    rewriter.replaceOp(op, load(op, type, op.getType(), pointer, rewriter));
    return success();
  }
};

struct LowerStore : AccessPattern<memref::StoreOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    Value pointer = address(op, type, adaptor.getMemref(), adaptor.getIndices(), rewriter);
    store(op, type, adaptor.getValue(), pointer, rewriter);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerVectorLoad : AccessPattern<vector::LoadOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(vector::LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (op.getVectorType().getRank() != 1 || isa<VectorType>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "not a 1-D vector of the memref's elements");
    Value pointer = address(op, type, adaptor.getBase(), adaptor.getIndices(), rewriter);
    rewriter.replaceOp(op, load(op, type, op.getVectorType(), pointer, rewriter));
    return success();
  }
};

struct LowerVectorStore : AccessPattern<vector::StoreOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(vector::StoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (op.getVectorType().getRank() != 1 || isa<VectorType>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "not a 1-D vector of the memref's elements");
    Value pointer = address(op, type, adaptor.getBase(), adaptor.getIndices(), rewriter);
    store(op, type, adaptor.getValueToStore(), pointer, rewriter);
    rewriter.eraseOp(op);
    return success();
  }
};

std::optional<LLVM::AtomicBinOp> atomicOperation(arith::AtomicRMWKind kind) {
  using Kind = arith::AtomicRMWKind;
  using Bin = LLVM::AtomicBinOp;
  switch (kind) {
  case Kind::addf:
    return Bin::fadd;
  case Kind::addi:
    return Bin::add;
  case Kind::assign:
    return Bin::xchg;
  case Kind::maxs:
    return Bin::max;
  case Kind::maxu:
    return Bin::umax;
  case Kind::mins:
    return Bin::min;
  case Kind::minu:
    return Bin::umin;
  case Kind::maxnumf:
    return Bin::fmax;
  case Kind::minnumf:
    return Bin::fmin;
  case Kind::ori:
    return Bin::_or;
  case Kind::andi:
    return Bin::_and;
  default:
    return std::nullopt;
  }
}

struct LowerAtomic : AccessPattern<memref::AtomicRMWOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(memref::AtomicRMWOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<LLVM::AtomicBinOp> operation = atomicOperation(op.getKind());
    Type element = op.getMemRefType().getElementType();
    if (!operation || element.isInteger(1) || element.isBF16())
      return op.emitError() << "no atomic " << stringifyAtomicRMWKind(op.getKind()) << " on "
                            << element;
    Value pointer =
        address(op, op.getMemRefType(), adaptor.getMemref(), adaptor.getIndices(), rewriter);
    // Relaxed and device-wide: kernels order memory by barriers and launches alone.
    rewriter.replaceOpWithNewOp<LLVM::AtomicRMWOp>(op, *operation, pointer, adaptor.getValue(),
                                                   LLVM::AtomicOrdering::monotonic, "device");
    return success();
  }
};

struct LowerAlloca : AccessPattern<memref::AllocaOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(memref::AllocaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getType();
    auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
    if (!type.hasStaticShape() || (space && space.getValue() != gpu::AddressSpace::Private))
      return op.emitError("kernels allocate private memory of a fixed size only");
    Type element = types.memoryType(type.getElementType());
    Value count = rewriter.create<LLVM::ConstantOp>(
        op.getLoc(), rewriter.getI64IntegerAttr(type.getNumElements()));
    rewriter.replaceOpWithNewOp<LLVM::AllocaOp>(op, types.convertType(type), element, count,
                                                op.getAlignment().value_or(kPointerAlignment));
    return success();
  }
};

/// Static and dynamic sizes are the same pointer.
struct LowerCast : AccessPattern<memref::CastOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(memref::CastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (types.convertType(op.getType()) != adaptor.getSource().getType())
      return rewriter.notifyMatchFailure(op, "changes the address space");
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

struct LowerAdvance : AccessPattern<kernel::AdvanceOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(kernel::AdvanceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, address(op, cast<MemRefType>(op.getMemory().getType()),
                                   adaptor.getMemory(), adaptor.getOffset(), rewriter));
    return success();
  }
};

/// Dynamic shared memory as what it holds.
struct LowerView : AccessPattern<memref::ViewOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(memref::ViewOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getType().hasStaticShape())
      return rewriter.notifyMatchFailure(op, "has sizes that are not known");
    rewriter.replaceOp(op, address(op, cast<MemRefType>(op.getSource().getType()),
                                   adaptor.getSource(), adaptor.getByteShift(), rewriter));
    return success();
  }
};

struct LowerAddress : AccessPattern<kernel::AddressOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(kernel::AddressOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (adaptor.getMemory().getType() != op.getType())
      return op.emitOpError() << "gives " << adaptor.getMemory().getType() << ", not "
                              << op.getType();
    rewriter.replaceOp(op, address(op, cast<MemRefType>(op.getMemory().getType()),
                                   adaptor.getMemory(), adaptor.getOffset(), rewriter));
    return success();
  }
};

/// For operations that take an address as an integer, such as shared-memory descriptors.
struct LowerExtractPointer : AccessPattern<memref::ExtractAlignedPointerAsIndexOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(memref::ExtractAlignedPointerAsIndexOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::PtrToIntOp>(op, types.convertType(op.getType()),
                                                  adaptor.getSource());
    return success();
  }
};

} // namespace

void cameo::populateMemoryToDevicePatterns(const DeviceTypeConverter &converter,
                                           RewritePatternSet &patterns) {
  patterns.add<LowerLoad, LowerStore, LowerVectorLoad, LowerVectorStore, LowerAtomic, LowerAlloca,
               LowerCast, LowerAdvance, LowerView, LowerAddress, LowerExtractPointer>(converter);
}
