// Shapes of Reshape, Flatten, Squeeze and Unsqueeze.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Reshapes.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/Layout.h"
#include "dialects/onnx/shape/ShapeRules.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

//===-- Numbers of elements -------------------------------------------------------------------===//

/// The product of `sizes` as factors: an integer, and those that are not known.
static int64_t factors(const SizeBuilder &s, ArrayRef<OpFoldResult> sizes, Sizes &open) {
  int64_t known = 1;
  Sizes pending(sizes);
  while (!pending.empty()) {
    OpFoldResult size = pending.pop_back_val();
    const SizeExpression *made = s.expression(size);
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      known *= *constant;
    else if (made && made->op == SizeOperation::Mul)
      llvm::append_range(pending, made->operands);
    else
      open.push_back(size);
  }
  return known;
}

SizeQuotient::SizeQuotient(SizeBuilder &s, ArrayRef<OpFoldResult> numerator,
                           ArrayRef<OpFoldResult> denominator)
    : s(s) {
  above = factors(s, numerator, aboveOpen);
  below = factors(s, denominator, belowOpen);
  for (size_t i = 0; i < belowOpen.size();) {
    auto *same = llvm::find(aboveOpen, belowOpen[i]);
    if (same == aboveOpen.end()) {
      ++i;
      continue;
    }
    aboveOpen.erase(same);
    belowOpen.erase(belowOpen.begin() + i);
  }
}

OpFoldResult SizeQuotient::product(int64_t known, ArrayRef<OpFoldResult> open) const {
  Sizes sizes(open);
  sizes.push_back(s.index(known));
  return s.product(sizes);
}

OpFoldResult SizeQuotient::value() const {
  bool divides = CAMEO_MUTANT(14, above % below == 0, true);
  int64_t divisor = divides ? 1 : below;
  OpFoldResult top = product(divides ? above / below : above, aboveOpen);
  OpFoldResult bottom = product(divisor, belowOpen);
  std::optional<int64_t> known = getConstantIntValue(bottom);
  return s.floorDiv(top, known && *known > 0 ? bottom : s.max(bottom, s.index(1)));
}

/// The result has as many elements as the input: a check where the counts may differ.
static FailureOr<Sizes> viewOf(SizeBuilder &s, Operation *op, const Sizes &x, const Sizes &sizes) {
  if (SizeQuotient(s, x, sizes).isOne())
    return sizes;
  OpFoldResult have = s.product(x), want = s.product(sizes);
  if (failed(s.check(op, s.equal(have, want), "{0} elements cannot take a shape of {1} elements",
                     have, want)))
    return failure();
  return sizes;
}

//===-- Reshape -------------------------------------------------------------------------------===//

namespace {
/// The shape that Reshape is given, while it is read.
struct WantedShape {
  Sizes sizes;                    // -1 where one is to be found
  Sizes others;                   // all but that one
  std::optional<size_t> inferred; // its position
  SmallVector<size_t> perhaps;    // positions of sizes read at run time, which may be -1
};
} // namespace

static FailureOr<WantedShape> wantedShape(SizeBuilder &s, Operation *op, const Sizes &x,
                                          const Sizes &shape) {
  bool copies = cast<ReshapeOp>(op).getAllowzero() == 0;
  WantedShape wanted;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool hasInput = i < x.size();
    std::optional<int64_t> known = getConstantIntValue(size);
    if (known && *known < -1)
      return s.refuse(op, "the shape has a size of " + Twine(*known) + "; sizes are -1, 0 or more");
    if (known && *known == -1) {
      if (wanted.inferred)
        return s.refuse(op, "the shape has -1 at " + Twine(*wanted.inferred) + " and at " +
                                Twine(i) + "; at most one size may be -1");
      wanted.inferred = i;
      wanted.sizes.push_back(s.index(-1));
      continue;
    }
    OpFoldResult own = size;
    if (known && *known == 0 && copies) {
      if (!hasInput)
        return s.refuse(op, "the shape has 0 at " + Twine(i) +
                                ", which stands for a size of an input of rank " + Twine(x.size()) +
                                "; nearest supported: allowzero = 1");
      own = x[i];
    } else if (s.readsInput(size)) {
      // May be a 0 or -1 that means something; what is computed from sizes is a size.
      if (CAMEO_MUTANT(16, copies && hasInput, false))
        own = s.select(s.equal(size, s.index(0)), x[i], size);
      wanted.perhaps.push_back(i);
    }
    wanted.sizes.push_back(own);
    wanted.others.push_back(own);
  }
  return wanted;
}

