// Arithmetic of the GPU on x86-64.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "passes/Statistics.h"

#include "llvm/ADT/TypeSwitch.h"

namespace cameo {
#define GEN_PASS_DEF_LOWERSIMARITHMETIC
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

/// Builds integer and float operations on scalars or vectors shaped like one value.
struct Shaped {
  Shaped(OpBuilder &builder, Location loc, Type shape) : builder(builder), loc(loc), shape(shape) {}

  Type type(Type element) const {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Type integer(unsigned bits) const { return type(builder.getIntegerType(bits)); }

  Value constant(Type type, uint64_t value) const {
    APInt bits(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), value);
    Attribute attr = builder.getIntegerAttr(getElementTypeOrSelf(type), bits);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, attr);
    return builder.create<LLVM::ConstantOp>(loc, type, attr);
  }
  template <typename Op> Value make(Type type, ValueRange operands) const {
    return builder.create<Op>(loc, type, operands);
  }
  template <typename Op> Value binary(Value a, Value b) const {
    return builder.create<Op>(loc, a, b);
  }
  Value compare(LLVM::ICmpPredicate predicate, Value a, Value b) const {
    return builder.create<LLVM::ICmpOp>(loc, predicate, a, b);
  }
  Value compare(LLVM::FCmpPredicate predicate, Value a, Value b) const {
    return builder.create<LLVM::FCmpOp>(loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) const {
    return builder.create<LLVM::SelectOp>(loc, condition, a, b);
  }

  OpBuilder &builder;
  Location loc;
  Type shape;
};

/// f32 to bf16, to nearest even, without compiler-rt's __truncsfbf2. NaN becomes 0x7fff, as PTX's
/// cvt.rn.bf16.f32 has it.
Value roundToBf16(const Shaped &make, Value value) {
  Type i32 = make.integer(32), i16 = make.integer(16);
  Value bits = make.make<LLVM::BitcastOp>(i32, value);
  Value sixteen = make.constant(i32, 16);
  Value odd =
      make.binary<LLVM::AndOp>(make.binary<LLVM::LShrOp>(bits, sixteen), make.constant(i32, 1));
  Value bias = make.binary<LLVM::AddOp>(odd, make.constant(i32, 0x7fff));
  Value rounded = make.binary<LLVM::LShrOp>(make.binary<LLVM::AddOp>(bits, bias), sixteen);
  Value nan = make.compare(LLVM::FCmpPredicate::uno, value, value);
  rounded = make.select(nan, make.constant(i32, 0x7fff), rounded);
  Value half = make.make<LLVM::TruncOp>(i16, rounded);
  return make.make<LLVM::BitcastOp>(make.type(make.builder.getBF16Type()), half);
}

Value extendBf16(const Shaped &make, Value value) {
  Type i32 = make.integer(32);
  Value bits = make.make<LLVM::ZExtOp>(i32, make.make<LLVM::BitcastOp>(make.integer(16), value));
  bits = make.binary<LLVM::ShlOp>(bits, make.constant(i32, 16));
  return make.make<LLVM::BitcastOp>(make.type(make.builder.getF32Type()), bits);
}

/// f64 to f16 with one rounding: first to f32, to odd, which keeps what the second rounding must
/// know.
Value roundF64ToF16(const Shaped &make, Value value) {
  Type f32 = make.type(make.builder.getF32Type()), f64 = make.type(make.builder.getF64Type());
  Type i32 = make.integer(32), i64 = make.integer(64);
  Value nearest = make.make<LLVM::FPTruncOp>(f32, value);
  Value back = make.make<LLVM::FPExtOp>(f64, nearest);
  Value bits = make.make<LLVM::BitcastOp>(i32, nearest);
  Value magnitudeMask = make.constant(i64, ~(uint64_t(1) << 63));
  auto magnitude = [&](Value number) {
    return make.binary<LLVM::AndOp>(make.make<LLVM::BitcastOp>(i64, number), magnitudeMask);
  };
  Value away = make.compare(LLVM::ICmpPredicate::ugt, magnitude(back), magnitude(value));
  Value towardsZero =
      make.select(away, make.binary<LLVM::SubOp>(bits, make.constant(i32, 1)), bits);
  Value odd = make.binary<LLVM::OrOp>(towardsZero, make.constant(i32, 1));
  // `one` is false for NaN: it stays as it is.
  Value inexact = make.compare(LLVM::FCmpPredicate::one, back, value);
  Value result = make.make<LLVM::BitcastOp>(f32, make.select(inexact, odd, bits));
  return make.make<LLVM::FPTruncOp>(make.type(make.builder.getF16Type()), result);
}

/// One rounding: the product of two f16 and the sum's leading bits fit f64.
Value fmaF16(const Shaped &make, ValueRange operands) {
  Type f64 = make.type(make.builder.getF64Type());
  Type f32 = make.type(make.builder.getF32Type());
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(make.make<LLVM::FPExtOp>(f64, make.make<LLVM::FPExtOp>(f32, operand)));
  return roundF64ToF16(make, make.make<LLVM::FMAOp>(f64, wide));
}

/// f16 to f32, fenced: LLVM would narrow what is computed of it to f16 again, and its x86 back end
/// takes comparisons of f16 vectors apart, makes maxnum a call of fmaxf, and gets maximum wrong for
/// zero and NaN.
Value extendF16(const Shaped &make, Value value) {
  Type f32 = make.type(make.builder.getF32Type());
  Value wide = make.make<LLVM::FPExtOp>(f32, value);
  return make.builder
      .create<LLVM::CallIntrinsicOp>(make.loc, f32,
                                     make.builder.getStringAttr("llvm.arithmetic.fence"), wide)
      .getResults();
}

bool isNonZeroConstant(Value value) {
  auto constant = value.getDefiningOp<LLVM::ConstantOp>();
  if (!constant)
    return false;
  if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
    return !integer.getValue().isZero() && !integer.getValue().isAllOnes();
  return false;
}

/// Division by zero gives all ones on the GPU (the remainder: the dividend) and traps on x86; so
/// does the most negative number divided by -1.
template <typename Op> Value divide(const Shaped &make, Op op, bool isSigned, bool remainder) {
  Value a = op.getLhs(), b = op.getRhs();
  Type type = a.getType();
  Value zero = make.constant(type, 0), one = make.constant(type, 1),
        ones = make.constant(type, ~0ull);
  Value byZero = make.compare(LLVM::ICmpPredicate::eq, b, zero);
  Value special = byZero, specialResult = remainder ? a : ones;
  if (isSigned) {
    Value byMinusOne = make.compare(LLVM::ICmpPredicate::eq, b, ones);
    special = make.binary<LLVM::OrOp>(byZero, byMinusOne);
    Value negated = remainder ? zero : make.binary<LLVM::SubOp>(zero, a);
    specialResult = make.select(byMinusOne, negated, specialResult);
  }
  Value safe = make.select(special, one, b);
  return make.select(special, specialResult, make.binary<Op>(a, safe));
}

/// GPU conversions saturate and take NaN to 0; 8-bit results are cut from 16-bit ones.
Value convertToInteger(const Shaped &make, Value value, Type type, bool isSigned) {
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Type converted = make.integer(std::max(bits, 16u));
  StringRef name = isSigned ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
  Value result = make.builder
                     .create<LLVM::CallIntrinsicOp>(make.loc, converted,
                                                    make.builder.getStringAttr(name), value)
                     .getResults();
  return bits < 16 ? make.make<LLVM::TruncOp>(type, result) : result;
}

/// Rewrites `op` if the host would compute something else, or call a library: division by zero,
/// conversions out of range, roundings to f16 and bf16. Whether it did.
bool lowerArithmetic(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  OpBuilder builder(op);
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (!LLVM::isCompatibleType(from) || !(isa<VectorType>(to) || to.isIntOrFloat()))
    return false;
  Type fromElement = getElementTypeOrSelf(from), toElement = getElementTypeOrSelf(to);
  Shaped make(builder, op->getLoc(), to);
  Value result;
  if (isa<LLVM::FPTruncOp>(op) && toElement.isBF16() && fromElement.isF32())
    result = roundToBf16(make, op->getOperand(0));
  else if (isa<LLVM::FPTruncOp>(op) && toElement.isF16() && fromElement.isF64())
    result = roundF64ToF16(make, op->getOperand(0));
  else if (isa<LLVM::FPExtOp>(op) && fromElement.isBF16() && toElement.isF32())
    result = extendBf16(make, op->getOperand(0));
  else if (isa<LLVM::FMAOp>(op) && toElement.isF16())
    result = fmaF16(make, op->getOperands());
  else if (isa<LLVM::FPToSIOp>(op) && !fromElement.isBF16())
    result = convertToInteger(make, op->getOperand(0), to, /*isSigned=*/true);
  else if (isa<LLVM::FPToUIOp>(op) && !fromElement.isBF16())
    result = convertToInteger(make, op->getOperand(0), to, /*isSigned=*/false);
  else if (isa<LLVM::FPExtOp>(op) && fromElement.isF16() && toElement.isF32())
    result = extendF16(make, op->getOperand(0));
  else if (auto compare = dyn_cast<LLVM::FCmpOp>(op); compare && fromElement.isF16())
    result = make.compare(compare.getPredicate(), extendF16(make, compare.getLhs()),
                          extendF16(make, compare.getRhs()));
  else if (isa<LLVM::SDivOp, LLVM::SRemOp, LLVM::UDivOp, LLVM::URemOp>(op) &&
           !isNonZeroConstant(op->getOperand(1)))
    TypeSwitch<Operation *>(op)
        .Case([&](LLVM::SDivOp div) { result = divide(make, div, true, false); })
        .Case([&](LLVM::SRemOp rem) { result = divide(make, rem, true, true); })
        .Case([&](LLVM::UDivOp div) { result = divide(make, div, false, false); })
        .Case([&](LLVM::URemOp rem) { result = divide(make, rem, false, true); });
  if (!result)
    return false;
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

struct LowerSimArithmetic : cameo::impl::LowerSimArithmeticBase<LowerSimArithmetic> {
  using LowerSimArithmeticBase::LowerSimArithmeticBase;

  void runOnOperation() override {
    SmallVector<Operation *> operations;
    for (LLVM::LLVMFuncOp body : simBodies(getOperation()))
      body.walk([&](Operation *op) {
        if (op != body && isa<LLVM::LLVMDialect>(op->getDialect()))
          operations.push_back(op);
      });
    for (Operation *op : operations)
      if (lowerArithmetic(op))
        count(&getContext(), getArgument(), "lowered");
  }
};

} // namespace
