// Folds constant factors and shifts around products into their weights, and into one another.
//
//   %0 = onnx.Mul(%x, %c)
//   %1 = onnx.MatMul(%0, %w)
//   %2 = onnx.Div(%1, %d)      ==>   onnx.MatMul(%x, %w')       w' = c * w / d
//
// Results agree to rounding: computed in double, rounded once. What would not, because constants
// cancel or leave the range of their type on the way, stays apart (PartialResults.h).
//
// A chain of sums, or of factors, is one decision, so that neither its length nor the order of its
// constants makes a difference.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"
#include "passes/graph/PartialResults.h"
#include "passes/graph/Weights.h"

#include <cmath>
#include <numeric>

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

FloatType elementType(const Weighted &weighted) {
  return cast<FloatType>(weighted.weight.type.getElementType());
}

/// Factors beyond which a product that is stored in 16 bits soon leaves their range; its results alone do not.
constexpr double kMostFactor = 1024;

/// Whether factors leave a product's sums within the square root of their type's range, so that what
/// is finite in the end is so before it is multiplied, and what is not 0 is not.
bool areModerate(ArrayRef<double> factors, FloatType type, std::string &why) {
  double limit = std::exp2(APFloat::semanticsMaxExponent(type.getFloatSemantics()) / 2);
  for (double factor : factors) {
    double magnitude = std::abs(factor);
    if (std::isfinite(factor) && factor != 0 &&
        (magnitude > std::min(limit, kMostFactor) || magnitude < 1 / limit)) {
      why = llvm::formatv("a factor of {0:e} may hide what leaves its type's range", factor);
      return false;
    }
  }
  return true;
}

/// Sums, or factors, of which each alone reads the one before it.
using Chain = SmallVector<Arithmetic>;

/// Whether the only reader of the operator's result is the next link of its chain.
bool hasNextLink(const Arithmetic &link) {
  Value result = link.op->getResult(0);
  if (!result.hasOneUse())
    return false;
  std::optional<Arithmetic> next = Arithmetic::of(*result.user_begin());
  return next && next->x == result && next->multiplies == link.multiplies;
}