/// Before there is arithmetic on them: sizes read at run time are -1 or more, and at most one of
/// all is -1.
static LogicalResult checkRead(SizeBuilder &s, Operation *op, const WantedShape &wanted) {
  for (size_t i : wanted.perhaps)
    if (failed(s.check(op, s.less(s.index(-2), wanted.sizes[i]),
                       "the shape has a size of {0}; it must be 0 or more", wanted.sizes[i])))
      return failure();
  bool hasInferred = wanted.inferred.has_value();
  if (wanted.perhaps.size() + hasInferred < 2)
    return success();
  OpFoldResult count = s.index(hasInferred);
  for (size_t i : wanted.perhaps)
    count = s.add(count, s.equal(wanted.sizes[i], s.index(-1)));
  return s.check(op, s.less(count, s.index(2)),
                 "the shape has {0} sizes of -1; at most one size may be -1", count);
}

/// What takes the place of a -1 that was read at run time.
static void replaceRead(SizeBuilder &s, const Sizes &x, WantedShape &wanted) {
  // The product with -1 taken for 1.
  OpFoldResult product = s.index(1);
  for (OpFoldResult size : wanted.sizes)
    product = s.mul(product, s.select(s.equal(size, s.index(-1)), s.index(1), size));
  OpFoldResult found = s.floorDiv(s.product(x), s.max(product, s.index(1)));
  for (size_t i : wanted.perhaps)
    wanted.sizes[i] = s.select(s.equal(wanted.sizes[i], s.index(-1)), found, wanted.sizes[i]);
}

static FailureOr<Sizes> inferReshape(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  FailureOr<Sizes> shape = shapes.host.values(op, 1);
  if (failed(shape))
    return failure();
  FailureOr<WantedShape> wanted = wantedShape(s, op, x, *shape);
  if (failed(wanted) || failed(checkRead(s, op, *wanted)))
    return failure();
  if (wanted->inferred) {
    SizeQuotient quotient(s, x, wanted->others);
    if (quotient.isUndefined())
      return s.refuse(op, "the shape has -1 beside a size of 0, which leaves it open; nearest "
                          "supported: the size itself");
    wanted->sizes[*wanted->inferred] = quotient.value();
  } else if (!wanted->perhaps.empty()) {
    replaceRead(s, x, *wanted);
  }
  if (failed(checkGivenSizes(s, op, wanted->sizes)))
    return failure();
  return viewOf(s, op, x, wanted->sizes);
}

static FailureOr<Sizes> inferFlatten(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  ArrayRef<OpFoldResult> x = operands[0];
  int64_t rank = x.size(), given = cast<FlattenOp>(op).getAxis();
  if (op->hasAttr(kRowsAttr) && !normalizedAxis(given, rank))
    return s.refuse(op, outsideText(given, rank));
  int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis > rank)
    return s.refuse(op, "axis " + Twine(given) + " is outside [-" + Twine(rank) + ", " +
                            Twine(rank) + "]");
  return viewOf(s, op, operands[0], {s.product(x.take_front(axis)), s.product(x.drop_front(axis))});
}

//===-- Squeeze, Unsqueeze --------------------------------------------------------------------===//

/// Axes read at run time; the arithmetic on them grows with their square.
static constexpr int64_t kMostAxes = 32;

