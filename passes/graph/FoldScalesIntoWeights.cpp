// Folds constant factors and shifts around products into their weights, and into one another.
//
//   %0 = onnx.Mul(%x, %c)
//   %1 = onnx.MatMul(%0, %w)
//   %2 = onnx.Div(%1, %d)      ==>   onnx.MatMul(%x, %w')       w' = c * w / d
//
// Results agree to rounding, where no intermediate result leaves its type's range: computed in
// double, rounded once.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/ConstantFolding.h"
#include "passes/graph/Weights.h"

#include "mlir/Dialect/Traits.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDSCALESINTOWEIGHTS
#include "passes/Passes.h.inc"

namespace {

/// x * c, x / c, x + c or x - c with a constant of floats.
struct Arithmetic {
  Operation *op;
  Value x, constant;
  bool multiplies, inverse;

  static std::optional<Arithmetic> of(Operation *op);
  /// The numbers by which it multiplies, or which it adds.
  std::vector<double> numbers(std::vector<double> given) const;
};

std::optional<Arithmetic> Arithmetic::of(Operation *op) {
  if (!isa_and_nonnull<onnx::MulOp, onnx::DivOp, onnx::AddOp, onnx::SubOp>(op))
    return std::nullopt;
  auto type = dyn_cast<TensorType>(op->getResult(0).getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  bool inverse = isa<onnx::DivOp, onnx::SubOp>(op);
  for (unsigned i : {1u, 0u})
    if ((i == 1 || !inverse) && onnx::constantValue(op->getOperand(i)))
      return Arithmetic{op, op->getOperand(1 - i), op->getOperand(i),
                        isa<onnx::MulOp, onnx::DivOp>(op), inverse};
  return std::nullopt;
}

std::vector<double> Arithmetic::numbers(std::vector<double> given) const {
  for (double &number : given)
    if (inverse)
      number = multiplies ? 1.0 / number : -number;
  return given;
}

std::optional<int64_t> reliableRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && hasReliableShape(value) ? std::optional(type.getRank()) : std::nullopt;
}

/// What the operator does with the result of the product before it, one number per channel.
std::optional<Affine> affineBehind(const Arithmetic &arithmetic, const Weighted &weighted) {
  std::optional<int64_t> rank = reliableRank(weighted.op->getResult(0));
  if (!rank || (!arithmetic.multiplies && !weighted.canHaveBias()))
    return std::nullopt;
  std::optional<std::vector<double>> given =
      weighted.perChannel(arithmetic.constant, Side::Output, *rank);
  if (!given)
    return std::nullopt;
  std::vector<double> numbers = arithmetic.numbers(*given);
  return arithmetic.multiplies ? Affine{numbers, {}} : Affine{{}, numbers};
}

/// Whether zeros that the operator reads around its input would have to be shifted as well.
bool readsPadding(Operation *op) {
  auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  auto pads = op->getAttrOfType<DenseI64ArrayAttr>("pads");
  return (mode && mode.getValue() != "NOTSET" && mode.getValue() != "VALID") ||
         (pads && llvm::any_of(pads.asArrayRef(), [](int64_t pad) { return pad != 0; }));
}

/// What adding a number to each input channel adds to each output channel.
std::vector<double> shiftBehind(const Weighted &weighted, ArrayRef<double> shift) {
  auto type = RankedTensorType::get({weighted.outputs}, weighted.weight.type.getElementType());
  std::vector<double> sums(type.getNumElements(), 0.0);
  std::vector<double> products = weighted.scaled(shift, Side::Input);
  auto gemm = dyn_cast<onnx::GemmOp>(weighted.op);
  double alpha = gemm ? gemm.getAlpha().convertToDouble() : 1.0;
  bool columns = gemm && !gemm.getTransB();
  int64_t count = weighted.weight.count();
  int64_t row = columns ? 1 : count / weighted.outputs;
  for (int64_t i = 0; i < count; ++i)
    sums[i / row % weighted.outputs] += alpha * products[products.size() == 1 ? 0 : i];
  return sums;
}

struct FoldScalesIntoWeights : impl::FoldScalesIntoWeightsBase<FoldScalesIntoWeights> {
  void runOnOperation() override {
    rt::Ledger ledger(getOperation());
    SmallVector<Operation *> candidates;
    getOperation().walk([&](Operation *op) {
      if (Arithmetic::of(op))
        candidates.push_back(op);
    });
    // Each behind what makes its operand, so that a chain becomes shorter from its beginning.
    for (Operation *op : candidates)
      visit(op, ledger);
    updateFunctionType(getOperation());
  }

private:
  void visit(Operation *op, rt::Ledger &ledger) {
    Arithmetic arithmetic = *Arithmetic::of(op);
    std::string why;
    if (foldBehind(arithmetic, why))
      return;
    if (Operation *merged = mergeWithOperand(arithmetic, why))
      arithmetic = *Arithmetic::of(merged);
    bool isFolded = false;
    // What came before has a product behind it then.
    for (std::optional<Arithmetic> next = arithmetic; next && foldBefore(*next, why);
         next = Arithmetic::of(next->x.getDefiningOp()))
      isFolded = true;
    if (!isFolded && !why.empty())
      ledger.missed("fold-scales", arithmetic.op->getLoc(), "not folded into weights", why);
  }

