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

using namespace mlir;

namespace cameo {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// FP16's least normal number.
static constexpr double kLeastNormal = 0x1p-14;

double largestOf(Precision precision) {
  return precision == Precision::BF16 ? 0x1.FEp127 : 65504.0;
}

double exactIntegers(Precision precision) { return precision == Precision::BF16 ? 256 : 2048; }

//===-- Constants -----------------------------------------------------------------------------===//

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
  auto known = dyn_cast<PrecisionInterface>(op);
  if (!known || !known.policy().range)
    return {};
  SmallVector<NumberRange> operands;
  for (Value operand : op->getOperands())
    operands.push_back(of(operand));
  return known.policy().range(op, operands);
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
