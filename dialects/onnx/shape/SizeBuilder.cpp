// Folding and value numbering of sizes and host values.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/SizeBuilder.h"

#include "runtime/mutant.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;

namespace cameo::onnx {

static std::optional<int64_t> integer(OpFoldResult ofr) {
  if (auto attribute = dyn_cast_if_present<IntegerAttr>(dyn_cast<Attribute>(ofr)))
    return attribute.getInt();
  return std::nullopt;
}

static std::optional<double> real(OpFoldResult ofr) {
  if (auto attribute = dyn_cast_if_present<FloatAttr>(dyn_cast<Attribute>(ofr)))
    return attribute.getValueAsDouble();
  return std::nullopt;
}

OpFoldResult SizeBuilder::index(int64_t value) const {
  return Builder(context).getIndexAttr(value);
}

OpFoldResult SizeBuilder::floating(double value) const {
  return Builder(context).getF64FloatAttr(value);
}

//===-- Expressions ---------------------------------------------------------------------------===//

static bool commutes(SizeOperation op) {
  return llvm::is_contained({SizeOperation::Add, SizeOperation::Mul, SizeOperation::Min,
                             SizeOperation::Max, SizeOperation::WrapAdd, SizeOperation::WrapMul},
                            op);
}

OpFoldResult SizeBuilder::numbered(SizeOperation op, ArrayRef<OpFoldResult> operands) {
  const void *at[3] = {};
  for (auto [i, operand] : llvm::enumerate(operands))
    at[i] = operand.getOpaqueValue();
  // Only the key is ordered by addresses, which differ from run to run.
  if (commutes(op) && at[0] > at[1])
    std::swap(at[0], at[1]);
  Key key{static_cast<unsigned>(op), at[0], at[1], at[2]};
  if (OpFoldResult known = numbers.lookup(key))
    return known;
  OpFoldResult result = create(op, operands);
  numbers[key] = result;
  bool reads = llvm::any_of(operands, [&](OpFoldResult operand) { return readsInput(operand); });
  expressions[result.getOpaqueValue()] = {op, llvm::to_vector<3>(operands), reads};
  return result;
}

const SizeExpression *SizeBuilder::expression(OpFoldResult value) const {
  auto found = expressions.find(value.getOpaqueValue());
  return found == expressions.end() ? nullptr : &found->second;
}

void SizeBuilder::forget() {
  numbers.clear();
  expressions.clear();
}

//===-- Arithmetic ----------------------------------------------------------------------------===//

/// Folds two known integers; nothing where the result is not defined.
static std::optional<int64_t> foldIntegers(SizeOperation op, int64_t x, int64_t y) {
  int64_t result;
  if (op == SizeOperation::Add)
    return __builtin_add_overflow(x, y, &result) ? std::nullopt : std::optional(result);
  if (op == SizeOperation::Sub)
    return __builtin_sub_overflow(x, y, &result) ? std::nullopt : std::optional(result);
  if (op == SizeOperation::Mul)
    return __builtin_mul_overflow(x, y, &result) ? std::nullopt : std::optional(result);
  if (op == SizeOperation::Min)
    return std::min(x, y);
  if (op == SizeOperation::Max)
    return std::max(x, y);
  auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  if (op == SizeOperation::WrapAdd)
    return a + b;
  if (op == SizeOperation::WrapSub)
    return a - b;
  if (op == SizeOperation::WrapMul)
    return a * b;
  if (op == SizeOperation::SignExtend)
    return llvm::SignExtend64(a, y);
  if (op == SizeOperation::ZeroExtend)
    return a & llvm::maskTrailingOnes<uint64_t>(y);
  if (y == 0)
    return std::nullopt;
  if (op == SizeOperation::UnsignedDiv)
    return a / b;
  if (op == SizeOperation::UnsignedRem)
    return a % b;
  if (y == -1 && op == SizeOperation::Rem)
    return 0;
  if (y == -1 && x == INT64_MIN)
    return std::nullopt;
  int64_t quotient = x / y, remainder = x % y;
  if (op == SizeOperation::DivTowardsZero)
    return quotient;
  if (op == SizeOperation::Rem)
    return remainder;
  if (op == SizeOperation::FloorDiv)
    return quotient - (remainder != 0 && (remainder < 0) != (y < 0));
  if (op == SizeOperation::CeilDiv)
    return quotient + (remainder != 0 && (remainder < 0) == (y < 0));
  return std::nullopt;
}

static std::optional<double> foldReals(SizeOperation op, double x, double y) {
  if (op == SizeOperation::FAdd)
    return x + y;
  if (op == SizeOperation::FSub)
    return x - y;
  if (op == SizeOperation::FMul)
    return x * y;
  if (op == SizeOperation::FDiv)
    return x / y;
  return std::nullopt;
}

/// What an operation gives with a second operand that it does not need; null where it needs it.
static OpFoldResult foldNeutral(SizeOperation op, OpFoldResult a, int64_t y) {
  if (y == 0 && llvm::is_contained({SizeOperation::Add, SizeOperation::Sub, SizeOperation::WrapAdd,
                                    SizeOperation::WrapSub},
                                   op))
    return a;
  if (y == 1 && llvm::is_contained({SizeOperation::Mul, SizeOperation::DivTowardsZero,
                                    SizeOperation::FloorDiv, SizeOperation::CeilDiv,
                                    SizeOperation::WrapMul, SizeOperation::UnsignedDiv},
                                   op))
    return a;
  return {};
}

OpFoldResult SizeBuilder::binary(SizeOperation op, OpFoldResult a, OpFoldResult b) {
  if (auto x = integer(a))
    if (auto y = integer(b))
      if (auto folded = foldIntegers(op, *x, *y))
        return index(*folded);
  if (auto x = real(a))
    if (auto y = real(b))
      if (auto folded = foldReals(op, *x, *y))
        return floating(*folded);
  if (commutes(op) && integer(a))
    std::swap(a, b);
  if (auto y = integer(b)) {
    if (OpFoldResult folded = foldNeutral(op, a, *y))
      return folded;
    if (*y == 0 && (op == SizeOperation::Mul || op == SizeOperation::WrapMul))
      return index(0);
  }
  if (a == b && (op == SizeOperation::Sub || op == SizeOperation::WrapSub))
    return index(0);
  if (a == b && (op == SizeOperation::Min || op == SizeOperation::Max))
    return a;
  // (a * b) / b and (a + b) - b, which shapes computed from sizes are full of.
  const SizeExpression *inner = expression(a);
  bool isUndone =
      inner && ((inner->op == SizeOperation::Mul &&
                 (op == SizeOperation::DivTowardsZero || op == SizeOperation::FloorDiv)) ||
                (inner->op == SizeOperation::Add && op == SizeOperation::Sub));
  if (isUndone)
    for (unsigned i : {1, 0})
      if (inner->operands[i] == b)
        return inner->operands[1 - i];
  return numbered(op, {a, b});
}

OpFoldResult SizeBuilder::add(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::Add, a, b);
}
OpFoldResult SizeBuilder::sub(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::Sub, a, b);
}
OpFoldResult SizeBuilder::mul(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::Mul, a, b);
}
OpFoldResult SizeBuilder::min(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::Min, a, b);
}
OpFoldResult SizeBuilder::max(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::Max, a, b);
}
OpFoldResult SizeBuilder::rem(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::Rem, a, b);
}
OpFoldResult SizeBuilder::floorDiv(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::FloorDiv, a, b);
}
OpFoldResult SizeBuilder::ceilDiv(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::CeilDiv, a, b);
}
OpFoldResult SizeBuilder::divTowardsZero(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::DivTowardsZero, a, b);
}
OpFoldResult SizeBuilder::wrapAdd(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::WrapAdd, a, b);
}
OpFoldResult SizeBuilder::wrapSub(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::WrapSub, a, b);
}
OpFoldResult SizeBuilder::wrapMul(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::WrapMul, a, b);
}
OpFoldResult SizeBuilder::unsignedDiv(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::UnsignedDiv, a, b);
}
OpFoldResult SizeBuilder::unsignedRem(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::UnsignedRem, a, b);
}