  /// Into the product whose result it takes, or that times a factor with a shift between them.
  bool foldBehind(const Arithmetic &arithmetic, std::string &why) {
    if (!arithmetic.x.hasOneUse())
      return false;
    std::optional<Arithmetic> shift = Arithmetic::of(arithmetic.x.getDefiningOp());
    if (shift && !shift->multiplies && arithmetic.multiplies && shift->x.hasOneUse())
      return foldAround(arithmetic, *shift, why);
    FailureOr<Weighted> weighted = Weighted::of(arithmetic.x.getDefiningOp());
    std::optional<Affine> affine =
        succeeded(weighted) ? affineBehind(arithmetic, *weighted) : std::optional<Affine>();
    if (!affine || !foldIntoWeights(*weighted, *affine, why))
      return false;
    name(weighted->op, arithmetic.op);
    replace(arithmetic.op, weighted->op->getResult(0));
    count(&getContext(), getArgument(), "folded");
    return true;
  }

  /// (x * w + b) * c  ==>  x * (w * c) + b * c
  bool foldAround(const Arithmetic &factor, const Arithmetic &shift, std::string &why) {
    FailureOr<Weighted> weighted = Weighted::of(shift.x.getDefiningOp());
    std::optional<Affine> affine =
        succeeded(weighted) ? affineBehind(factor, *weighted) : std::optional<Affine>();
    if (!affine || !canFoldIntoWeights(*weighted, *affine, why))
      return false;
    ElementsAttr product = merged(shift, factor, /*multiply=*/true, why);
    if (!product)
      return false;
    (void)foldIntoWeights(*weighted, *affine, why);
    Operation *sum = rebuild(factor.op, shift.x, product, /*multiplies=*/false);
    name(sum, shift.op);
    eraseWithConstants(shift.op);
    count(&getContext(), getArgument(), "folded");
    return true;
  }

  /// Into the constant of the operator before it; gives the one that does the work of both.
  Operation *mergeWithOperand(const Arithmetic &outer, std::string &why) {
    std::optional<Arithmetic> inner = Arithmetic::of(outer.x.getDefiningOp());
    if (!inner || inner->multiplies != outer.multiplies || !outer.x.hasOneUse())
      return nullptr;
    ElementsAttr constant = merged(*inner, outer, outer.multiplies, why);
    if (!constant)
      return nullptr;
    Operation *result = rebuild(outer.op, inner->x, constant, outer.multiplies);
    name(result, inner->op);
    eraseWithConstants(inner->op);
    count(&getContext(), getArgument(), "merged");
    return result;
  }

