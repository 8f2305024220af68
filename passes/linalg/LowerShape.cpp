// Shapes and constants: Shape, Size, Constant, ConstantOfShape, Range, and the operators that only
// change the shape (Reshape, Flatten, Squeeze, Unsqueeze).
//
//   onnx.Shape    ==>  rt.from_scalars of sizes
//   onnx.Reshape  ==>  rt.reshape, no device work
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/RefusalReport.h"

using namespace mlir;

namespace cameo {

//===-- Shape, Size ---------------------------------------------------------------------------===//

static FailureOr<Sizes> hostShapeOf(Operation *op, unsigned, Lowering &l) {
  auto shape = cast<onnx::ShapeOp>(op);
  Lowered data = l.operand(op, 0);
  int64_t rank = data.rank();
  auto bound = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = bound(shape.getStart());
  int64_t end = shape.getEnd() ? bound(*shape.getEnd()) : rank;
  Sizes result;
  for (int64_t i = start; i < end; ++i)
    result.push_back(data.sizes[i]);
  return result;
}

static LogicalResult lowerShape(Operation *op, Lowering &l) {
  FailureOr<Sizes> values = hostShapeOf(op, 0, l);
  Sizes sizes{l.plan.index(values->size())};
  Type type = Lowering::elementType(op->getResult(0));
  l.define(op, 0, l.build.fromHost(op->getLoc(), *values, sizes, type), sizes, type);
  return success();
}

static FailureOr<Sizes> hostSizeOf(Operation *op, unsigned, Lowering &l) {
  return Sizes{l.plan.product(l.operand(op, 0).sizes)};
}

static LogicalResult lowerSize(Operation *op, Lowering &l) {
  FailureOr<Sizes> values = hostSizeOf(op, 0, l);
  Type type = Lowering::elementType(op->getResult(0));
  l.define(op, 0, l.build.fromHost(op->getLoc(), *values, {}, type), {}, type);
  return success();
}

//===-- Constant, ConstantOfShape, Range ------------------------------------------------------===//

static LogicalResult lowerConstant(Operation *op, Lowering &l) {
  ElementsAttr value = cast<onnx::ConstantOp>(op).getValue();
  Sizes sizes;
  for (int64_t size : value.getShapedType().getShape())
    sizes.push_back(l.plan.index(size));
  l.define(op, 0, l.build.constant(op->getLoc(), value), sizes, value.getElementType());
  return success();
}

/// The one element of ConstantOfShape's attribute as bytes' worth of APInt or APFloat.
static TypedAttr fillValue(onnx::ConstantOfShapeOp op, Type type) {
  Type plain = signless(type);
  Builder b(op.getContext());
  auto value = op.getValueAttr();
  if (!value)
    return cast<TypedAttr>(b.getZeroAttr(plain));
  std::optional<onnx::ConstantBytes> bytes = onnx::constantBytes(value);
  unsigned width = plain.getIntOrFloatBitWidth(), stored = llvm::divideCeil(width, 8u);
  if (!bytes || bytes->get().size() < stored)
    return {};
  uint64_t raw = 0;
  std::memcpy(&raw, bytes->get().data(), stored);
  APInt bits = APInt(64, raw).trunc(std::min(64u, stored * 8));
  if (auto real = dyn_cast<FloatType>(plain))
    return b.getFloatAttr(real, APFloat(real.getFloatSemantics(), bits));
  if (width == 1)
    return b.getBoolAttr(raw != 0);
  return b.getIntegerAttr(plain, bits);
}

static LogicalResult lowerConstantOfShape(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.host.values(op, 0);
  if (failed(sizes))
    return failure();
  for (OpFoldResult size : *sizes)
    if (!l.plan.isNonNegative(size) &&
        failed(l.plan.check(op, l.plan.less(l.plan.index(-1), size),
                            "the shape has a size of {0}; it must be 0 or more", size)))
      return failure();
  Type type = Lowering::elementType(op->getResult(0));
  TypedAttr value = fillValue(cast<onnx::ConstantOfShapeOp>(op), type);
  if (!value)
    return l.unsupported(op,
                         "value holds no number of the result's type; it must hold exactly one");
  l.define(op, 0, l.build.fill(op->getLoc(), *sizes, type, value), *sizes, type);
  return success();
}

static FailureOr<Sizes> hostConstantOfShape(Operation *op, unsigned, Lowering &l) {
  FailureOr<Sizes> sizes = l.host.tryValues(op->getOperand(0));
  if (failed(sizes))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = hostShape(*sizes);
  Type type = Lowering::elementType(op->getResult(0));
  TypedAttr value = fillValue(cast<onnx::ConstantOfShapeOp>(op), type);
  if (failed(shape) || !value)
    return failure();
  OpFoldResult element;
  if (auto real = dyn_cast<FloatAttr>(value))
    element = l.plan.floating(real.getValueAsDouble());
  else if (Lowering::isUnsigned(type) || type.isInteger(1))
    element = l.plan.index(cast<IntegerAttr>(value).getValue().getZExtValue());
  else
    element = l.plan.index(cast<IntegerAttr>(value).getValue().getSExtValue());
  return hostElements(*shape, [&](ArrayRef<int64_t>) { return element; });
}

/// Number of elements of a Range from its host values; reports where a check fails.
static FailureOr<OpFoldResult> rangeCount(Operation *op, Lowering &l, OpFoldResult start,
                                          OpFoldResult limit, OpFoldResult delta) {
  bool real = isa<FloatType>(Lowering::elementType(op->getResult(0)));
  OpFoldResult zero = real ? l.plan.floating(0) : l.plan.index(0);
  OpFoldResult isZero = l.plan.equal(delta, zero);
  if (failed(l.plan.check(op, l.plan.equal(isZero, l.plan.index(0)), "delta is 0; it must not be")))
    return failure();
  if (!real) {
    OpFoldResult divisor = l.plan.select(isZero, l.plan.index(1), delta);
    return l.plan.atLeastZero(l.plan.ceilDiv(l.plan.sub(limit, start), divisor));
  }
  OpFoldResult divisor = l.plan.select(isZero, l.plan.floating(1), delta);
  return l.plan.atLeastZero(
      l.plan.toInteger(l.plan.fceil(l.plan.fdiv(l.plan.fsub(limit, start), divisor))));
}

static LogicalResult lowerRange(Operation *op, Lowering &l) {
  Sizes ends;
  for (unsigned i = 0; i < 3; ++i) {
    FailureOr<Sizes> value = l.host.values(op, i);
    if (failed(value))
      return failure();
    if (value->size() != 1)
      return l.unsupported(op, inputText(op, i) + " holds " + Twine(value->size()) +
                                   " numbers; it must hold one");
    ends.push_back((*value)[0]);
  }
  FailureOr<OpFoldResult> count = rangeCount(op, l, ends[0], ends[1], ends[2]);
  if (failed(count))
    return failure();
  Type type = Lowering::elementType(op->getResult(0));
  Lowered start = l.operand(op, 0), delta = l.operand(op, 2);
  Sizes sizes{*count};
  Value range = l.build.compute(
      op->getLoc(), sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        IndexMath math(b, loc);
        Type sumType = accumulatorType(signless(type));
        Value from = convertScalar(b, loc, math.only(start), type, sumType);
        Value step = convertScalar(b, loc, math.only(delta), type, sumType);
        Type wide = b.getI64Type();
        Value position = b.create<arith::IndexCastOp>(loc, wide, at[0]);
        position = convertScalar(b, loc, position, wide, sumType);
        if (!isa<FloatType>(sumType))
          return b.create<arith::AddIOp>(loc, from, b.create<arith::MulIOp>(loc, position, step));
        Value element =
            b.create<arith::AddFOp>(loc, from, b.create<arith::MulFOp>(loc, position, step));
        return convertScalar(b, loc, element, sumType, type);
      });
  l.define(op, 0, range, sizes, type);
  return success();
}