OpFoldResult SizeBuilder::lowBits(OpFoldResult a, unsigned width, bool isSigned) {
  if (width >= 64)
    return a;
  SizeOperation op = isSigned ? SizeOperation::SignExtend : SizeOperation::ZeroExtend;
  const SizeExpression *made = expression(a);
  bool isExtended = made && made->op == op && *integer(made->operands[1]) <= width;
  bool isBit = made && llvm::is_contained(
                           {SizeOperation::Equal, SizeOperation::Less, SizeOperation::UnsignedLess},
                           made->op);
  return isExtended || isBit ? a : binary(op, a, index(width));
}

OpFoldResult SizeBuilder::fadd(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::FAdd, a, b);
}
OpFoldResult SizeBuilder::fsub(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::FSub, a, b);
}
OpFoldResult SizeBuilder::fmul(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::FMul, a, b);
}
OpFoldResult SizeBuilder::fdiv(OpFoldResult a, OpFoldResult b) {
  return binary(SizeOperation::FDiv, a, b);
}

OpFoldResult SizeBuilder::ffloor(OpFoldResult a) {
  if (auto x = real(a))
    return floating(std::floor(*x));
  return numbered(SizeOperation::FFloor, a);
}

OpFoldResult SizeBuilder::fceil(OpFoldResult a) {
  if (auto x = real(a))
    return floating(std::ceil(*x));
  return numbered(SizeOperation::FCeil, a);
}