/// The dimensions of size 1, which Squeeze removes where it is given no axes.
static FailureOr<SmallVector<int64_t>> dimensionsOfOne(SizeBuilder &s, Operation *op,
                                                       const Sizes &x) {
  SmallVector<int64_t> axes;
  for (auto [i, size] : llvm::enumerate(x)) {
    if (!getConstantIntValue(size))
      return s.refuse(op, "no axes are given, and size " + Twine(i) +
                              " is known only at run time; nearest supported: axes given");
    if (isConstantIntValue(size, 1))
      axes.push_back(i);
  }
  return axes;
}

static FailureOr<Sizes> inferSqueeze(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  FailureOr<SmallVector<int64_t>> axes = failure();
  if (isAbsent(op, 1)) {
    axes = dimensionsOfOne(s, op, x);
  } else {
    FailureOr<Sizes> given = shapes.host.values(op, 1, kMostAxes);
    if (failed(given))
      return failure();
    std::optional<SmallVector<int64_t>> known = knownIntegers(*given);
    if (!known) {
      // Only sizes of 1 go away if the number of elements is to stay.
      FailureOr<Sizes> removed = amongAxes(s, op, *given, x.size());
      if (failed(removed))
        return failure();
      auto left = static_cast<int64_t>(x.size()) - static_cast<int64_t>(given->size());
      return viewOf(s, op, x, remainingSizes(s, x, *removed, left));
    }
    axes = normalizedAxes(s, op, *known, x.size());
  }
  if (failed(axes))
    return failure();
  Sizes sizes;
  for (auto [i, size] : llvm::enumerate(x)) {
    if (!llvm::is_contained(*axes, static_cast<int64_t>(i)))
      sizes.push_back(size);
    else if (failed(s.check(op, s.equal(size, s.index(1)),
                            "a size of {0} cannot be squeezed; only 1 can", size)))
      return failure();
  }
  return sizes;
}

/// Unsqueeze with axes known at run time.
static FailureOr<Sizes> unsqueezeOpen(SizeBuilder &s, Operation *op, const Sizes &x,
                                      const Sizes &axes) {
  FailureOr<Sizes> added = amongAxes(s, op, axes, x.size() + axes.size());
  if (failed(added))
    return failure();
  // As many sizes of the input come before as dimensions that are not added.
  Sizes sizes;
  OpFoldResult before = s.index(0);
  for (OpFoldResult isAdded : *added) {
    OpFoldResult size = s.index(1);
    for (auto [i, candidate] : llvm::enumerate(x))
      size = s.select(s.equal(before, s.index(i)), candidate, size);
    sizes.push_back(s.select(isAdded, s.index(1), size));
    before = s.add(before, s.sub(s.index(1), isAdded));
  }
  return sizes;
}

static FailureOr<Sizes> inferUnsqueeze(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  FailureOr<Sizes> given = shapes.host.values(op, 1, kMostAxes);
  if (failed(given))
    return failure();
  std::optional<SmallVector<int64_t>> known = knownIntegers(*given);
  if (!known)
    return unsqueezeOpen(s, op, x, *given);
  auto rank = static_cast<int64_t>(x.size() + given->size());
  FailureOr<SmallVector<int64_t>> axes = normalizedAxes(s, op, *known, rank);
  if (failed(axes))
    return failure();
  Sizes sizes;
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i)
    sizes.push_back(llvm::is_contained(*axes, i) ? s.index(1) : x[next++]);
  return sizes;
}

/// The same values in the same order.
static FailureOr<Sizes> hostSame(Shapes &shapes, Operation *op, unsigned) {
  return shapes.host.tryValues(op->getOperand(0));
}

void registerReshapeRules(ShapeRows &rows) {
  rows.add<ReshapeOp>(fromShapes<inferReshape>, hostSame);
  rows.add<FlattenOp>(fromSizes<inferFlatten>, hostSame);
  rows.add<SqueezeOp>(fromShapes<inferSqueeze>, hostSame);
  rows.add<UnsqueezeOp>(fromShapes<inferUnsqueeze>, hostSame);
}

} // namespace cameo::onnx