static FailureOr<Sizes> hostRange(Operation *op, unsigned, Lowering &l) {
  if (isa<FloatType>(Lowering::elementType(op->getResult(0))))
    return failure();
  SmallVector<int64_t> ends;
  for (unsigned i = 0; i < 3; ++i) {
    FailureOr<Sizes> value = l.host.tryValues(op->getOperand(i));
    std::optional<int64_t> known;
    if (succeeded(value) && value->size() == 1)
      known = getConstantIntValue((*value)[0]);
    if (!known)
      return failure();
    ends.push_back(*known);
  }
  int64_t start = ends[0], limit = ends[1], delta = ends[2];
  if (delta == 0)
    return failure();
  Sizes result;
  for (int64_t at = start; delta > 0 ? at < limit : at > limit; at += delta) {
    if (result.size() >= 4096)
      return failure();
    result.push_back(l.plan.index(at));
  }
  return result;
}

//===-- Reshape -------------------------------------------------------------------------------===//

/// The product of `sizes` as factors: an integer, and values that are not known.
static int64_t factors(ArrayRef<OpFoldResult> sizes, SmallVector<Value> &unknown) {
  int64_t known = 1;
  SmallVector<OpFoldResult> pending(sizes);
  while (!pending.empty()) {
    OpFoldResult size = pending.pop_back_val();
    if (std::optional<int64_t> constant = getConstantIntValue(size)) {
      known *= *constant;
      continue;
    }
    auto value = cast<Value>(size);
    if (auto product = value.getDefiningOp<arith::MulIOp>()) {
      pending.push_back(product.getLhs());
      pending.push_back(product.getRhs());
    } else {
      unknown.push_back(value);
    }
  }
  return known;
}

