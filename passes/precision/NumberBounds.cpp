// Bounds of operators' results.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/NumberBounds.h"

#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/graph/Elements.h"
#include "passes/precision/ScaleScores.h"

#include "llvm/Support/Endian.h"

#include <set>

using namespace mlir;

namespace cameo {

using Operands = ArrayRef<NumberRange>;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Numbers of which nothing is known are taken to go up to this where a constant multiplies them.
static constexpr double kUsual = 8;

NumberRange rangeOfConstant(ElementsAttr value) {
  std::optional<Elements> elements = Elements::of(value);
  NumberRange range;
  if (!elements || computesIn(elements->kind) == Computes::Not || elements->count() == 0)
    return range;
  Elements some = *elements;
  if (some.isSplat())
    some.type = RankedTensorType::get({1}, some.type.getElementType());
  double least = kInfinity, most = -kInfinity;
  bool isFinite = true;
  auto look = [&](double number) {
    if (!std::isfinite(number)) {
      isFinite = false;
      return;
    }
    least = std::min(least, number);
    most = std::max(most, number);
    range.reach = std::max(range.reach, std::abs(number));
  };
  if (some.kind == onnx::ElementKind::F32)
    for (int64_t i = 0, e = some.count(); i < e; ++i)
      look(llvm::bit_cast<float>(llvm::support::endian::read32le(some.at(i))));
  else if (some.elementBytes() == 1)
    for (char byte : std::set<char>(some.at(0), some.at(0) + some.count()))
      look(readDoubles(some.kind, byte).front());
  else
    for (double number : readDoubles(some))
      look(number);
  if (isFinite) {
    range.least = least;
    range.most = most;
  }
  return range;
}

static NumberRange between(double least, double most) { return {least, most, 0}; }

NumberRange bounds::unit(Operation *, Operands) { return between(0, 1); }
NumberRange bounds::signedUnit(Operation *, Operands) { return between(-1, 1); }
NumberRange bounds::first(Operation *, Operands x) { return x[0]; }

static NumberRange unionOf(Operands x) {
  NumberRange all = x[0];
  for (const NumberRange &range : x.drop_front()) {
    all.least = std::min(all.least, range.least);
    all.most = std::max(all.most, range.most);
    all.reach = std::max(all.reach, range.reach);
  }
  return all;
}
NumberRange bounds::any(Operation *, Operands x) { return unionOf(x); }
NumberRange bounds::firstTwo(Operation *, Operands x) { return unionOf(x.take_front(2)); }
NumberRange bounds::where(Operation *, Operands x) { return unionOf(x.drop_front()); }

static double largestReach(Operands x) {
  double reach = 0;
  for (const NumberRange &range : x)
    reach = std::max(reach, range.reach);
  return reach;
}

/// infinity - infinity is nothing that is known.
static double sumOr(double a, double b, double otherwise) {
  double sum = a + b;
  return std::isnan(sum) ? otherwise : sum;
}

NumberRange bounds::add(Operation *, Operands x) {
  NumberRange sum = x[0];
  for (const NumberRange &range : x.drop_front()) {
    sum.least = sumOr(sum.least, range.least, -kInfinity);
    sum.most = sumOr(sum.most, range.most, kInfinity);
  }
  sum.reach = largestReach(x);
  return sum;
}

static NumberRange negated(NumberRange x) { return {-x.most, -x.least, x.reach}; }
NumberRange bounds::neg(Operation *, Operands x) { return negated(x[0]); }
NumberRange bounds::sub(Operation *op, Operands x) { return add(op, {x[0], negated(x[1])}); }

//===-- Normalisations ------------------------------------------------------------------------===//

bool isSquare(Operation *op) {
  if (isa<onnx::PowOp>(op)) {
    NumberRange exponent;
    if (ElementsAttr constant = onnx::constantValue(op->getOperand(1)))
      exponent = rangeOfConstant(constant);
    return exponent.least == 2 && exponent.most == 2;
  }
  return isa<onnx::MulOp>(op) && op->getOperand(0) == op->getOperand(1);
}

/// The value that a constant keeps from 0, as a summand or a lower bound.
static Value withoutGuard(Value value) {
  auto isGuard = [](Value operand) {
    ElementsAttr constant = onnx::constantValue(operand);
    return constant && rangeOfConstant(constant).least >= 0;
  };
  for (Operation *op = value.getDefiningOp();
       isa_and_nonnull<onnx::AddOp, onnx::MaxOp, onnx::ClipOp>(op); op = value.getDefiningOp()) {
    if (isa<onnx::ClipOp>(op) &&
        (!isGuard(op->getOperand(1)) || !onnx::isAbsent(op->getOperand(2))))
      break;
    SmallVector<Value, 2> kept;
    for (Value operand :
         op->getOperands().take_front(isa<onnx::ClipOp>(op) ? 1 : op->getNumOperands()))
      if (!isGuard(operand))
        kept.push_back(operand);
    if (kept.size() != 1)
      break;
    value = kept.front();
  }
  return value;
}

/// The elements that a mean is of; nothing where a size is open.
static std::optional<double> countOf(onnx::ReduceMeanOp mean) {
  auto type = dyn_cast<RankedTensorType>(mean->getOperand(0).getType());
  if (!type)
    return std::nullopt;
  std::set<int64_t> axes;
  if (onnx::isAbsent(mean->getOperand(1))) {
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      axes.insert(axis);
  } else {
    std::optional<SmallVector<int64_t>> given = onnx::constantInts(mean->getOperand(1));
    if (!given)
      return std::nullopt;
    for (int64_t axis : *given)
      axes.insert(axis < 0 ? axis + type.getRank() : axis);
  }
  double count = 1;
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
      return std::nullopt;
    count *= type.getDimSize(axis);
  }
  return count;
}

