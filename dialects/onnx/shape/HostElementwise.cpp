// Elementwise operators on small host values: the arithmetic of shapes.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/HostIntegers.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <cmath>

using namespace mlir;

namespace cameo::onnx {

namespace {

/// An element's computation; `type` is the first operand's element type.
struct HostElement {
  SizeBuilder &s;
  Operation *op;
  Type type;
  bool isFloat() const { return isa<FloatType>(type); }
  HostIntegers integers() const { return {s, op, type}; }
};

using HostFormula = FailureOr<OpFoldResult> (*)(const HostElement &e, ArrayRef<OpFoldResult> x);

} // namespace

static std::optional<double> knownReal(OpFoldResult value) {
  if (auto real = dyn_cast_if_present<FloatAttr>(dyn_cast<Attribute>(value)))
    return real.getValueAsDouble();
  return std::nullopt;
}

static Sizes shapeOf(Shapes &shapes, Operation *op, unsigned operand) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(operand).getType());
  if (!type || !type.hasStaticShape())
    return shapes.of(op, operand);
  Sizes sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(shapes.sizes.index(size));
  return sizes;
}

/// Values of each operand, as many as the result has. Operands are of one shape or of one element;
/// more general broadcasting does not occur among shapes.
static FailureOr<SmallVector<Sizes>> hostOperands(Shapes &shapes, Operation *op) {
  SmallVector<Sizes> operands;
  std::optional<Sizes> shape; // of what is not one element
  size_t count = 1;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (isAbsent(op, i))
      return failure();
    FailureOr<Sizes> values = shapes.host.tryValues(op->getOperand(i));
    if (failed(values))
      return failure();
    operands.push_back(*values);
    if (values->size() == 1)
      continue;
    Sizes own = shapeOf(shapes, op, i);
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
static FailureOr<Sizes> onHost(Shapes &shapes, Operation *op, unsigned result) {
  if (result != 0)
    return failure();
  FailureOr<SmallVector<Sizes>> operands = hostOperands(shapes, op);
  if (failed(operands))
    return failure();
  HostElement e{shapes.sizes, op, elementType(op->getOperand(0))};
  Type resultType = elementType(op->getResult(0));
  Sizes values;
  for (size_t i = 0; i < operands->front().size(); ++i) {
    SmallVector<OpFoldResult> x;
    for (const Sizes &operand : *operands)
      x.push_back(operand[i]);
    FailureOr<OpFoldResult> value = formula(e, x);
    if (failed(value))
      return failure();
    values.push_back(resultType.isF32() ? e.s.fround(*value) : *value);
  }
  return values;
}

//===-- Formulas ------------------------------------------------------------------------------===//

static FailureOr<OpFoldResult> add(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.isFloat() ? e.s.fadd(x[0], x[1]) : e.integers().add(x[0], x[1]);
}

static FailureOr<OpFoldResult> sub(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.isFloat() ? e.s.fsub(x[0], x[1]) : e.integers().sub(x[0], x[1]);
}

static FailureOr<OpFoldResult> mul(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.isFloat() ? e.s.fmul(x[0], x[1]) : e.integers().mul(x[0], x[1]);
}

static FailureOr<OpFoldResult> div(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (e.isFloat())
    return e.s.fdiv(x[0], x[1]);
  if (isConstantIntValue(x[1], 0))
    return failure();
  return e.integers().div(x[0], x[1]);
}

static FailureOr<OpFoldResult> mod(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (e.isFloat() || isConstantIntValue(x[1], 0))
    return failure();
  if (llvm::cast<ModOp>(e.op).getFmod())
    return e.integers().rem(x[0], x[1]);
  return e.integers().mod(x[0], x[1]);
}

static FailureOr<OpFoldResult> neg(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.isFloat() ? e.s.fsub(e.s.floating(-0.0), x[0]) : e.integers().negated(x[0]);
}

static FailureOr<OpFoldResult> abs(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (!e.isFloat())
    return e.integers().abs(x[0]);
  OpFoldResult zero = e.s.floating(0);
  return e.s.select(e.s.less(x[0], zero), e.s.fsub(zero, x[0]), x[0]);
}

static FailureOr<OpFoldResult> greatest(const HostElement &e, ArrayRef<OpFoldResult> x) {
  OpFoldResult result = x[0];
  for (OpFoldResult next : x.drop_front())
    result = e.isFloat() ? e.s.select(e.s.less(result, next), next, result)
                         : e.integers().max(result, next);
  return result;
}

static FailureOr<OpFoldResult> least(const HostElement &e, ArrayRef<OpFoldResult> x) {
  OpFoldResult result = x[0];
  for (OpFoldResult next : x.drop_front())
    result = e.isFloat() ? e.s.select(e.s.less(next, result), next, result)
                         : e.integers().min(result, next);
  return result;
}

static FailureOr<OpFoldResult> floorOf(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.s.ffloor(x[0]);
}

static FailureOr<OpFoldResult> ceilOf(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.s.fceil(x[0]);
}

static FailureOr<OpFoldResult> reciprocal(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.s.fdiv(e.s.floating(1), x[0]);
}

/// The plan has no square root: known values alone.
static FailureOr<OpFoldResult> root(const HostElement &e, ArrayRef<OpFoldResult> x) {
  std::optional<double> known = knownReal(x[0]);
  if (!known)
    return failure();
  return e.s.floating(std::sqrt(*known));
}

static FailureOr<OpFoldResult> equal(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.s.equal(x[0], x[1]);
}

static FailureOr<OpFoldResult> less(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.isFloat() ? e.s.less(x[0], x[1]) : e.integers().less(x[0], x[1]);
}

static FailureOr<OpFoldResult> greater(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return less(e, {x[1], x[0]});
}

/// Integers, whose order is total.
static FailureOr<OpFoldResult> lessOrEqual(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (e.isFloat())
    return failure();
  return e.s.sub(e.s.index(1), e.integers().less(x[1], x[0]));
}

static FailureOr<OpFoldResult> greaterOrEqual(const HostElement &e, ArrayRef<OpFoldResult> x) {
  if (e.isFloat())
    return failure();
  return e.s.sub(e.s.index(1), e.integers().less(x[0], x[1]));
}

static FailureOr<OpFoldResult> logicalNot(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.s.sub(e.s.index(1), x[0]);
}

static FailureOr<OpFoldResult> logicalAnd(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.s.min(x[0], x[1]);
}

static FailureOr<OpFoldResult> logicalOr(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.s.max(x[0], x[1]);
}

static FailureOr<OpFoldResult> where(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return e.s.select(x[0], x[1], x[2]);
}

static FailureOr<OpFoldResult> identity(const HostElement &, ArrayRef<OpFoldResult> x) {
  return x[0];
}

/// From the first operand's type to the result's.
static FailureOr<OpFoldResult> converted(const HostElement &e, OpFoldResult x) {
  Type to = elementType(e.op->getResult(0));
  bool toFloat = isa<FloatType>(to);
  if (!to.isIntOrFloat() || (toFloat && to.getIntOrFloatBitWidth() < 16))
    return failure(); // narrow floats are for the device to round to
  if (to.isInteger(1)) {
    if (e.type.isInteger(1))
      return x;
    OpFoldResult zero = e.isFloat() ? e.s.floating(0) : e.s.index(0);
    return e.s.sub(e.s.index(1), e.s.equal(x, zero));
  }
  if (toFloat) {
    OpFoldResult real = e.isFloat() ? x : e.integers().toFloat(x);
    return to.isF32() ? e.s.fround(real) : real;
  }
  HostIntegers integers(e.s, e.op, to);
  return e.isFloat() ? integers.fromFloat(x) : integers.fromInteger(x);
}

static FailureOr<OpFoldResult> castOf(const HostElement &e, ArrayRef<OpFoldResult> x) {
  return converted(e, x[0]);
}

/// CastLike takes nothing but the type from its second operand.
static FailureOr<Sizes> castLikeOnHost(Shapes &shapes, Operation *op, unsigned) {
  FailureOr<Sizes> values = shapes.host.tryValues(op->getOperand(0));
  if (failed(values))
    return failure();
  HostElement e{shapes.sizes, op, elementType(op->getOperand(0))};
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

void registerHostElementwise(OperatorRows<HostValueModel> &rows) {
  rows.add<AddOp>(onHost<add>);
  rows.add<SubOp>(onHost<sub>);
  rows.add<MulOp>(onHost<mul>);
  rows.add<DivOp>(onHost<div>);
  rows.add<ModOp>(onHost<mod>);
  rows.add<NegOp>(onHost<neg>);
  rows.add<AbsOp>(onHost<abs>);
  rows.add<MaxOp>(onHost<greatest>);
  rows.add<MinOp>(onHost<least>);
  rows.add<FloorOp>(onHost<floorOf>);
  rows.add<CeilOp>(onHost<ceilOf>);
  rows.add<ReciprocalOp>(onHost<reciprocal>);
  rows.add<SqrtOp>(onHost<root>);
  rows.add<EqualOp>(onHost<equal>);
  rows.add<LessOp>(onHost<less>);
  rows.add<LessOrEqualOp>(onHost<lessOrEqual>);
  rows.add<GreaterOp>(onHost<greater>);
  rows.add<GreaterOrEqualOp>(onHost<greaterOrEqual>);
  rows.add<NotOp>(onHost<logicalNot>);
  rows.add<AndOp>(onHost<logicalAnd>);
  rows.add<OrOp>(onHost<logicalOr>);
  rows.add<WhereOp>(onHost<where>);
  rows.add<IdentityOp>(onHost<identity>);
  rows.add<CastOp>(onHost<castOf>);
  rows.add<CastLikeOp>(castLikeOnHost);
}

} // namespace cameo::onnx
