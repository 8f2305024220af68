// Elementwise operators on small host values: the arithmetic of shapes.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Elementwise.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace cameo {

namespace {

/// An element's computation; `type` is the first operand's element type.
struct HostElement {
  Lowering &l;
  Operation *op;
  Type type;
  bool isFloat() const { return isa<FloatType>(type); }
};

using HostFormula = FailureOr<OpFoldResult> (*)(const HostElement &e, ArrayRef<OpFoldResult> x);

} // namespace

static std::optional<double> knownReal(OpFoldResult value) {
  if (auto real = dyn_cast_if_present<FloatAttr>(dyn_cast<Attribute>(value)))
    return real.getValueAsDouble();
  return std::nullopt;
}

static Sizes shapeOf(Operation *op, Lowering &l, unsigned operand) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(operand).getType());
  if (!type || !type.hasStaticShape())
    return l.operand(op, operand).sizes;
  Sizes sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(l.plan.index(size));
  return sizes;
}

/// Values of each operand, as many as the result has. Operands are of one shape or of one element;
/// more general broadcasting does not occur among shapes.
static FailureOr<SmallVector<Sizes>> hostOperands(Operation *op, Lowering &l) {
  SmallVector<Sizes> operands;
  std::optional<Sizes> shape; // of what is not one element
  size_t count = 1;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (onnx::isAbsent(op->getOperand(i)))
      return failure();
    FailureOr<Sizes> values = l.host.tryValues(op->getOperand(i));
    if (failed(values))
      return failure();
    operands.push_back(*values);
    if (values->size() == 1)
      continue;
    Sizes own = shapeOf(op, l, i);
    if (shape && *shape != own)
      return failure();
    shape = own;
    count = values->size();
  }
  for (Sizes &values : operands)
    if (values.size() == 1)
      values.assign(count, OpFoldResult(values[0]));
  return operands;
}

template <HostFormula formula>
static FailureOr<Sizes> onHost(Operation *op, unsigned result, Lowering &l) {
  if (result != 0)
    return failure();
  FailureOr<SmallVector<Sizes>> operands = hostOperands(op, l);
  if (failed(operands))
    return failure();
  HostElement e{l, op, Lowering::elementType(op->getOperand(0))};
  Type resultType = Lowering::elementType(op->getResult(0));
  Sizes values;
  for (size_t i = 0; i < operands->front().size(); ++i) {
    SmallVector<OpFoldResult> x;
    for (const Sizes &operand : *operands)
      x.push_back(operand[i]);
    FailureOr<OpFoldResult> value = formula(e, x);
    if (failed(value))
      return failure();
    values.push_back(resultType.isF32() ? l.plan.fround(*value) : *value);
  }
  return values;
}

//===-- Formulas ------------------------------------------------------------------------------===//

static FailureOr<OpFoldResult> add(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.isFloat() ? e.l.plan.fadd(x[0], x[1]) : e.l.plan.add(x[0], x[1]);
}

static FailureOr<OpFoldResult> sub(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.isFloat() ? e.l.plan.fsub(x[0], x[1]) : e.l.plan.sub(x[0], x[1]);
}

static FailureOr<OpFoldResult> mul(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.isFloat() ? e.l.plan.fmul(x[0], x[1]) : e.l.plan.mul(x[0], x[1]);
}

static FailureOr<OpFoldResult> div(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (e.isFloat())
    return e.l.plan.fdiv(x[0], x[1]);
  if (isConstantIntValue(x[1], 0))
    return failure();
  return e.l.plan.divTowardsZero(x[0], x[1]);
}

static FailureOr<OpFoldResult> mod(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (e.isFloat() || isConstantIntValue(x[1], 0))
    return failure();
  if (llvm::cast<onnx::ModOp>(e.op).getFmod())
    return e.l.plan.rem(x[0], x[1]);
  return e.l.plan.sub(x[0], e.l.plan.mul(e.l.plan.floorDiv(x[0], x[1]), x[1]));
}

static FailureOr<OpFoldResult> neg(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.isFloat() ? e.l.plan.fsub(e.l.plan.floating(-0.0), x[0])
                     : e.l.plan.sub(e.l.plan.index(0), x[0]);
}

static FailureOr<OpFoldResult> abs(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (!e.isFloat())
    return e.l.plan.max(x[0], e.l.plan.sub(e.l.plan.index(0), x[0]));
  OpFoldResult zero = e.l.plan.floating(0);
  return e.l.plan.select(e.l.plan.less(x[0], zero), e.l.plan.fsub(zero, x[0]), x[0]);
}

static FailureOr<OpFoldResult> greatest(const HostElement &e, ArrayRef<OpFoldResult> x) {
  OpFoldResult result = x[0];
  for (OpFoldResult next : x.drop_front())
    result = e.isFloat() ? e.l.plan.select(e.l.plan.less(result, next), next, result)
                         : e.l.plan.max(result, next);
  return result;
}

static FailureOr<OpFoldResult> least(const HostElement &e, ArrayRef<OpFoldResult> x) {
  OpFoldResult result = x[0];
  for (OpFoldResult next : x.drop_front())
    result = e.isFloat() ? e.l.plan.select(e.l.plan.less(next, result), next, result)
                         : e.l.plan.min(result, next);
  return result;
}