/// The value without a constant factor above 0, by which `factor` is multiplied.
static Value withoutFactor(Value value, double &factor) {
  while (Operation *op = value.getDefiningOp()) {
    std::optional<double> number = factorOf(op);
    if (!number || !(*number > 0))
      break;
    factor *= *number;
    value = op->getOperand(0);
  }
  return value;
}

/// True of a reduction whose results stand beside what they are of; others may meet other elements.
static bool keepsDimensions(Operation *reduction) {
  auto keeps = reduction->getAttrOfType<IntegerAttr>("keepdims");
  return !keeps || keeps.getInt() != 0;
}

/// The most that a value may be, in roots of these sums of squares: one, or the root of the number of squares that
/// the mean is of. What guards them makes it less.
static std::optional<double> mostOfRoot(Value value, Value sums) {
  double factor = 1;
  Operation *op = withoutFactor(withoutGuard(sums), factor).getDefiningOp();
  if (!op || !keepsDimensions(op))
    return std::nullopt;
  if (isa<onnx::ReduceSumSquareOp>(op))
    return op->getOperand(0) == value ? std::optional<double>(std::sqrt(1 / factor)) : std::nullopt;
  if (!isa<onnx::ReduceMeanOp, onnx::ReduceSumOp>(op))
    return std::nullopt;
  Operation *square = op->getOperand(0).getDefiningOp();
  if (!square || !isSquare(square) || square->getOperand(0) != value)
    return std::nullopt;
  auto mean = dyn_cast<onnx::ReduceMeanOp>(op);
  std::optional<double> count = mean ? countOf(mean) : 1;
  return count ? std::optional<double>(std::sqrt(*count / factor)) : std::nullopt;
}

/// The most that a value may be where `root`, perhaps guarded, divides it.
static std::optional<double> mostDivided(Value value, Value root) {
  Operation *op = withoutGuard(root).getDefiningOp();
  if (isa_and_nonnull<onnx::SqrtOp>(op))
    return mostOfRoot(value, op->getOperand(0));
  return isa_and_nonnull<onnx::ReduceL2Op>(op) && keepsDimensions(op) && op->getOperand(0) == value
             ? std::optional<double>(1)
             : std::nullopt;
}