OpFoldResult SizeBuilder::fround(OpFoldResult a) {
  if (auto x = real(a))
    return floating(static_cast<float>(*x));
  const SizeExpression *known = expression(a);
  if (known && llvm::is_contained({SizeOperation::FRound, SizeOperation::Select,
                                   SizeOperation::FFloor, SizeOperation::FCeil},
                                  known->op))
    return a;
  return numbered(SizeOperation::FRound, a);
}

OpFoldResult SizeBuilder::toFloat(OpFoldResult a) {
  if (auto x = integer(a))
    return floating(static_cast<double>(*x));
  return numbered(SizeOperation::ToFloat, a);
}

OpFoldResult SizeBuilder::toInteger(OpFoldResult a) {
  if (auto x = real(a); x && std::abs(*x) < 9.0e18)
    return index(static_cast<int64_t>(*x));
  return numbered(SizeOperation::ToInteger, a);
}

OpFoldResult SizeBuilder::compare(SizeOperation op, OpFoldResult a, OpFoldResult b) {
  bool less = op == SizeOperation::Less;
  if (auto x = integer(a))
    if (auto y = integer(b))
      return index(less ? *x < *y : *x == *y);
  if (auto x = real(a))
    if (auto y = real(b))
      return index(less ? *x < *y : *x == *y);
  if (a == b)
    return index(less ? 0 : 1);
  return numbered(op, {a, b});
}

OpFoldResult SizeBuilder::equal(OpFoldResult a, OpFoldResult b) {
  return compare(SizeOperation::Equal, a, b);
}

OpFoldResult SizeBuilder::less(OpFoldResult a, OpFoldResult b) {
  return compare(SizeOperation::Less, a, b);
}

OpFoldResult SizeBuilder::unsignedLess(OpFoldResult a, OpFoldResult b) {
  if (auto x = integer(a))
    if (auto y = integer(b))
      return index(static_cast<uint64_t>(*x) < static_cast<uint64_t>(*y));
  return a == b ? index(0) : numbered(SizeOperation::UnsignedLess, {a, b});
}

OpFoldResult SizeBuilder::select(OpFoldResult condition, OpFoldResult a, OpFoldResult b) {
  if (auto known = integer(condition))
    return *known ? a : b;
  return a == b ? a : numbered(SizeOperation::Select, {condition, a, b});
}

OpFoldResult SizeBuilder::product(ArrayRef<OpFoldResult> sizes) {
  // Known factors first: one multiplication by their product.
  OpFoldResult known = index(1), result = index(1);
  for (OpFoldResult size : sizes)
    if (integer(size))
      known = mul(known, size);
  for (OpFoldResult size : sizes)
    if (!integer(size))
      result = mul(result, size);
  return mul(result, known);
}

//===-- Signs ---------------------------------------------------------------------------------===//

bool SizeBuilder::isNonNegative(OpFoldResult value) const {
  constexpr unsigned kDeepest = 100;
  // Without what was found out, sums of sums would be looked through again and again.
  llvm::DenseMap<const void *, bool> known;
  auto look = [&](auto &self, OpFoldResult at, unsigned depth) -> bool {
    if (std::optional<int64_t> number = integer(at))
      return *number >= 0;
    if (depth > kDeepest)
      return false;
    auto [found, isNew] = known.try_emplace(at.getOpaqueValue(), false);
    if (!isNew)
      return found->second;
    const SizeExpression *made = expression(at);
    auto operand = [&](unsigned i) { return self(self, made->operands[i], depth + 1); };
    auto resultOf = [&] {
      if (!made)
        return isSize(at);
      switch (made->op) {
      case SizeOperation::Equal:
      case SizeOperation::Less:
      case SizeOperation::UnsignedLess:
      case SizeOperation::ZeroExtend:
        return true;
      case SizeOperation::Add:
      case SizeOperation::Mul:
      case SizeOperation::FloorDiv:
      case SizeOperation::CeilDiv:
      case SizeOperation::DivTowardsZero:
      case SizeOperation::Rem:
      case SizeOperation::Min:
        return operand(0) && operand(1);
      case SizeOperation::Max:
        return operand(0) || operand(1);
      case SizeOperation::Select:
        return operand(1) && operand(2);
      default:
        return false;
      }
    };
    bool result = resultOf();
    return known[at.getOpaqueValue()] = result;
  };
  return look(look, value, 0);
}

