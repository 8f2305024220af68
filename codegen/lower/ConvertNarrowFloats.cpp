// Rewrites, within the tiled stage, of conversions to and from floats of 8 bits: instructions where
// the target has them (sm_89 on), else arithmetic on bits, with the same results:
//
//   %y = arith.extf %x : f8E4M3FN to f32   ==>  cvt.rn.f16x2.e4m3x2, extf; or by bits
//   %y = arith.extf %x : f8E5M2 to f32     ==>  the upper half of an f16, extf
//   %b = arith.minimumf %a, %most
//   %y = arith.truncf %b : f32 to f8E4M3FN ==>  cvt.rn.satfinite.e4m3x2.f32 of what is clamped; or
//                                               by bits
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"
#include "passes/linalg/NarrowTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace cameo;

namespace {

using K = onnx::ElementKind;

/// The format of a scalar that arith converts.
std::optional<K> formatOf(Type type) {
  std::optional<K> kind = narrowFloat(type);
  return kind == K::F8E4M3FN || kind == K::F8E5M2 ? kind : std::nullopt;
}

struct Conversions {
  explicit Conversions(const Target &target) {
    std::string error;
    FailureOr<kernel::PtxInstruction> instruction =
        kernel::parsePtxInstruction("cvt.rn.f16x2.e4m3x2", 1, error);
    hasInstructions = succeeded(instruction) && target.has(*instruction);
  }
  bool hasInstructions; // all of them came at once
};

struct ExtendNarrow : OpRewritePattern<arith::ExtFOp> {
  ExtendNarrow(MLIRContext *context, Conversions target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    std::optional<K> kind = formatOf(op.getIn().getType());
    if (!kind || !op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not a float of 8 bits to f32");
    Location loc = op.getLoc();
    Value byte = rewriter.create<arith::BitcastOp>(loc, rewriter.getI8Type(), op.getIn());
    if (*kind == K::F8E4M3FN && !target.hasInstructions) {
      rewriter.replaceOp(op, decodeNarrowByBits(rewriter, loc, byte, *kind));
      return success();
    }
    Type word = rewriter.getI16Type();
    Value half = rewriter.create<arith::ExtUIOp>(loc, word, byte);
    if (*kind == K::F8E4M3FN) {
      auto pair = rewriter.create<kernel::PtxOp>(loc, TypeRange(rewriter.getI32Type()),
                                                 "cvt.rn.f16x2.e4m3x2", half);
      half = rewriter.create<arith::TruncIOp>(loc, word, pair.getResult(0));
    } else {
      Value eight = rewriter.create<arith::ConstantOp>(loc, rewriter.getI16IntegerAttr(8));
      half = rewriter.create<arith::ShLIOp>(loc, half, eight);
    }
    Value number = rewriter.create<arith::BitcastOp>(loc, rewriter.getF16Type(), half);
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), number);
    return success();
  }

  Conversions target;
};

/// What `value` is before it is held within the format's range; null: it is not.
Value clamped(Value value, K kind) {
  auto isConstant = [](Value bound, double wanted) {
    FloatAttr attr;
    return matchPattern(bound, m_Constant(&attr)) && attr.getValueAsDouble() == wanted;
  };
  double most = greatestNarrow(kind);
  auto upper = value.getDefiningOp<arith::MinimumFOp>();
  auto lower = upper && isConstant(upper.getRhs(), most)
                   ? upper.getLhs().getDefiningOp<arith::MaximumFOp>()
                   : nullptr;
  return lower && isConstant(lower.getRhs(), -most) ? lower.getLhs() : Value();
}

struct TruncateNarrow : OpRewritePattern<arith::TruncFOp> {
  TruncateNarrow(MLIRContext *context, Conversions target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    std::optional<K> kind = formatOf(op.getType());
    if (!kind || !op.getIn().getType().isF32())
      return rewriter.notifyMatchFailure(op, "not f32 to a float of 8 bits");
    Location loc = op.getLoc();
    Value inside = clamped(op.getIn(), *kind), byte;
    if (inside && target.hasInstructions) {
      StringRef name =
          *kind == K::F8E4M3FN ? "cvt.rn.satfinite.e4m3x2.f32" : "cvt.rn.satfinite.e5m2x2.f32";
      Value zero = rewriter.create<arith::ConstantOp>(loc, rewriter.getF32FloatAttr(0));
      auto pair = rewriter.create<kernel::PtxOp>(loc, TypeRange(rewriter.getI16Type()), name,
                                                 ValueRange{zero, inside});
      byte = rewriter.create<arith::TruncIOp>(loc, rewriter.getI8Type(), pair.getResult(0));
    } else {
      byte = encodeNarrowByBits(rewriter, loc, inside ? inside : op.getIn(), *kind,
                                {/*saturate=*/static_cast<bool>(inside)});
    }
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), byte);
    return success();
  }

  Conversions target;
};

} // namespace

void cameo::populateNarrowFloatPatterns(RewritePatternSet &patterns, const Target &target) {
  patterns.add<ExtendNarrow, TruncateNarrow>(patterns.getContext(), Conversions(target));
}