/// Two products without the factors that both have.
struct Quotient {
  int64_t above, below;
  SmallVector<Value> aboveUnknown, belowUnknown;

  Quotient(ArrayRef<OpFoldResult> numerator, ArrayRef<OpFoldResult> denominator) {
    above = factors(numerator, aboveUnknown);
    below = factors(denominator, belowUnknown);
    for (size_t i = 0; i < belowUnknown.size();) {
      auto *same = llvm::find(aboveUnknown, belowUnknown[i]);
      if (same == aboveUnknown.end()) {
        ++i;
        continue;
      }
      aboveUnknown.erase(same);
      belowUnknown.erase(belowUnknown.begin() + i);
    }
  }

  bool isOne() const { return above == below && aboveUnknown.empty() && belowUnknown.empty(); }

  OpFoldResult product(Lowering &l, int64_t known, ArrayRef<Value> unknown) const {
    Sizes sizes(unknown.begin(), unknown.end());
    sizes.push_back(l.plan.index(known));
    return l.plan.product(sizes);
  }

  /// Only for below != 0.
  OpFoldResult divided(Lowering &l) const {
    if (above % below == 0 || belowUnknown.empty()) {
      int64_t divisor = above % below == 0 ? 1 : below;
      OpFoldResult top = product(l, divisor == 1 ? above / below : above, aboveUnknown);
      OpFoldResult bottom = product(l, divisor, belowUnknown);
      // A divisor of 0 goes with no elements at all.
      return l.plan.floorDiv(top,
                             knownPositive(bottom) ? bottom : l.plan.max(bottom, l.plan.index(1)));
    }
    OpFoldResult bottom = l.plan.max(product(l, below, belowUnknown), l.plan.index(1));
    return l.plan.floorDiv(product(l, above, aboveUnknown), bottom);
  }

  static bool knownPositive(OpFoldResult value) {
    std::optional<int64_t> known = getConstantIntValue(value);
    return known && *known > 0;
  }
};

/// Defines the result as a view under `sizes`; a check where the counts may differ.
static LogicalResult defineView(Operation *op, Lowering &l, const Lowered &data,
                                const Sizes &sizes) {
  if (!Quotient(data.sizes, sizes).isOne()) {
    OpFoldResult have = l.plan.product(data.sizes), want = l.plan.product(sizes);
    if (failed(l.plan.check(op, l.plan.equal(have, want),
                            "{0} elements cannot take a shape of {1} elements", have, want)))
      return failure();
  }
  l.define(op, 0, l.build.reshape(op->getLoc(), data, sizes));
  return success();
}

/// At most one size is -1, those read at run time included.
static LogicalResult checkInferred(Operation *op, Lowering &l, const Sizes &sizes,
                                   ArrayRef<size_t> perhapsInferred, bool hasInferred) {
  if (perhapsInferred.size() + hasInferred < 2)
    return success();
  OpFoldResult count = l.plan.index(hasInferred);
  for (size_t i : perhapsInferred)
    count = l.plan.add(count, l.plan.equal(sizes[i], l.plan.index(-1)));
  return l.plan.check(op, l.plan.less(count, l.plan.index(2)),
                      "the shape has {0} sizes of -1; at most one size may be -1", count);
}