/// The most that a value may be where `factor`, the reciprocal of a root, multiplies it.
static std::optional<double> mostMultiplied(Value value, Value factor) {
  Operation *op = factor.getDefiningOp();
  if (isa_and_nonnull<onnx::ReciprocalOp>(op))
    return mostDivided(value, op->getOperand(0));
  if (!isa_and_nonnull<onnx::PowOp>(op))
    return std::nullopt;
  ElementsAttr constant = onnx::constantValue(op->getOperand(1));
  NumberRange exponent = constant ? rangeOfConstant(constant) : NumberRange();
  return exponent.least == -0.5 && exponent.most == -0.5 ? mostOfRoot(value, op->getOperand(0))
                                                         : std::nullopt;
}

//===-- Arithmetic ----------------------------------------------------------------------------===//

/// The reach of a value times one within `factor`. Larger factors are no large constants.
static double shrunk(double reach, const NumberRange &factor) {
  return reach * std::min(1.0, factor.magnitude());
}

NumberRange bounds::mul(Operation *op, Operands x) {
  if (isa<onnx::MulOp>(op))
    for (unsigned i : {0, 1})
      if (std::optional<double> most = mostMultiplied(op->getOperand(i), op->getOperand(1 - i)))
        return between(-*most, *most);
  bool isSquare = cameo::isSquare(op);
  double reach = std::max(shrunk(x[0].reach, x[1]), shrunk(x[1].reach, x[0]));
  for (unsigned i : {0, 1})
    if (ElementsAttr factor = onnx::constantValue(op->getOperand(i)); factor && !x[1 - i].isKnown())
      // Numbers are taken to be of the order of 1; factors of masks hide, and there is nothing to lose.
      if (!(x[i].most <= 0 && leadsToSoftmax(op)))
        reach = std::max(reach, kUsual * x[i].reach);
  NumberRange result{isSquare ? 0 : -kInfinity, kInfinity, reach};
  if (!x[0].isKnown() || !x[1].isKnown())
    return result;
  double corners[] = {x[0].least * x[1].least, x[0].least * x[1].most, x[0].most * x[1].least,
                      x[0].most * x[1].most};
  result.least = *llvm::min_element(corners);
  result.most = *llvm::max_element(corners);
  if (isSquare)
    result.least = std::max(result.least, 0.0);
  return result;
}

static NumberRange reciprocalOf(NumberRange x) {
  if (x.least > 0 || x.most < 0)
    return {1 / x.most, 1 / x.least, 0};
  return {};
}
NumberRange bounds::reciprocal(Operation *, Operands x) { return reciprocalOf(x[0]); }
NumberRange bounds::div(Operation *op, Operands x) {
  if (std::optional<double> most = mostDivided(op->getOperand(0), op->getOperand(1)))
    return between(-*most, *most);
  NumberRange result = mul(op, {x[0], reciprocalOf(x[1])});
  result.reach = shrunk(x[0].reach, reciprocalOf(x[1]));
  return result;
}

NumberRange bounds::relu(Operation *, Operands x) {
  return {std::max(0.0, x[0].least), std::max(0.0, x[0].most), x[0].reach};
}
/// Functions that stay between their operand's negative and positive part: Elu, Gelu, Swish.
NumberRange bounds::shrinks(Operation *, Operands x) {
  return {std::min(x[0].least, 0.0), std::max(x[0].most, 0.0), x[0].reach};
}
NumberRange bounds::absolute(Operation *, Operands x) { return {0, x[0].magnitude(), x[0].reach}; }
NumberRange bounds::rounds(Operation *, Operands x) {
  return {std::floor(x[0].least), std::ceil(x[0].most), x[0].reach};
}
NumberRange bounds::squareRoot(Operation *, Operands x) {
  return {std::sqrt(std::max(0.0, x[0].least)), std::sqrt(std::max(0.0, x[0].most)), 0};
}
NumberRange bounds::exponential(Operation *, Operands x) {
  return between(std::exp(x[0].least), std::exp(x[0].most));
}
NumberRange bounds::softplus(Operation *, Operands x) {
  return between(0, std::max(0.0, x[0].most) + std::log(2.0));
}

