// Folding of elementwise operators.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ConstantFolding.h"

#include "mlir/Dialect/Traits.h"

#include <cmath>

using namespace mlir;

namespace cameo {

static std::optional<SmallVector<int64_t>> broadcastShape(Fold &fold) {
  SmallVector<int64_t> shape;
  for (unsigned i = 0; i < fold.inputCount(); ++i)
    if (fold.absent(i) || !OpTrait::util::getBroadcastedShape(SmallVector<int64_t>(shape),
                                                              fold.input(i).shape(), shape))
      return std::nullopt;
  return shape;
}

/// Computes in the operands' type. `fn(a, b)` gives std::optional of it or of bool; nothing where
/// the result is not defined. More than two operands go from left to right.
template <typename Function> static LogicalResult binary(Fold &fold, Function fn) {
  std::optional<SmallVector<int64_t>> shape = broadcastShape(fold);
  std::optional<int64_t> count = shape ? fold.count(*shape) : std::nullopt;
  if (!count || fold.inputCount() < 1)
    return failure();
  bool good = true;
  bool known = withComputeType(fold.input(0).kind, [&](auto zero) {
    using C = decltype(zero);
    using R = typename decltype(fn(zero, zero))::value_type;
    std::vector<R> result(*count);
    for (unsigned i = 0; i < fold.inputCount(); ++i) {
      std::vector<C> numbers = readElements<C>(fold.input(i));
      SmallVector<int64_t> strides = *broadcastStrides(fold.input(i).shape(), *shape);
      forEachOffset(*shape, strides, 0, [&](int64_t at, int64_t from) {
        if constexpr (std::is_same_v<R, C>) {
          std::optional<R> value =
              i == 0 ? std::optional<R>(numbers[from]) : fn(result[at], numbers[from]);
          good &= value.has_value();
          result[at] = value.value_or(R());
        }
      });
    }
    if constexpr (!std::is_same_v<R, C>) {
      std::vector<C> left = readElements<C>(fold.input(0)), right = readElements<C>(fold.input(1));
      std::vector<C> spread(*count);
      forEachOffset(*shape, *broadcastStrides(fold.input(0).shape(), *shape), 0,
                    [&](int64_t at, int64_t from) { spread[at] = left[from]; });
      std::vector<uint64_t> flags(*count);
      forEachOffset(*shape, *broadcastStrides(fold.input(1).shape(), *shape), 0,
                    [&](int64_t at, int64_t from) { flags[at] = *fn(spread[at], right[from]); });
      good &= succeeded(fold.yield(*shape, writeElements<uint64_t>(fold.kind(), flags)));
    } else if (good) {
      good = succeeded(fold.yield(*shape, writeElements<C>(fold.kind(), result)));
    }
  });
  return success(known && good);
}

/// Results of 8, 16 and 32 bits are right modulo their width because 64 bits wrap.
template <typename C, typename Function> static C wrapping(C a, C b, Function fn) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(fn(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return fn(a, b);
}

static LogicalResult foldAdd(Fold &fold) {
  return binary(fold, [](auto a, auto b) {
    return std::optional(wrapping(a, b, [](auto x, auto y) { return x + y; }));
  });
}

static LogicalResult foldSub(Fold &fold) {
  return binary(fold, [](auto a, auto b) {
    return std::optional(wrapping(a, b, [](auto x, auto y) { return x - y; }));
  });
}

static LogicalResult foldMul(Fold &fold) {
  return binary(fold, [](auto a, auto b) {
    return std::optional(wrapping(a, b, [](auto x, auto y) { return x * y; }));
  });
}

/// Whether an integer division has a result.
template <typename C> static bool divides(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return b != 0 && !(std::is_signed_v<C> && a == std::numeric_limits<C>::min() && b == C(-1));
  else
    return true;
}

static LogicalResult foldDiv(Fold &fold) {
  return binary(fold, [](auto a, auto b) {
    return divides(a, b) ? std::optional(static_cast<decltype(a)>(a / b)) : std::nullopt;
  });
}

static LogicalResult foldMod(Fold &fold) {
  bool truncates = fold.attribute("fmod", 0) != 0;
  if (computesIn(fold.kind()) == Computes::Float || computesIn(fold.kind()) == Computes::Double)
    return failure();
  return binary(fold, [&](auto a, auto b) -> std::optional<decltype(a)> {
    using C = decltype(a);
    if constexpr (std::is_integral_v<C>) {
      if (!divides(a, b))
        return std::nullopt;
      C rest = a % b;
      bool other = std::is_signed_v<C> && rest != 0 && (rest < 0) != (b < 0);
      return other && !truncates ? rest + b : rest;
    }
    return std::nullopt;
  });
}

/// NaN wins, as in NumPy.
static LogicalResult foldMax(Fold &fold) {
  return binary(fold, [](auto a, auto b) { return std::optional(a != a || a > b ? a : b); });
}

static LogicalResult foldMin(Fold &fold) {
  return binary(fold, [](auto a, auto b) { return std::optional(a != a || a < b ? a : b); });
}

template <typename Function> static LogicalResult bitwise(Fold &fold, Function fn) {
  return binary(fold, [&](auto a, auto b) -> std::optional<decltype(a)> {
    if constexpr (std::is_integral_v<decltype(a)>)
      return fn(a, b);
    return std::nullopt;
  });
}

static LogicalResult foldAnd(Fold &fold) {
  return bitwise(fold, [](auto a, auto b) { return a & b; });
}
static LogicalResult foldOr(Fold &fold) {
  return bitwise(fold, [](auto a, auto b) { return a | b; });
}
static LogicalResult foldXor(Fold &fold) {
  return bitwise(fold, [](auto a, auto b) { return a ^ b; });
}

//===-- Comparisons ---------------------------------------------------------------------------===//

static LogicalResult foldEqual(Fold &fold) {
  return binary(fold, [](auto a, auto b) { return std::optional(a == b); });
}
static LogicalResult foldLess(Fold &fold) {
  return binary(fold, [](auto a, auto b) { return std::optional(a < b); });
}
static LogicalResult foldLessOrEqual(Fold &fold) {
  return binary(fold, [](auto a, auto b) { return std::optional(a <= b); });
}
static LogicalResult foldGreater(Fold &fold) {
  return binary(fold, [](auto a, auto b) { return std::optional(a > b); });
}
static LogicalResult foldGreaterOrEqual(Fold &fold) {
  return binary(fold, [](auto a, auto b) { return std::optional(a >= b); });
}

//===-- One operand ---------------------------------------------------------------------------===//

template <typename Function> static LogicalResult unary(Fold &fold, Function fn) {
  const Elements &x = fold.input(0);
  if (!fold.count(x.shape()))
    return failure();
  bool known = withComputeType(x.kind, [&](auto zero) {
    using C = decltype(zero);
    std::vector<C> numbers = readElements<C>(x);
    for (C &number : numbers)
      number = static_cast<C>(fn(number));
    (void)fold.yield(x.shape(), writeElements<C>(fold.kind(), numbers));
  });
  return success(known);
}

/// For floats; integers are not in the operator's domain, or as they are.
template <typename Function> static LogicalResult unaryReal(Fold &fold, Function fn) {
  return unary(fold, [&](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return fn(x);
    else
      return x;
  });
}

static LogicalResult foldNeg(Fold &fold) {
  return unary(fold, [](auto x) {
    if constexpr (std::is_integral_v<decltype(x)>)
      return uint64_t(0) - static_cast<uint64_t>(x);
    else
      return -x;
  });
}

static LogicalResult foldAbs(Fold &fold) {
  return unary(fold, [](auto x) {
    using C = decltype(x);
    if constexpr (std::is_floating_point_v<C>)
      return std::abs(x);
    else
      return x < C(0) ? uint64_t(0) - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  });
}

static LogicalResult foldSign(Fold &fold) {
  return unary(fold, [](auto x) {
    using C = decltype(x);
    return x != x ? x : static_cast<C>((x > C(0)) - (x < C(0)));
  });
}

static LogicalResult foldNot(Fold &fold) {
  return unary(fold, [](auto x) { return x == decltype(x)(0); });
}
static LogicalResult foldBitwiseNot(Fold &fold) {
  return unary(fold, [](auto x) {
    if constexpr (std::is_integral_v<decltype(x)>)
      return ~x;
    else
      return x;
  });
}
static LogicalResult foldRelu(Fold &fold) {
  return unary(fold, [](auto x) { return x != x || x > decltype(x)(0) ? x : decltype(x)(0); });
}
static LogicalResult foldFloor(Fold &fold) {
  return unaryReal(fold, [](auto x) { return std::floor(x); });
}
static LogicalResult foldCeil(Fold &fold) {
  return unaryReal(fold, [](auto x) { return std::ceil(x); });
}
static LogicalResult foldRound(Fold &fold) {
  return unaryReal(fold, [](auto x) { return std::nearbyint(x); });
}
static LogicalResult foldSqrt(Fold &fold) {
  return unaryReal(fold, [](auto x) { return std::sqrt(x); });
}
static LogicalResult foldReciprocal(Fold &fold) {
  return unaryReal(fold, [](auto x) { return decltype(x)(1) / x; });
}

/// Numbers to numbers. What an integer type cannot hold of a float is not defined and stays.
static LogicalResult foldCast(Fold &fold) {
  const Elements &x = fold.input(0);
  if (!fold.count(x.shape()) || computesIn(fold.kind()) == Computes::Not)
    return failure();
  Type to = fold.elementType();
  onnx::NarrowRounding narrow{fold.attribute("saturate", 1) != 0};
  if (auto powers = fold.op->getAttrOfType<StringAttr>("round_mode"))
    narrow.powers = powers.getValue();
  bool good = true;
  bool known = withComputeType(x.kind, [&](auto zero) {
    using C = decltype(zero);
    std::vector<C> numbers = readElements<C>(x);
    if constexpr (std::is_floating_point_v<C>) {
      if (to.isInteger() && !to.isInteger(1)) {
        unsigned width = to.getIntOrFloatBitWidth();
        bool isUnsigned = to.isUnsignedInteger();
        double least = isUnsigned ? -1.0 : -std::ldexp(1.0, width - 1);
        double end = std::ldexp(1.0, isUnsigned ? width : width - 1);
        for (C number : numbers)
          good &= (isUnsigned ? number > least : number >= least) && number < end;
      }
    }
    if (good)
      (void)fold.yield(x.shape(), writeElements<C>(fold.kind(), numbers, narrow));
  });
  return success(known && good);
}

static FoldRow elementwise(FoldFunction fold) { return {fold, /*isElementwise=*/true}; }

void registerElementwiseFolds(FoldRows &rows) {
  rows.add<onnx::AddOp>(elementwise(foldAdd));
  rows.add<onnx::SubOp>(elementwise(foldSub));
  rows.add<onnx::MulOp>(elementwise(foldMul));
  rows.add<onnx::DivOp>(elementwise(foldDiv));
  rows.add<onnx::ModOp>(elementwise(foldMod));
  rows.add<onnx::MaxOp>(elementwise(foldMax));
  rows.add<onnx::MinOp>(elementwise(foldMin));
  rows.add<onnx::AndOp, onnx::BitwiseAndOp>(elementwise(foldAnd));
  rows.add<onnx::OrOp, onnx::BitwiseOrOp>(elementwise(foldOr));
  rows.add<onnx::XorOp, onnx::BitwiseXorOp>(elementwise(foldXor));
  rows.add<onnx::EqualOp>(elementwise(foldEqual));
  rows.add<onnx::LessOp>(elementwise(foldLess));
  rows.add<onnx::LessOrEqualOp>(elementwise(foldLessOrEqual));
  rows.add<onnx::GreaterOp>(elementwise(foldGreater));
  rows.add<onnx::GreaterOrEqualOp>(elementwise(foldGreaterOrEqual));
  rows.add<onnx::NegOp>(elementwise(foldNeg));
  rows.add<onnx::AbsOp>(elementwise(foldAbs));
  rows.add<onnx::SignOp>(elementwise(foldSign));
  rows.add<onnx::NotOp>(elementwise(foldNot));
  rows.add<onnx::BitwiseNotOp>(elementwise(foldBitwiseNot));
  rows.add<onnx::ReluOp>(elementwise(foldRelu));
  rows.add<onnx::FloorOp>(elementwise(foldFloor));
  rows.add<onnx::CeilOp>(elementwise(foldCeil));
  rows.add<onnx::RoundOp>(elementwise(foldRound));
  rows.add<onnx::SqrtOp>(elementwise(foldSqrt));
  rows.add<onnx::ReciprocalOp>(elementwise(foldReciprocal));
  rows.add<onnx::CastOp>(elementwise(foldCast));
  rows.add<onnx::CastLikeOp>({foldCast}); // has an operand that its result does not broadcast with
}

} // namespace cameo