OpFoldResult SizeBuilder::atLeastZero(OpFoldResult value) {
  return isNonNegative(value) ? value : max(value, index(0));
}

bool SizeBuilder::readsInput(OpFoldResult value) const {
  if (integer(value) || real(value))
    return false;
  const SizeExpression *made = expression(value);
  return made ? made->readsInput : !isSize(value);
}

//===-- Checks --------------------------------------------------------------------------------===//

LogicalResult SizeBuilder::check(Operation *op, OpFoldResult condition, const Twine &message,
                                 OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> known = integer(condition);
  if (!known) {
    checkAtRunTime(op, condition, message, a, b);
    return success();
  }
  if (*known)
    return success();
  std::string text = message.str();
  auto fill = [&](StringRef mark, OpFoldResult with) {
    size_t at = text.find(mark.str());
    if (at != std::string::npos && with && integer(with))
      text.replace(at, mark.size(), std::to_string(*integer(with)));
  };
  fill("{0}", a);
  fill("{1}", b);
  return refusals.add(op, text);
}

FailureOr<OpFoldResult> SizeBuilder::checkedInteger(Operation *op, OpFoldResult floating,
                                                    const Twine &name) {
  if (!real(floating) && !readsInput(floating))
    return toInteger(floating);
  // NaN is in no range.
  OpFoldResult isInside =
      mul(less(this->floating(-0x1p63), floating), less(floating, this->floating(0x1p63)));
  if (failed(check(op, isInside, name + " is not a number of 64 bits")))
    return failure();
  return toInteger(select(isInside, floating, this->floating(0)));
}

bool SizeBuilder::isCapped(OpFoldResult size, OpFoldResult whole) const {
  const SizeExpression *least = expression(size);
  if (!least || least->op != SizeOperation::Min)
    return false;
  OpFoldResult other = least->operands[least->operands[0] == whole ? 1 : 0];
  return llvm::is_contained(least->operands, whole) && integer(other) && *integer(other) > 1;
}

FailureOr<OpFoldResult> SizeBuilder::broadcast(Operation *op, OpFoldResult left, OpFoldResult right,
                                               const Twine &message) {
  if (right == left || integer(right) == 1)
    return left;
  if (integer(left) == 1)
    return right;
  // Rows of a table of positions, say, as many as there are words.
  if (isCapped(right, left) || isCapped(left, right)) {
    if (failed(check(op, equal(right, left), message, left, right)))
      return failure();
    return isCapped(right, left) ? left : right;
  }
  // Unknown against known: the larger one, if either is 1 or both are equal.
  OpFoldResult merged = select(equal(left, index(1)), right, left);
  OpFoldResult isGood = select(equal(right, index(1)), index(1), equal(right, merged));
  if (failed(check(op, isGood, message, left, right)))
    return failure();
  return integer(right) ? right : integer(left) ? left : CAMEO_MUTANT(11, merged, left);
}

LogicalResult SizeBuilder::checkBroadcast(Operation *op, OpFoldResult size, OpFoldResult whole,
                                          const Twine &message) {
  OpFoldResult isGood = select(equal(size, index(1)), index(1), equal(size, whole));
  return check(op, isGood, message, size, whole);
}

FailureOr<Sizes> SizeBuilder::broadcast(Operation *op, ArrayRef<Sizes> shapes) {
  size_t rank = 0;
  for (const Sizes &shape : shapes)
    rank = std::max(rank, shape.size());
  Sizes result(rank, index(1));
  for (size_t i = 0; i < rank; ++i)
    for (const Sizes &shape : shapes) {
      if (i + shape.size() < rank)
        continue;
      FailureOr<OpFoldResult> size = broadcast(op, result[i], shape[i + shape.size() - rank],
                                               "sizes {0} and {1} cannot be broadcast together");
      if (failed(size))
        return failure();
      result[i] = *size;
    }
  return result;
}

} // namespace cameo::onnx