/// Bounds that are beyond 16 bits are there to be no bounds.
NumberRange bounds::clip(Operation *, Operands x) {
  NumberRange result = x[0];
  double largest = largestOf(Precision::FP16);
  if (x.size() > 1 && x[1].isKnown() && x[1].least >= -largest)
    result.least = std::max(result.least, x[1].least);
  if (x.size() > 2 && x[2].isKnown() && x[2].most <= largest)
    result.most = std::min(result.most, x[2].most);
  result.most = std::max(result.most, result.least);
  result.reach = std::min(result.reach, result.magnitude());
  return result;
}

NumberRange bounds::maximum(Operation *, Operands x) {
  NumberRange result = unionOf(x);
  for (const NumberRange &range : x)
    result.least = std::max(result.least, range.least);
  return result;
}
NumberRange bounds::minimum(Operation *op, Operands x) {
  SmallVector<NumberRange> all;
  for (const NumberRange &range : x)
    all.push_back(negated(range));
  return negated(maximum(op, all));
}

/// By a constant exponent.
NumberRange bounds::power(Operation *, Operands x) {
  NumberRange exponent = x[1];
  if (exponent.least != exponent.most || !x[0].isKnown() || exponent.least < 0)
    return {};
  double most = std::pow(x[0].magnitude(), exponent.least);
  bool isEven = std::fmod(exponent.least, 2) == 0;
  return between(isEven || x[0].least >= 0 ? 0 : -most, most);
}

/// As many elements as one sum is of.
NumberRange bounds::sums(Operation *op, Operands x) {
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!x[0].isKnown() || !from || !to || !from.hasStaticShape() || !to.hasStaticShape() ||
      to.getNumElements() == 0)
    return {};
  double count = double(from.getNumElements()) / to.getNumElements();
  bool isSum = isa<onnx::ReduceSumOp>(op), squares = isa<onnx::ReduceSumSquareOp>(op);
  double most = count * (squares ? x[0].magnitude() * x[0].magnitude() : x[0].magnitude());
  return between(isSum ? std::min(0.0, count * x[0].least) : 0,
                 isSum ? std::max(0.0, count * x[0].most) : most);
}

/// Booleans and integers of 8 bits; floats as they are.
NumberRange bounds::conversion(Operation *op, Operands x) {
  auto from = dyn_cast<TensorType>(op->getOperand(0).getType());
  std::optional<onnx::ElementKind> kind =
      from ? onnx::elementKind(from.getElementType()) : std::nullopt;
  if (!kind || x[0].isKnown())
    return x[0];
  if (*kind == onnx::ElementKind::Bool)
    return between(0, 1);
  if (*kind == onnx::ElementKind::U8)
    return between(0, 255);
  return *kind == onnx::ElementKind::I8 ? between(-128, 127) : x[0];
}

/// A quantised value has 8 bits, and perhaps a zero point among them.
NumberRange bounds::dequantized(Operation *op, Operands x) {
  auto from = dyn_cast<TensorType>(op->getOperand(0).getType());
  if (!from || !from.getElementType().isInteger(8) || !x[1].isKnown())
    return {};
  double most = (x.size() > 2 && !onnx::isAbsent(op->getOperand(2)) ? 255 : 128) * x[1].magnitude();
  return between(-most, most);
}

/// Sums of elements and of zeros around them, by weights; those of cubic interpolation go below 0 and
/// have magnitudes of 1.375 in sum, halfway between two elements, for each dimension.
NumberRange bounds::sampled(Operation *op, Operands x) {
  NumberRange range = shrinks(op, x);
  auto grid = dyn_cast<onnx::GridSampleOp>(op);
  if (!grid || grid.getMode() != "cubic")
    return range;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  double most = type ? std::pow(1.375, type.getRank() - 2) * range.magnitude() : kInfinity;
  return {-most, most, range.reach};
}

} // namespace cameo
