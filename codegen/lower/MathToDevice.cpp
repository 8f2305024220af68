// Functions that are libdevice calls:
//
//   %r = math.exp %x : f32  ==>  %r = llvm.call @__nv_expf(%x) : (f32) -> f32
//
// One table names them; vectors are taken apart. The rest of math is LLVM intrinsics (upstream's
// patterns). The simulator back end answers the same calls with the C library's functions.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace cameo;

namespace {

/// Declares `name` in the kernel's module where it is not yet.
LLVM::LLVMFuncOp declare(OpBuilder &builder, Operation *user, StringRef name,
                         LLVM::LLVMFunctionType type) {
  auto module = user->getParentOfType<gpu::GPUModuleOp>();
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return function;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  return builder.create<LLVM::LLVMFuncOp>(module.getLoc(), name, type);
}

template <typename Op> struct CallLibdevice : ConvertOpToLLVMPattern<Op> {
  CallLibdevice(const LLVMTypeConverter &converter, StringRef name)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10), name(name) {}

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "libdevice computes f32 and f64");
    auto vector = dyn_cast<VectorType>(type);
    if (vector && (vector.getRank() != 1 || vector.isScalable()))
      return rewriter.notifyMatchFailure(op, "not a fixed 1-D vector");

    SmallVector<Type> parameters;
    for (Value operand : adaptor.getOperands())
      parameters.push_back(getElementTypeOrSelf(operand.getType()));
    auto function = declare(rewriter, op, element.isF32() ? name + "f" : name,
                            LLVM::LLVMFunctionType::get(element, parameters));
    Location loc = op.getLoc();
    if (!vector) {
      rewriter.replaceOp(op, rewriter.create<LLVM::CallOp>(loc, function, adaptor.getOperands()));
      return success();
    }
    Value result = rewriter.create<LLVM::UndefOp>(loc, type);
    for (int64_t i = 0; i < vector.getDimSize(0); ++i) {
      Value index = rewriter.create<LLVM::ConstantOp>(loc, rewriter.getI32IntegerAttr(i));
      SmallVector<Value> scalars;
      for (Value operand : adaptor.getOperands())
        scalars.push_back(rewriter.create<LLVM::ExtractElementOp>(loc, operand, index));
      Value scalar = rewriter.create<LLVM::CallOp>(loc, function, scalars).getResult();
      result = rewriter.create<LLVM::InsertElementOp>(loc, result, scalar, index);
    }
    rewriter.replaceOp(op, result);
    return success();
  }

  std::string name;
};

/// 1 / sqrt(x), both rounded to nearest: rsqrt.approx is not what math.rsqrt promises.
struct ExpandRsqrt : ConvertOpToLLVMPattern<math::RsqrtOp> {
  ExpandRsqrt(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(math::RsqrtOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = adaptor.getOperand().getType(), element = getElementTypeOrSelf(type);
    TypedAttr attr = rewriter.getFloatAttr(element, 1.0);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    Value one = rewriter.create<LLVM::ConstantOp>(op.getLoc(), type, attr);
    Value root = rewriter.create<LLVM::SqrtOp>(op.getLoc(), adaptor.getOperand());
    rewriter.replaceOpWithNewOp<LLVM::FDivOp>(op, one, root);
    return success();
  }
};

} // namespace

void cameo::populateMathToDevicePatterns(const DeviceTypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<ExpandRsqrt>(converter);
#define CAMEO_LIBDEVICE(OP, NAME) patterns.add<CallLibdevice<OP>>(converter, "__nv_" #NAME);
  CAMEO_LIBDEVICE(math::AcosOp, acos)
  CAMEO_LIBDEVICE(math::AcoshOp, acosh)
  CAMEO_LIBDEVICE(math::AsinOp, asin)
  CAMEO_LIBDEVICE(math::AsinhOp, asinh)
  CAMEO_LIBDEVICE(math::AtanOp, atan)
  CAMEO_LIBDEVICE(math::Atan2Op, atan2)
  CAMEO_LIBDEVICE(math::AtanhOp, atanh)
  CAMEO_LIBDEVICE(math::CbrtOp, cbrt)
  CAMEO_LIBDEVICE(math::CosOp, cos)
  CAMEO_LIBDEVICE(math::CoshOp, cosh)
  CAMEO_LIBDEVICE(math::ErfOp, erf)
  CAMEO_LIBDEVICE(math::ExpOp, exp)
  CAMEO_LIBDEVICE(math::Exp2Op, exp2)
  CAMEO_LIBDEVICE(math::ExpM1Op, expm1)
  CAMEO_LIBDEVICE(math::LogOp, log)
  CAMEO_LIBDEVICE(math::Log10Op, log10)
  CAMEO_LIBDEVICE(math::Log1pOp, log1p)
  CAMEO_LIBDEVICE(math::Log2Op, log2)
  CAMEO_LIBDEVICE(math::PowFOp, pow)
  CAMEO_LIBDEVICE(math::SinOp, sin)
  CAMEO_LIBDEVICE(math::SinhOp, sinh)
  CAMEO_LIBDEVICE(math::TanOp, tan)
  CAMEO_LIBDEVICE(math::TanhOp, tanh)
  CAMEO_LIBDEVICE(arith::RemFOp, fmod)
#undef CAMEO_LIBDEVICE
}