static FailureOr<OpFoldResult> floorOf(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.ffloor(x[0]);
}

static FailureOr<OpFoldResult> ceilOf(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.fceil(x[0]);
}

static FailureOr<OpFoldResult> reciprocal(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.fdiv(e.l.plan.floating(1), x[0]);
}

/// The plan has no square root: known values alone.
static FailureOr<OpFoldResult> root(const HostElement &e, ArrayRef<OpFoldResult> x) {
  std::optional<double> known = knownReal(x[0]);
  if (!known)
    return failure();
  return e.l.plan.floating(std::sqrt(*known));
}

static FailureOr<OpFoldResult> equal(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.equal(x[0], x[1]);
}

static FailureOr<OpFoldResult> less(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.less(x[0], x[1]);
}

static FailureOr<OpFoldResult> greater(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.less(x[1], x[0]);
}

/// Integers, whose order is total.
static FailureOr<OpFoldResult> lessOrEqual(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (e.isFloat())
    return failure();
  return e.l.plan.sub(e.l.plan.index(1), e.l.plan.less(x[1], x[0]));
}

static FailureOr<OpFoldResult> greaterOrEqual(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (e.isFloat())
    return failure();
  return e.l.plan.sub(e.l.plan.index(1), e.l.plan.less(x[0], x[1]));
}

static FailureOr<OpFoldResult> logicalNot(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.sub(e.l.plan.index(1), x[0]);
}

static FailureOr<OpFoldResult> logicalAnd(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.min(x[0], x[1]);
}

static FailureOr<OpFoldResult> logicalOr(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.max(x[0], x[1]);
}

static FailureOr<OpFoldResult> where(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.l.plan.select(x[0], x[1], x[2]);
}

static FailureOr<OpFoldResult> identity(const HostElement &, ArrayRef<OpFoldResult> x) {
  return x[0];
}

/// From the first operand's type to the result's. Integers that do not fit their type are left to
/// the device.
static FailureOr<OpFoldResult> converted(const HostElement &e, OpFoldResult x) {
  Type to = Lowering::elementType(e.op->getResult(0));
  bool toFloat = isa<FloatType>(to);
  if (to.isInteger(1)) {
    if (e.type.isInteger(1))
      return x;
    OpFoldResult zero = e.isFloat() ? e.l.plan.floating(0) : e.l.plan.index(0);
    return e.l.plan.sub(e.l.plan.index(1), e.l.plan.equal(x, zero));
  }
  if (toFloat)
    return e.isFloat() ? x : e.l.plan.toFloat(x);
  OpFoldResult integer = e.isFloat() ? e.l.plan.toInteger(x) : x;
  unsigned width = to.getIntOrFloatBitWidth();
  if (auto known = getConstantIntValue(integer); known && width < 64) {
    bool fits =
        Lowering::isUnsigned(to) ? llvm::isUIntN(width, *known) : llvm::isIntN(width, *known);
    if (!fits)
      return failure();
  }
  return integer;
}

static FailureOr<OpFoldResult> castOf(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return converted(e, x[0]);
}

/// CastLike takes nothing but the type from its second operand.
static FailureOr<Sizes> castLikeOnHost(Operation *op, unsigned, Lowering &l) {
  FailureOr<Sizes> values = l.host.tryValues(op->getOperand(0));
  if (failed(values))
    return failure();
  HostElement e{l, op, Lowering::elementType(op->getOperand(0))};
  Sizes results;
  for (OpFoldResult value : *values) {
    FailureOr<OpFoldResult> result = converted(e, value);
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  return results;
}

//===-- Table ---------------------------------------------------------------------------------===//

HostFunction hostElementwise(StringRef name) {
  return llvm::StringSwitch<HostFunction>(name)
      .Case("Add", onHost<add>)
      .Case("Sub", onHost<sub>)
      .Case("Mul", onHost<mul>)
      .Case("Div", onHost<div>)
      .Case("Mod", onHost<mod>)
      .Case("Neg", onHost<neg>)
      .Case("Abs", onHost<abs>)
      .Case("Max", onHost<greatest>)
      .Case("Min", onHost<least>)
      .Case("Floor", onHost<floorOf>)
      .Case("Ceil", onHost<ceilOf>)
      .Case("Reciprocal", onHost<reciprocal>)
      .Case("Sqrt", onHost<root>)
      .Case("Equal", onHost<equal>)
      .Case("Less", onHost<less>)
      .Case("LessOrEqual", onHost<lessOrEqual>)
      .Case("Greater", onHost<greater>)
      .Case("GreaterOrEqual", onHost<greaterOrEqual>)
      .Case("Not", onHost<logicalNot>)
      .Case("And", onHost<logicalAnd>)
      .Case("Or", onHost<logicalOr>)
      .Case("Where", onHost<where>)
      .Case("Identity", onHost<identity>)
      .Case("Cast", onHost<castOf>)
      .Case("CastLike", castLikeOnHost)
      .Default(nullptr);
}

} // namespace cameo