static LogicalResult lowerReshape(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  FailureOr<Sizes> shape = l.host.values(op, 1);
  if (failed(shape))
    return failure();
  bool copies = cast<onnx::ReshapeOp>(op).getAllowzero() == 0;
  Sizes sizes;
  Sizes others;                        // all but the one to be found
  std::optional<size_t> inferred;      // its position
  SmallVector<size_t> perhapsInferred; // read at run time
  for (auto [i, size] : llvm::enumerate(*shape)) {
    bool hasInput = static_cast<int64_t>(i) < data.rank();
    std::optional<int64_t> known = getConstantIntValue(size);
    if (known && *known < -1)
      return l.unsupported(op, "the shape has a size of " + Twine(*known) +
                                   "; sizes are -1, 0 or more");
    if (known && *known == -1) {
      if (inferred)
        return l.unsupported(op, "the shape has -1 at " + Twine(*inferred) + " and at " + Twine(i) +
                                     "; at most one size may be -1");
      inferred = i;
      sizes.push_back(l.plan.index(-1));
      continue;
    }
    if (known && *known == 0 && copies) {
      if (!hasInput)
        return l.unsupported(op, "the shape has 0 at " + Twine(i) +
                                     ", which stands for a size of an input of rank " +
                                     Twine(data.rank()) + "; nearest supported: allowzero = 1");
      size = data.sizes[i];
    } else if (!known && readsInput(cast<Value>(size))) {
      // May be a 0 or -1 that means something; what is computed from sizes is a size.
      if (copies && hasInput)
        size = l.plan.select(l.plan.equal(size, l.plan.index(0)), data.sizes[i], size);
      perhapsInferred.push_back(i);
    }
    sizes.push_back(size);
    others.push_back(size);
  }
  // Before there is arithmetic on them.
  for (size_t i : perhapsInferred)
    if (failed(l.plan.check(op, l.plan.less(l.plan.index(-2), sizes[i]),
                            "the shape has a size of {0}; it must be 0 or more", sizes[i])))
      return failure();
  if (failed(checkInferred(op, l, sizes, perhapsInferred, inferred.has_value())))
    return failure();
  if (inferred) {
    Quotient quotient(data.sizes, others);
    if (quotient.below == 0)
      return l.unsupported(op, "the shape has -1 beside a size of 0, which leaves it open; nearest "
                               "supported: the size itself");
    sizes[*inferred] = quotient.divided(l);
  } else if (!perhapsInferred.empty()) {
    // The product with -1 taken for 1.
    OpFoldResult product = l.plan.index(1);
    for (OpFoldResult size : sizes)
      product = l.plan.mul(
          product, l.plan.select(l.plan.equal(size, l.plan.index(-1)), l.plan.index(1), size));
    OpFoldResult found =
        l.plan.floorDiv(l.plan.product(data.sizes), l.plan.max(product, l.plan.index(1)));
    for (size_t i : perhapsInferred)
      sizes[i] = l.plan.select(l.plan.equal(sizes[i], l.plan.index(-1)), found, sizes[i]);
  }
  for (OpFoldResult size : sizes)
    if (!l.plan.isNonNegative(size) &&
        failed(l.plan.check(op, l.plan.less(l.plan.index(-1), size),
                            "the shape has a size of {0}; it must be 0 or more", size)))
      return failure();
  return defineView(op, l, data, sizes);
}

static LogicalResult lowerFlatten(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  int64_t given = cast<onnx::FlattenOp>(op).getAxis();
  if (op->hasAttr(onnx::kRowsAttr) && !normalizedAxis(given, data.rank()))
    return l.unsupported(op, outsideText(given, data.rank()));
  int64_t axis = given < 0 ? given + data.rank() : given;
  if (axis < 0 || axis > data.rank())
    return l.unsupported(op, "axis " + Twine(given) + " is outside [-" + Twine(data.rank()) + ", " +
                                 Twine(data.rank()) + "]");
  ArrayRef<OpFoldResult> sizes = data.sizes;
  return defineView(
      op, l, data,
      {l.plan.product(sizes.take_front(axis)), l.plan.product(sizes.drop_front(axis))});
}

/// Axes read at run time; the arithmetic on them grows with their square.
static constexpr int64_t kMostAxes = 32;

/// Whether all axes are known, so that no arithmetic is needed to find the result's sizes.
static std::optional<SmallVector<int64_t>> knownAxes(ArrayRef<OpFoldResult> axes) {
  SmallVector<int64_t> result;
  for (OpFoldResult axis : axes) {
    std::optional<int64_t> known = getConstantIntValue(axis);
    if (!known)
      return std::nullopt;
    result.push_back(*known);
  }
  return result;
}

