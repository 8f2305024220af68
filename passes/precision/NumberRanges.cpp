// What is known of the numbers that values hold: bounds, operator by operator.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/NumberRanges.h"

#include "dialects/onnx/Constants.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/graph/Elements.h"
#include "passes/precision/ScaleScores.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"

#include <set>

#include "passes/precision/NumberBounds.cpp.inc"

using namespace mlir;

namespace cameo {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Numbers of which nothing is known are taken to go up to this where a constant multiplies them.
static constexpr double kUsual = 8;
/// FP16's least normal number.
static constexpr double kLeastNormal = 0x1p-14;

double largestOf(Precision precision) {
  return precision == Precision::BF16 ? 0x1.FEp127 : 65504.0;
}

double exactIntegers(Precision precision) { return precision == Precision::BF16 ? 256 : 2048; }

//===-- Constants -----------------------------------------------------------------------------===//

static NumberRange rangeOfConstant(ElementsAttr value) {
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

/// How much more rounding to FP16 loses of these numbers than rounding to BF16 does: the difference
/// of the sums of squares.
static double lostByFP16(ArrayRef<float> numbers) {
  auto rounded = [&](onnx::ElementKind kind) {
    return readDoubles(kind, writeElements<float>(kind, numbers));
  };
  double sum = 0;
  for (auto [number, half, brain] :
       llvm::zip(numbers, rounded(onnx::ElementKind::F16), rounded(onnx::ElementKind::BF16)))
    sum += (half - number) * (half - number) - (brain - number) * (brain - number);
  return sum;
}

/// Whether rounding to FP16 loses more of a constant than rounding to BF16 would. Only numbers
/// below the least normal one can do that: from there on FP16 has all numbers that BF16 has, and
/// more. So they come first, and of the others only as many as it takes to outweigh them.
static bool sinksInFP16(ElementsAttr value) {
  std::optional<Elements> elements = Elements::of(value);
  if (!elements || elements->kind != onnx::ElementKind::F32 || elements->count() == 0)
    return false;
  constexpr int64_t kPiece = 4096;
  int64_t count = elements->isSplat() ? 1 : elements->count();
  std::vector<float> numbers;
  double lost = 0;
  for (bool small : {true, false})
    for (int64_t i = 0; i < count; ++i) {
      float number = llvm::bit_cast<float>(llvm::support::endian::read32le(elements->at(i)));
      if (number != 0 && (std::abs(number) < kLeastNormal) == small)
        numbers.push_back(number);
      if (int64_t(numbers.size()) < kPiece && i + 1 < count)
        continue;
      lost += lostByFP16(numbers);
      numbers.clear();
      if (!(lost > 0) && (!small || i + 1 == count))
        return false;
    }
  return lost > 0;
}

//===-- Operators -----------------------------------------------------------------------------===//

using Operands = ArrayRef<NumberRange>;
struct NumberBoundsModel : NumberBoundsInterface::FallbackModel<NumberBoundsModel> {
  NumberRange (*row)(Operation *, Operands) = nullptr;
  NumberRange bounds(Operation *op, Operands operands) const { return row(op, operands); }
};

static NumberRange between(double least, double most) { return {least, most, 0}; }

static NumberRange unit(Operation *, Operands) { return between(0, 1); }
static NumberRange signedUnit(Operation *, Operands) { return between(-1, 1); }
static NumberRange first(Operation *, Operands x) { return x[0]; }

static NumberRange unionOf(Operands x) {
  NumberRange all = x[0];
  for (const NumberRange &range : x.drop_front()) {
    all.least = std::min(all.least, range.least);
    all.most = std::max(all.most, range.most);
    all.reach = std::max(all.reach, range.reach);
  }
  return all;
}
static NumberRange any(Operation *, Operands x) { return unionOf(x); }
static NumberRange firstTwo(Operation *, Operands x) { return unionOf(x.take_front(2)); }
static NumberRange where(Operation *, Operands x) { return unionOf(x.drop_front()); }

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

static NumberRange add(Operation *, Operands x) {
  NumberRange sum = x[0];
  for (const NumberRange &range : x.drop_front()) {
    sum.least = sumOr(sum.least, range.least, -kInfinity);
    sum.most = sumOr(sum.most, range.most, kInfinity);
  }
  sum.reach = largestReach(x);
  return sum;
}

static NumberRange negated(NumberRange x) { return {-x.most, -x.least, x.reach}; }
static NumberRange neg(Operation *, Operands x) { return negated(x[0]); }
static NumberRange sub(Operation *op, Operands x) { return add(op, {x[0], negated(x[1])}); }

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

/// How far a value reaches that is multiplied by one within `factor`. Larger factors are no large constants.
static double shrunk(double reach, const NumberRange &factor) {
  return reach * std::min(1.0, factor.magnitude());
}

static NumberRange mul(Operation *op, Operands x) {
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
static NumberRange reciprocal(Operation *, Operands x) { return reciprocalOf(x[0]); }
static NumberRange div(Operation *op, Operands x) {
  if (std::optional<double> most = mostDivided(op->getOperand(0), op->getOperand(1)))
    return between(-*most, *most);
  NumberRange result = mul(op, {x[0], reciprocalOf(x[1])});
  result.reach = shrunk(x[0].reach, reciprocalOf(x[1]));
  return result;
}

static NumberRange relu(Operation *, Operands x) {
  return {std::max(0.0, x[0].least), std::max(0.0, x[0].most), x[0].reach};
}
/// Functions that stay between their operand's negative and positive part: Elu, Gelu, Swish.
static NumberRange shrinks(Operation *, Operands x) {
  return {std::min(x[0].least, 0.0), std::max(x[0].most, 0.0), x[0].reach};
}
static NumberRange absolute(Operation *, Operands x) { return {0, x[0].magnitude(), x[0].reach}; }
static NumberRange rounds(Operation *, Operands x) {
  return {std::floor(x[0].least), std::ceil(x[0].most), x[0].reach};
}
static NumberRange squareRoot(Operation *, Operands x) {
  return {std::sqrt(std::max(0.0, x[0].least)), std::sqrt(std::max(0.0, x[0].most)), 0};
}
static NumberRange exponential(Operation *, Operands x) {
  return between(std::exp(x[0].least), std::exp(x[0].most));
}
static NumberRange softplus(Operation *, Operands x) {
  return between(0, std::max(0.0, x[0].most) + std::log(2.0));
}

/// Bounds that are beyond 16 bits are there to be no bounds.
static NumberRange clip(Operation *, Operands x) {
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

static NumberRange maximum(Operation *, Operands x) {
  NumberRange result = unionOf(x);
  for (const NumberRange &range : x)
    result.least = std::max(result.least, range.least);
  return result;
}
static NumberRange minimum(Operation *op, Operands x) {
  SmallVector<NumberRange> all;
  for (const NumberRange &range : x)
    all.push_back(negated(range));
  return negated(maximum(op, all));
}

/// By a constant exponent.
static NumberRange power(Operation *, Operands x) {
  NumberRange exponent = x[1];
  if (exponent.least != exponent.most || !x[0].isKnown() || exponent.least < 0)
    return {};
  double most = std::pow(x[0].magnitude(), exponent.least);
  bool isEven = std::fmod(exponent.least, 2) == 0;
  return between(isEven || x[0].least >= 0 ? 0 : -most, most);
}

/// As many elements as one sum is of.
static NumberRange sums(Operation *op, Operands x) {
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
static NumberRange conversion(Operation *op, Operands x) {
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

/// What is quantised has 8 bits, and perhaps a zero point among them.
static NumberRange dequantized(Operation *op, Operands x) {
  auto from = dyn_cast<TensorType>(op->getOperand(0).getType());
  if (!from || !from.getElementType().isInteger(8) || !x[1].isKnown())
    return {};
  double most = (x.size() > 2 && !onnx::isAbsent(op->getOperand(2)) ? 255 : 128) * x[1].magnitude();
  return between(-most, most);
}

/// Sums of elements and of zeros around them, by weights; those of cubic interpolation go below 0 and
/// have magnitudes of 1.375 in sum, halfway between two elements, for each dimension.
static NumberRange sampled(Operation *op, Operands x) {
  NumberRange range = shrinks(op, x);
  auto grid = dyn_cast<onnx::GridSampleOp>(op);
  if (!grid || grid.getMode() != "cubic")
    return range;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  double most = type ? std::pow(1.375, type.getRank() - 2) * range.magnitude() : kInfinity;
  return {-most, most, range.reach};
}

void attachNumberBounds(MLIRContext &context) {
  onnx::OperatorRows<NumberBoundsModel> rows(context);
  rows.add<onnx::SigmoidOp, onnx::HardSigmoidOp, onnx::SoftmaxOp, onnx::HardmaxOp>(unit);
  rows.add<onnx::TanhOp, onnx::ErfOp, onnx::SoftsignOp, onnx::SinOp, onnx::CosOp, onnx::SignOp,
           onnx::LpNormalizationOp>(signedUnit);
  rows.add<onnx::ReshapeOp, onnx::FlattenOp, onnx::SqueezeOp, onnx::UnsqueezeOp, onnx::TransposeOp>(
      first);
  rows.add<onnx::ExpandOp, onnx::TileOp, onnx::SliceOp, onnx::SplitOp, onnx::GatherOp,
           onnx::GatherElementsOp, onnx::GatherNDOp, onnx::CompressOp>(first);
  rows.add<onnx::IdentityOp, onnx::DropoutOp, onnx::DepthToSpaceOp, onnx::SpaceToDepthOp,
           onnx::ReverseSequenceOp>(first);
  rows.add<onnx::MaxPoolOp, onnx::GlobalMaxPoolOp, onnx::GlobalAveragePoolOp, onnx::ReduceMaxOp,
           onnx::ReduceMinOp>(first);
  rows.add<onnx::ReduceMeanOp>(first);
  rows.add<onnx::GridSampleOp, onnx::RoiAlignOp, onnx::MaxRoiPoolOp>(sampled);
  rows.add<onnx::ConcatOp, onnx::MeanOp>(any);
  rows.add<onnx::TensorScatterOp>(firstTwo);
  rows.add<onnx::WhereOp>(where);
  rows.add<onnx::AddOp, onnx::SumOp>(add);
  rows.add<onnx::SubOp>(sub);
  rows.add<onnx::MulOp>(mul);
  rows.add<onnx::DivOp>(div);
  rows.add<onnx::NegOp>(neg);
  rows.add<onnx::AbsOp>(absolute);
  rows.add<onnx::ReluOp>(relu);
  rows.add<onnx::LeakyReluOp, onnx::EluOp, onnx::CeluOp, onnx::GeluOp, onnx::SwishOp,
           onnx::HardSwishOp, onnx::MishOp>(shrinks);
  rows.add<onnx::FloorOp, onnx::CeilOp, onnx::RoundOp>(rounds);
  rows.add<onnx::SqrtOp>(squareRoot);
  rows.add<onnx::ExpOp>(exponential);
  rows.add<onnx::SoftplusOp>(softplus);
  rows.add<onnx::ClipOp>(clip);
  rows.add<onnx::MaxOp>(maximum);
  rows.add<onnx::MinOp>(minimum);
  rows.add<onnx::PowOp>(power);
  rows.add<onnx::ReciprocalOp>(reciprocal);
  rows.add<onnx::ReduceSumOp, onnx::ReduceSumSquareOp, onnx::ReduceL1Op>(sums);
  rows.add<onnx::CastOp>(conversion);
  rows.add<onnx::DequantizeLinearOp>(dequantized);
}

/// Elu, Celu and LeakyRelu have factors that may be more than 1.
static bool hasLargeFactor(Operation *op) {
  auto alpha = op->getAttrOfType<FloatAttr>("alpha");
  return isa<onnx::LeakyReluOp, onnx::EluOp, onnx::CeluOp>(op) && alpha &&
         (alpha.getValueAsDouble() > 1 || alpha.getValueAsDouble() < 0);
}

NumberRange NumberRanges::inferred(Operation *op) const {
  if (auto constant = dyn_cast<onnx::ConstantOp>(op))
    return rangeOfConstant(constant.getValue());
  if (!isa<onnx::OnnxDialect>(op->getDialect()) || op->getNumRegions() ||
      op->getNumOperands() == 0 || hasLargeFactor(op))
    return {};
  auto bounded = dyn_cast<NumberBoundsInterface>(op);
  if (!bounded)
    return {};
  SmallVector<NumberRange> operands;
  for (Value operand : op->getOperands())
    operands.push_back(of(operand));
  return bounded.bounds(operands);
}

/// Growth goes on through data movement, sums and elementwise work, unless that has bounds; a root ends it, and so
/// does a division by what grows.
bool NumberRanges::grows(Operation *op, const NumberRange &range) const {
  const PolicyRow &row = policyOf(op);
  if (range.isKnown() || !isa<onnx::OnnxDialect>(op->getDialect()) || isa<onnx::SqrtOp>(op))
    return false;
  if (row.role == Role::Ranged)
    return true;
  if (row.settles || row.role == Role::Product || row.role == Role::Full)
    return false;
  bool isLarge = false, isDivided = false;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (of(operand).grows)
      (row.divides(i) ? isDivided : isLarge) = true;
  return isLarge && !isDivided;
}

/// The small number that is added to keep a value from 0, as far behind the sum as growth would go.
double NumberRanges::guardOf(Operation *op) const {
  if (!isa<onnx::OnnxDialect>(op->getDialect()) || isa<onnx::ConstantOp>(op))
    return 0;
  const PolicyRow &row = policyOf(op);
  if (row.settles || row.role == Role::Product || row.role == Role::Full)
    return 0;
  double guard = 0;
  auto meet = [&](double number) {
    if (number > 0)
      guard = guard > 0 ? std::min(guard, number) : number;
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    NumberRange range = of(operand);
    if (!row.divides(i))
      meet(range.guard);
    if (isa<onnx::AddOp, onnx::SubOp, onnx::SumOp>(op) && range.least == range.most &&
        range.magnitude() < kLeastNormal)
      meet(range.magnitude());
  }
  return isa<onnx::SqrtOp>(op) ? std::sqrt(guard) : guard;
}

/// What is not a number says nothing.
NumberRange NumberRanges::computed(Operation *op) const {
  NumberRange range = inferred(op);
  range.guard = guardOf(op);
  range.grows = grows(op, range);
  if (std::isnan(range.least))
    range.least = -kInfinity;
  if (std::isnan(range.most))
    range.most = kInfinity;
  return range;
}

void NumberRanges::narrow(Value value, const RecordedRanges &recorded) {
  if (recorded.byName.empty() || !isFP32(value))
    return;
  auto found = recorded.byName.find(valueName(value));
  if (found == recorded.byName.end())
    return;
  ++used;
  NumberRange &range = ranges[value];
  range.least = std::max(range.least, headroom * std::min(found->second.least, 0.0));
  range.most = std::min(range.most, headroom * std::max(found->second.most, 0.0));
  range.reach = 0; // what there is has been seen
  range.grows = range.grows && !range.isKnown();
}

NumberRanges::NumberRanges(func::FuncOp function, const RecordedRanges &recorded, double headroom)
    : headroom(headroom) {
  for (BlockArgument argument : function.getArguments())
    narrow(argument, recorded);
  for (Operation &op : function.getBody().front()) {
    if (op.getNumResults() == 0)
      continue;
    NumberRange range = computed(&op);
    for (Value result : op.getResults()) {
      // Beyond the first, results are indices, masks and statistics; of Split they are alike.
      if (result == op.getResult(0) || isa<onnx::SplitOp>(op))
        ranges[result] = range;
      narrow(result, recorded);
    }
  }
}

//===-- What 16 bits hold ---------------------------------------------------------------------===//

static std::string text(double number) {
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format("%.6g", number);
  return result;
}

std::string NumberRanges::whyTooLarge(Value value, Precision precision) const {
  NumberRange range = of(value);
  double largest = largestOf(precision), most = range.isKnown() ? range.magnitude() : range.reach;
  if (most <= largest)
    return "";
  return "goes up to " + text(most) + "; " + precisionText(precision) + " ends at " + text(largest);
}

std::string NumberRanges::whyTooSmall(Value value, Precision precision) const {
  if (precision != Precision::FP16)
    return "";
  NumberRange range = of(value);
  double most = range.isKnown() ? range.magnitude() : range.reach;
  ElementsAttr constant = onnx::constantValue(value);
  bool sinks =
      constant ? sinksInFP16(constant) : range.isKnown() && most != 0 && most < kLeastNormal;
  if (!sinks)
    return "";
  return "goes up to " + text(most) + " and sinks into denormals; FP16's least normal number is " +
         text(kLeastNormal);
}

std::string NumberRanges::whyNot(Value value, Precision precision) const {
  std::string why = whyTooLarge(value, precision);
  return why.empty() ? whyTooSmall(value, precision) : why;
}

bool NumberRanges::guardSinks(Value value, Precision precision) const {
  NumberRange range = of(value);
  double guard = range.least > 0 ? range.least : range.most < 0 ? -range.most : range.guard;
  return precision == Precision::FP16 && guard > 0 && guard < kLeastNormal;
}

bool NumberRanges::divisorSinks(Value value, Precision precision) const {
  if (guardSinks(value, precision))
    return true;
  NumberRange range = of(value);
  double least = range.least >= 0 ? range.least : range.most <= 0 ? -range.most : kInfinity;
  return precision == Precision::FP16 && least < kLeastNormal && !onnx::constantValue(value);
}

/// Integers of which some are not numbers of the type.
static std::string inexact(Operation *op, const NumberRange &range, Precision precision) {
  auto from = dyn_cast<TensorType>(op->getOperand(0).getType());
  if (!from || !from.getElementType().isIntOrIndex())
    return "";
  double exact = exactIntegers(precision);
  if (range.isKnown() && range.magnitude() <= exact)
    return "";
  return "its integers may be beyond " + text(exact) + ", up to which " + precisionText(precision) +
         " has all of them";
}

std::string NumberRanges::whyNot(Operation *op, const Converted &converted,
                                 Precision precision) const {
  const PolicyRow &row = policyOf(op);
  if (isa<onnx::CastOp>(op))
    return inexact(op, of(op->getResult(0)), precision);
  bool isProduct = row.role == Role::Product;
  for (unsigned i : converted.operands) {
    Value operand = op->getOperand(i);
    bool saturates = row.isBound(i) || row.isMask(i);
    std::string why = saturates ? whyTooSmall(operand, precision) : whyNot(operand, precision);
    if (why.empty() && !isProduct && guardSinks(operand, precision))
      why = "is kept from 0 by numbers that FP16 has few digits of";
    if (why.empty() && row.divides(i) && divisorSinks(operand, precision))
      why = "may be as small as numbers that FP16 has few digits of";
    if (why.empty() && precision == Precision::FP16 && of(operand).grows)
      why = "can grow beyond FP16, and its range is not known";
    if (!why.empty())
      return onnx::inputText(op, i) + " " + why;
  }
  for (unsigned i : converted.results) {
    if (std::string why = whyNot(op->getResult(i), precision); !why.empty())
      return "its result " + why;
    if (row.role == Role::Ranged && precision == Precision::FP16 && !of(op->getResult(i)).isKnown())
      return row.why.str();
  }
  return "";
}

} // namespace cameo
