// Widths of accesses.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Runs.h"

#include <numeric>

using namespace mlir;

namespace cameo {
namespace {

/// A distance in memory: a multiple of `divisor`, and that itself where it is exact.
struct Distance {
  int64_t divisor = 0;
  bool exact = true;

  void add(int64_t factor, const Distance &stride) {
    if (factor == 0)
      return;
    int64_t part = factor * stride.divisor;
    divisor = exact && stride.exact ? divisor + part : std::gcd(divisor, part);
    exact &= stride.exact;
  }
};

SmallVector<Distance> stridesOf(RankedTensorType type) {
  SmallVector<Distance> strides(type.getRank());
  Distance stride{1, true};
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    strides[dim] = stride;
    if (type.isDynamicDim(dim))
      stride.exact = false;
    else
      stride.divisor *= type.getDimSize(dim);
  }
  return strides;
}

/// The widest vector of at most `most` elements where indices are sums over loops.
int64_t linearVector(AffineMap map, RankedTensorType type, ArrayRef<unsigned> loops,
                     ArrayRef<int64_t> ranges, int64_t most) {
  SmallVector<Distance> strides = stridesOf(type), distances(ranges.size() + 1);
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    for (auto [loop, factor] : llvm::enumerate(*factorsOf(map, dim)))
      distances[loop].add(factor, strides[dim]);
  int64_t run = 1, others = distances.pop_back_val().divisor;
  for (unsigned loop : llvm::reverse(loops)) {
    if (ranges[loop] == 1)
      continue;
    if (ShapedType::isDynamic(ranges[loop]) || !distances[loop].exact ||
        distances[loop].divisor != run)
      break;
    run *= ranges[loop];
    distances[loop] = {};
  }
  for (auto [range, distance] : llvm::zip(ranges, distances))
    if (range != 1)
      others = std::gcd(others, distance.divisor);
  while (most > 1 && (run % most != 0 || others % most != 0))
    most /= 2;
  return most;
}

/// What an expression is along groups of neighbours along a loop.
struct Along {
  int64_t step;    // from one to the next
  int64_t divisor; // of the first
};

/// Nothing where it cannot be told. The groups are of `count`.
std::optional<Along> along(AffineExpr expr, unsigned loop, int64_t count) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Along{0, constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == loop ? Along{1, count} : Along{0, 1};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto left = along(binary.getLHS(), loop, count), right = along(binary.getRHS(), loop, count);
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return Along{left->step + right->step, std::gcd(left->divisor, right->divisor)};
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return std::nullopt;
  int64_t value = constant.getValue();
  if (expr.getKind() == AffineExprKind::Mul)
    return Along{left->step * value, left->divisor * value};
  // Groups do not straddle multiples of the divisor.
  bool within =
      left->step == 0 || (left->step == 1 && left->divisor % count == 0 && value % count == 0);
  if (!within || value <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return Along{0, left->step == 0 && left->divisor % value == 0 ? left->divisor / value : 1};
  if (expr.getKind() == AffineExprKind::Mod)
    return Along{left->step, std::gcd(left->divisor, value)};
  return std::nullopt;
}

bool isVector(AffineMap map, RankedTensorType type, unsigned loop, ArrayRef<Bound> bounds,
              int64_t count) {
  SmallVector<Distance> strides = stridesOf(type);
  Distance step;
  int64_t divisor = 0;
  for (auto [expr, stride] : llvm::zip(map.getResults(), strides)) {
    std::optional<Along> at = along(expr, loop, count);
    if (!at)
      return false;
    step.add(at->step, stride);
    divisor = std::gcd(divisor, at->divisor * stride.divisor);
  }
  return step.exact && step.divisor == 1 && divisor % count == 0 &&
         llvm::all_of(bounds, [&](const Bound &bound) {
           std::optional<Along> at = along(bound.at, loop, count);
           return at && (at->step == 0 ||
                         (at->step == 1 && at->divisor % count == 0 && bound.size % count == 0));
         });
}

} // namespace

int64_t vectorAlong(AffineMap map, RankedTensorType type, ArrayRef<unsigned> loops,
                    ArrayRef<int64_t> ranges, int64_t most, ArrayRef<Bound> bounds) {
  unsigned bits = type.getElementTypeBitWidth();
  int64_t vector = llvm::bit_floor<uint64_t>(std::min<int64_t>(bits == 1 ? 1 : 128 / bits, most));
  bool always = llvm::none_of(bounds, [&](const Bound &bound) {
    return llvm::any_of(loops, [&](unsigned loop) { return bound.at.isFunctionOfDim(loop); });
  });
  if (always && isLinear(map))
    return linearVector(map, type, loops, ranges, vector);
  // Along the innermost loop alone.
  for (unsigned loop : llvm::reverse(loops)) {
    if (ranges[loop] == 1)
      continue;
    while (vector > 1 && (ShapedType::isDynamic(ranges[loop]) || ranges[loop] % vector != 0 ||
                          !isVector(map, type, loop, bounds, vector)))
      vector /= 2;
    return vector;
  }
  return 1;
}

} // namespace cameo