Chain chainThatEndsWith(const Arithmetic &last) {
  Chain chain{last};
  while (chain.back().x.hasOneUse()) {
    std::optional<Arithmetic> before = Arithmetic::of(chain.back().x.getDefiningOp());
    if (!before || before->multiplies != last.multiplies)
      break;
    chain.push_back(*before);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

struct FoldScalesIntoWeights : impl::FoldScalesIntoWeightsBase<FoldScalesIntoWeights> {
  void runOnOperation() override {
    gone.clear();
    names.clear();
    rt::Ledger ledger(getOperation());
    SmallVector<Operation *> candidates;
    getOperation().walk([&](Operation *op) {
      if (Arithmetic::of(op) || isa<onnx::BatchNormalizationOp>(op))
        candidates.push_back(op);
    });
    // Each behind what makes its operand, so that products take over what is next to them first.
    for (Operation *op : candidates) {
      if (gone.contains(op))
        continue;
      std::optional<Arithmetic> link = Arithmetic::of(op);
      if (link && !hasNextLink(*link))
        visit(chainThatEndsWith(*link), ledger);
      else if (!link && foldBatchNorm(op, ledger))
        count(&getContext(), getArgument(), "folded");
    }
    for (auto &[op, locations] : names) {
      locations.insert(locations.begin(), op->getLoc());
      op->setLoc(FusedLoc::get(&getContext(), locations));
    }
    updateFunctionType(getOperation());
  }

private:
  llvm::DenseSet<Operation *> gone;
  /// What has become part of an operator, which is told once: locations of many are long.
  llvm::DenseMap<Operation *, SmallVector<Location>> names;

  void visit(ArrayRef<Arithmetic> chain, rt::Ledger &ledger) {
    std::string why;
    size_t folded = foldBehind(chain, why);
    chain = chain.drop_front(folded);
    bool isFolded = folded > 0;
    std::optional<Arithmetic> next;
    if (!chain.empty())
      next = merge(chain, ledger).back();
    Location last = next ? next->op->getLoc() : getOperation().getLoc();
    // What came before has a product behind it then.
    for (; next && foldBefore(*next, why); next = Arithmetic::of(next->x.getDefiningOp())) {
      isFolded = true;
      why.clear();
    }
    if (next)
      last = next->op->getLoc();
    if ((!isFolded || next) && !why.empty())
      ledger.missed("fold-scales", last, "not folded into weights", why);
  }

  /// Into the product whose result the chain takes, or that times factors with a shift between them.
  /// Gives how many links are gone.
  size_t foldBehind(ArrayRef<Arithmetic> chain, std::string &why) {
    const Arithmetic &first = chain.front();
    if (!first.x.hasOneUse())
      return 0;
    std::optional<Arithmetic> shift = Arithmetic::of(first.x.getDefiningOp());
    if (shift && (shift->multiplies || !shift->x.hasOneUse()))
      return 0;
    Value product = shift ? shift->x : first.x;
    FailureOr<Weighted> weighted = Weighted::of(product.getDefiningOp());
    std::optional<int64_t> rank = succeeded(weighted) ? reliableRank(product) : std::nullopt;
    if (!rank || (!first.multiplies && !weighted->canHaveBias()))
      return 0;
    PartialResults all(first.multiplies, weighted->outputs);
    std::vector<double> shifts(weighted->outputs, 0.0);
    if (!first.multiplies)
      all.add(weighted->biases());
    size_t count = 0;
    for (const Arithmetic &link : chain) {
      std::optional<std::vector<double>> given =
          weighted->perChannel(link.constant, Side::Output, *rank);
      if (!given)
        break;
      std::vector<double> numbers = link.numbers(*given);
      all.add(numbers);
      for (size_t i = 0; i < shifts.size(); ++i)
        shifts[i] += numbers[i];
      ++count;
    }
    chain = chain.take_front(count);
    if (chain.empty())
      return 0;
    // A factor alone is none on the way to another.
    std::string apart =
        !first.multiplies || count > 1 ? all.whyApart(elementType(*weighted)) : std::string();
    if (!apart.empty()) {
      why = apart;
      return 0;
    }
    if (first.multiplies && !areModerate(all.total, elementType(*weighted), why))
      return 0;
    Affine affine = first.multiplies ? Affine{all.total, {}} : Affine{{}, shifts};
    if (shift)
      return foldAround(chain, *shift, *weighted, affine, why);
    if (!foldIntoWeights(*weighted, affine, why))
      return 0;
    finish(chain, weighted->op->getResult(0), weighted->op);
    cameo::count(&getContext(), getArgument(), "folded", chain.size());
    return chain.size();
  }

  /// (x * w + b) * c  ==>  x * (w * c) + b * c
  size_t foldAround(ArrayRef<Arithmetic> factors, const Arithmetic &shift, const Weighted &weighted,
                    const Affine &affine, std::string &why) {
    if (!canFoldIntoWeights(weighted, affine, why))
      return 0;
    MergedConstants product(/*multiplies=*/true);
    bool isOne = add(product, shift);
    for (const Arithmetic &factor : factors)
      isOne = isOne && add(product, factor);
    ElementsAttr constant =
        isOne ? product.value(nodeName(factors.back().op).str() + ".constant", why) : nullptr;
    if (!constant)
      return 0;
    (void)foldIntoWeights(weighted, affine, why);
    Operation *sum = build(factors.back().op, shift.x, constant, /*multiplies=*/false);
    finish(factors, sum->getResult(0), sum);
    erase(shift.op, sum);
    count(&getContext(), getArgument(), "folded", factors.size());
    return factors.size();
  }

  static bool add(MergedConstants &constants, const Arithmetic &link) {
    return constants.add(onnx::constantValue(link.constant), [&](std::vector<double> numbers) {
      return link.numbers(std::move(numbers));
    });
  }

  /// Into as few links as do the same, which it gives.
  Chain merge(ArrayRef<Arithmetic> chain, rt::Ledger &ledger) {
    Chain links;
    while (!chain.empty()) {
      MergedConstants constants(chain.front().multiplies);
      size_t count = 0;
      while (count < chain.size() && add(constants, chain[count]))
        ++count;
      count = std::max<size_t>(count, 1);
      Operation *one = count > 1 ? merged(chain.take_front(count), constants, ledger) : nullptr;
      // Asked again, because what the first one reads may be new.
      if (one)
        links.push_back(*Arithmetic::of(one));
      else
        for (const Arithmetic &link : chain.take_front(count))
          links.push_back(*Arithmetic::of(link.op));
      chain = chain.drop_front(count);
    }
    return links;
  }

  Operation *merged(ArrayRef<Arithmetic> part, const MergedConstants &constants,
                    rt::Ledger &ledger) {
    Operation *last = part.back().op;
    std::string why = constants.whyApart();
    ElementsAttr constant =
        why.empty() ? constants.value(nodeName(last).str() + ".constant", why) : nullptr;
    if (!constant) {
      ledger.missed("merge-constants", last->getLoc(), "not one operator with those before it",
                    why);
      return nullptr;
    }
    Value x = Arithmetic::of(part.front().op)->x;
    Operation *one = build(last, x, constant, part.front().multiplies);
    finish(part, one->getResult(0), one);
    count(&getContext(), getArgument(), "merged", part.size() - 1);
    return one;
  }

  /// Factors, into the product that alone reads their result. A shift stays in front of what rounds: it may leave little
  /// of what it is added to, and is done with what makes or reads the value.
  bool foldBefore(const Arithmetic &arithmetic, std::string &why) {
    Value result = arithmetic.op->getResult(0);
    if (!arithmetic.multiplies || !result.hasOneUse() ||
        result.use_begin()->getOperandNumber() != 0)
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
    std::vector<double> factors = arithmetic.numbers(*given);
    if (normalises(arithmetic, *weighted, factors, why) ||
        !foldFactorsBefore(*weighted, factors, why))
      return false;
    finish(arithmetic, arithmetic.x, weighted->op);
    count(&getContext(), getArgument(), "folded");
    return true;
  }

  /// The factor of (x - 101325) / 700 stays with the shift, which is large in its units: without it a product would read
  /// numbers of any size.
  static bool normalises(const Arithmetic &scale, const Weighted &weighted,
                         ArrayRef<double> factors, std::string &why) {
    std::optional<Arithmetic> shift = Arithmetic::of(scale.x.getDefiningOp());
    std::optional<int64_t> rank = reliableRank(scale.x);
    if (!shift || shift->multiplies || !rank)
      return false;
    std::optional<std::vector<double>> shifts =
        weighted.perChannel(shift->constant, Side::Input, *rank);
    auto magnitude = [](double most, double number) { return std::max(most, std::abs(number)); };
    double most = std::accumulate(factors.begin(), factors.end(), 0.0, magnitude);
    most *= shifts ? std::accumulate(shifts->begin(), shifts->end(), 0.0, magnitude) : 0.0;
    if (shifts && most <= kMostDetour)
      return false;
    why = llvm::formatv("a shift of {0:f1} in its units is in front of it", most);
    return true;
  }

  static bool foldFactorsBefore(const Weighted &weighted, ArrayRef<double> factors,
                                std::string &why) {
    if (!areModerate(factors, elementType(weighted), why))
      return false;
    // What a small factor brings into range, the product would read as it is.
    for (double factor : factors)
      if (factor != 0 && std::abs(factor) < 1 / kMostFactor) {
        why = llvm::formatv("a factor of {0:e} brings what it multiplies into range", factor);
        return false;
      }
    ElementsAttr weight = scaledWeights(weighted, factors, Side::Input, why);
    if (weight)
      replaceConstant(weighted.op, 1, weight, weightName(weighted.op, 1));
    return weight != nullptr;
  }

  /// x * constant or x + constant in front of `op`, with its type.
  static Operation *build(Operation *op, Value x, ElementsAttr constant, bool multiplies) {
    OpBuilder b(op);
    auto loc = NameLoc::get(b.getStringAttr(nodeName(op).str() + ".constant"));
    SmallVector<Value> operands{x, createConstant(b, loc, constant)};
    TypeRange types(op->getResultTypes());
    Operation *result = multiplies
                            ? b.create<onnx::MulOp>(op->getLoc(), types, operands).getOperation()
                            : b.create<onnx::AddOp>(op->getLoc(), types, operands).getOperation();
    result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    return result;
  }

  /// Lets `value` stand for what the links compute together; `heir` is told of them.
  void finish(ArrayRef<Arithmetic> links, Value value, Operation *heir) {
    replaceResult(links.back().op, 0, value);
    for (const Arithmetic &link : llvm::reverse(links))
      erase(link.op, heir);
  }

  void erase(Operation *op, Operation *heir) {
    SmallVector<Location> all{op->getLoc()};
    if (auto known = names.find(op); known != names.end()) {
      all.append(known->second);
      names.erase(known);
    }
    names[heir].append(all);
    gone.insert(op);
    eraseWithConstants(op);
  }
};

} // namespace

} // namespace cameo