  /// Into the product that alone reads its result.
  bool foldBefore(const Arithmetic &arithmetic, std::string &why) {
    Value result = arithmetic.op->getResult(0);
    if (!result.hasOneUse() || result.use_begin()->getOperandNumber() != 0)
      return false;
    FailureOr<Weighted> weighted = Weighted::of(*result.user_begin());
    std::optional<int64_t> rank = reliableRank(arithmetic.x);
    auto gemm = dyn_cast<onnx::GemmOp>(*result.user_begin());
    if (failed(weighted) || !rank || !haveSameShape(arithmetic.x, result) ||
        (gemm && gemm.getTransA()))
      return false;
    std::optional<std::vector<double>> given =
        weighted->perChannel(arithmetic.constant, Side::Input, *rank);
    if (!given)
      return false;
    std::vector<double> numbers = arithmetic.numbers(*given);
    if (arithmetic.multiplies) {
      std::string called = weightName(weighted->op, 1);
      ElementsAttr weight = roundedConstant(weighted->weight.type, called,
                                            weighted->scaled(numbers, Side::Input), why);
      if (!weight)
        return false;
      replaceConstant(weighted->op, 1, weight, called);
    } else {
      bool isSum = isa<onnx::GemmOp>(weighted->op) ||
                   (isa<onnx::ConvOp>(weighted->op) && !readsPadding(weighted->op));
      if (!isSum || !foldIntoWeights(*weighted, Affine{{}, shiftBehind(*weighted, numbers)}, why))
        return false;
    }
    name(weighted->op, arithmetic.op);
    replace(arithmetic.op, arithmetic.x);
    count(&getContext(), getArgument(), "folded");
    return true;
  }

  /// The product or the sum of what both do; null where it would be more numbers than theirs.
  static ElementsAttr merged(const Arithmetic &a, const Arithmetic &b, bool multiply,
                             std::string &why) {
    std::optional<Elements> left = Elements::of(onnx::constantValue(a.constant));
    std::optional<Elements> right = Elements::of(onnx::constantValue(b.constant));
    SmallVector<int64_t> shape;
    if (!left || !right || left->kind != right->kind || computesIn(left->kind) == Computes::Not ||
        !OpTrait::util::getBroadcastedShape(left->shape(), right->shape(), shape))
      return nullptr;
    auto type = RankedTensorType::get(shape, left->type.getElementType());
    if (type.getNumElements() > std::max(left->count(), right->count()) ||
        type.getNumElements() == 0)
      return nullptr;
    auto combine = [&](double x, double y) { return multiply ? x * y : x + y; };
    auto scalar = RankedTensorType::get({}, type.getElementType());
    bool splat = left->isSplat() && right->isSplat();
    ArrayRef<int64_t> loops = splat ? scalar.getShape() : type.getShape();
    if (splat)
      left->type = right->type = scalar;
    std::vector<double> x = a.numbers(readDoubles(*left)), y = b.numbers(readDoubles(*right));
    std::vector<double> result(splat ? 1 : type.getNumElements());
    forEachOffset(loops, *broadcastStrides(left->shape(), loops), 0,
                  [&](int64_t at, int64_t from) { result[at] = x[from]; });
    forEachOffset(loops, *broadcastStrides(right->shape(), loops), 0,
                  [&](int64_t at, int64_t from) { result[at] = combine(result[at], y[from]); });
    return roundedConstant(type, nodeName(b.op).str() + ".constant", result, why);
  }

  /// x * constant or x + constant instead of `op`.
  static Operation *rebuild(Operation *op, Value x, ElementsAttr constant, bool multiplies) {
    OpBuilder b(op);
    auto loc = NameLoc::get(b.getStringAttr(nodeName(op).str() + ".constant"));
    SmallVector<Value> operands{x, createConstant(b, loc, constant)};
    TypeRange types(op->getResultTypes());
    Operation *result = multiplies
                            ? b.create<onnx::MulOp>(op->getLoc(), types, operands).getOperation()
                            : b.create<onnx::AddOp>(op->getLoc(), types, operands).getOperation();
    result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(result);
    eraseWithConstants(op);
    return result;
  }

  static void replace(Operation *op, Value value) {
    replaceResult(op, 0, value);
    eraseWithConstants(op);
  }

  static void name(Operation *op, Operation *gone) {
    op->setLoc(FusedLoc::get(op->getContext(), {op->getLoc(), gone->getLoc()}));
  }
};

} // namespace

} // namespace cameo
