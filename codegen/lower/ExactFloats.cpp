// Rewrites, within the tiled stage, of float operations that some targets lack or compute
// otherwise than promised:
//
//   %r = arith.divf %a, %b : f16      ==> extf both to f32, divf, truncf
//   %r = arith.maximumf %a, %b : f32  ==> maxnumf, and NaN where either is (before sm_80; f64)
//   %r = vector.reduction <add>, %v   ==> a chain of additions, first to last
//
// Doing so here, and not in the two back ends, keeps GPU and simulator bit for bit alike.
// 16-bit +, -, *, / and sqrt through f32 round as if computed directly, since 24 >= 2 * 11 + 2.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cameo;

namespace {

Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

bool isSmallFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

Value extend(OpBuilder &builder, Location loc, Value value) {
  return builder.create<arith::ExtFOp>(loc, withElement(value.getType(), builder.getF32Type()),
                                       value);
}

/// Computes operations on 16-bit floats in f32. Every target multiplies and adds f16 itself.
struct ComputeSmallFloatsInF32 : RewritePattern {
  ComputeSmallFloatsInF32(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      return failure();
    if (isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp>(
            op))
      return failure();
    bool small = llvm::any_of(op->getOperandTypes(), isSmallFloat) ||
                 llvm::any_of(op->getResultTypes(), isSmallFloat);
    if (!small || op->getNumResults() != 1)
      return failure();
    Type element = getElementTypeOrSelf(op->getNumOperands() ? op->getOperand(0).getType()
                                                             : op->getResult(0).getType());
    if (element.isF16() && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
                               arith::CmpFOp, math::FmaOp, math::AbsFOp>(op))
      return failure();

    Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isSmallFloat(operand.getType()) ? extend(rewriter, loc, operand)
                                                         : operand);
    Type type = op->getResult(0).getType();
    bool smallResult = isSmallFloat(type);
    OperationState state(loc, op->getName());
    state.addOperands(operands);
    state.addTypes(smallResult ? withElement(type, rewriter.getF32Type()) : type);
    state.addAttributes(op->getAttrs());
    Value result = rewriter.create(state)->getResult(0);
    if (smallResult)
      result = rewriter.create<arith::TruncFOp>(loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// f64 to and from bf16 goes through f32, for want of an instruction.
struct ConvertBf16ThroughF32 : RewritePattern {
  ConvertBf16ThroughF32(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      return failure();
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    Type f32 = withElement(from, rewriter.getF32Type());
    if (getElementTypeOrSelf(from).isBF16() && getElementTypeOrSelf(to).isF64()) {
      Value middle = rewriter.create<arith::ExtFOp>(op->getLoc(), f32, op->getOperand(0));
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, to, middle);
      return success();
    }
    if (getElementTypeOrSelf(from).isF64() && getElementTypeOrSelf(to).isBF16()) {
      Value middle = rewriter.create<arith::TruncFOp>(op->getLoc(), f32, op->getOperand(0));
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, to, middle);
      return success();
    }
    return failure();
  }
};

/// PTX has min.NaN and max.NaN from sm_80 on, and never for f64.
template <typename From, typename To> struct ExpandNanPropagation : OpRewritePattern<From> {
  ExpandNanPropagation(MLIRContext *context, bool hasF32)
      : OpRewritePattern<From>(context), hasF32(hasF32) {}

  LogicalResult matchAndRewrite(From op, PatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    if (!element.isF64() && !(element.isF32() && !hasF32))
      return failure();
    Location loc = op.getLoc();
    Value number = rewriter.create<To>(loc, op.getLhs(), op.getRhs());
    Value unordered =
        rewriter.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, op.getLhs(), op.getRhs());
    auto nanElement =
        FloatAttr::get(element, APFloat::getQNaN(cast<FloatType>(element).getFloatSemantics()));
    TypedAttr nanAttr = nanElement;
    if (auto vector = dyn_cast<VectorType>(type))
      nanAttr = DenseElementsAttr::get(vector, Attribute(nanElement));
    Value nan = rewriter.create<arith::ConstantOp>(loc, nanAttr);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, unordered, nan, number);
    return success();
  }

  bool hasF32;
};

/// vector.fma is math.fma, which is never split.
struct UseMathFma : OpRewritePattern<vector::FMAOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::FMAOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<math::FmaOp>(op, op.getLhs(), op.getRhs(), op.getAcc());
    return success();
  }
};

/// Reductions within a thread in a fixed order, with the operations' own NaN rules.
struct UnrollReduction : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ReductionOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getVector().getType());
    if (!type || type.getRank() != 1 || type.isScalable())
      return rewriter.notifyMatchFailure(op, "not a fixed 1-D vector");
    Location loc = op.getLoc();
    Value result = op.getAcc();
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      Value element = rewriter.create<vector::ExtractOp>(loc, op.getVector(), i);
      result = result ? vector::makeArithReduction(rewriter, loc, op.getKind(), result, element)
                      : element;
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void cameo::populateExactFloatPatterns(RewritePatternSet &patterns, const Target &target) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ComputeSmallFloatsInF32, ConvertBf16ThroughF32, UseMathFma, UnrollReduction>(
      context);
  patterns.add<ExpandNanPropagation<arith::MaximumFOp, arith::MaxNumFOp>,
               ExpandNanPropagation<arith::MinimumFOp, arith::MinNumFOp>>(context,
                                                                          target.nanMinMax);
}