/// Only sizes of 1 go away if the number of elements is to stay.
static LogicalResult squeezeAtRunTime(Operation *op, Lowering &l, const Lowered &data,
                                      const Sizes &axes) {
  FailureOr<Sizes> removed = amongAxes(op, l, axes, data.rank());
  if (failed(removed))
    return failure();
  return defineView(op, l, data,
                    remainingSizes(l, data.sizes, *removed, data.rank() - axes.size()));
}

static LogicalResult lowerSqueeze(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  SmallVector<int64_t> axes;
  if (l.absent(op, 1)) {
    for (auto [i, size] : llvm::enumerate(data.sizes)) {
      if (!isa<Attribute>(size))
        return l.unsupported(op, "no axes are given, and size " + Twine(i) +
                                     " is known only at run time; nearest supported: axes given");
      if (isConstantIntValue(size, 1))
        axes.push_back(i);
    }
  } else {
    FailureOr<Sizes> given = l.host.values(op, 1, kMostAxes);
    if (failed(given))
      return failure();
    std::optional<SmallVector<int64_t>> known = knownAxes(*given);
    if (!known)
      return squeezeAtRunTime(op, l, data, *given);
    FailureOr<SmallVector<int64_t>> normalized = normalizedAxes(op, l, *known, data.rank());
    if (failed(normalized))
      return failure();
    axes = *normalized;
  }
  Sizes sizes;
  for (auto [i, size] : llvm::enumerate(data.sizes)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      sizes.push_back(size);
    else if (failed(l.plan.check(op, l.plan.equal(size, l.plan.index(1)),
                                 "a size of {0} cannot be squeezed; only 1 can", size)))
      return failure();
  }
  l.define(op, 0, l.build.reshape(op->getLoc(), data, sizes));
  return success();
}

static LogicalResult lowerUnsqueeze(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  FailureOr<Sizes> given = l.host.values(op, 1, kMostAxes);
  if (failed(given))
    return failure();
  int64_t rank = data.rank() + given->size();
  Sizes sizes;
  std::optional<SmallVector<int64_t>> known = knownAxes(*given);
  if (!known) {
    FailureOr<Sizes> added = amongAxes(op, l, *given, rank);
    if (failed(added))
      return failure();
    // As many sizes of the input come before as dimensions that are not added.
    OpFoldResult before = l.plan.index(0);
    for (OpFoldResult isAdded : *added) {
      OpFoldResult size = l.plan.index(1);
      for (auto [i, candidate] : llvm::enumerate(data.sizes))
        size = l.plan.select(l.plan.equal(before, l.plan.index(i)), candidate, size);
      sizes.push_back(l.plan.select(isAdded, l.plan.index(1), size));
      before = l.plan.add(before, l.plan.sub(l.plan.index(1), isAdded));
    }
    l.define(op, 0, l.build.reshape(op->getLoc(), data, sizes));
    return success();
  }
  FailureOr<SmallVector<int64_t>> axes = normalizedAxes(op, l, *known, rank);
  if (failed(axes))
    return failure();
  int64_t next = 0;
  for (int64_t i = 0; i < rank; ++i)
    sizes.push_back(llvm::is_contained(*axes, i) ? l.plan.index(1) : data.sizes[next++]);
  l.define(op, 0, l.build.reshape(op->getLoc(), data, sizes));
  return success();
}

/// The same values in the same order.
static FailureOr<Sizes> hostSame(Operation *op, unsigned, Lowering &l) {
  return l.host.tryValues(op->getOperand(0));
}

void registerShapeOperators(OperatorTable &table) {
  table["Shape"] = {lowerShape, hostShapeOf};
  table["Size"] = {lowerSize, hostSizeOf};
  table["Constant"] = {lowerConstant};
  table["ConstantOfShape"] = {lowerConstantOfShape, hostConstantOfShape, "shape known on the host"};
  table["Range"] = {lowerRange, hostRange, "operands known on the host"};
  table["Reshape"] = {lowerReshape, hostSame, "shape known on the host"};
  table["Flatten"] = {lowerFlatten, hostSame};
  table["Squeeze"] = {lowerSqueeze, hostSame, "axes known on the host"};
  table["Unsqueeze"] = {lowerUnsqueeze, hostSame, "axes known on the host"};
}

} // namespace cameo
