// Index arithmetic inside dispatches, and small tensors on the host.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Indexing.h"

using namespace mlir;

namespace cameo {

std::optional<int64_t> normalizedAxis(int64_t axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis >= rank)
    return std::nullopt;
  return axis;
}

std::string outsideText(int64_t axis, int64_t rank) {
  return "axis " + std::to_string(axis) + " is outside [-" + std::to_string(rank) + ", " +
         std::to_string(rank) + ")";
}

FailureOr<int64_t> normalizedAxis(Operation *op, Lowering &l, int64_t axis, int64_t rank) {
  if (std::optional<int64_t> normalized = normalizedAxis(axis, rank))
    return *normalized;
  return l.unsupported(op, outsideText(axis, rank));
}

FailureOr<SmallVector<int64_t>> normalizedAxes(Operation *op, Lowering &l, ArrayRef<int64_t> axes,
                                               int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes) {
    std::optional<int64_t> normalized = normalizedAxis(axis, rank);
    if (!normalized)
      return l.unsupported(op, outsideText(axis, rank));
    if (llvm::is_contained(result, *normalized))
      return l.unsupported(op, "axis " + Twine(axis) + " is given twice; each may be given once");
    result.push_back(*normalized);
  }
  return result;
}

FailureOr<Sizes> amongAxes(Operation *op, Lowering &l, ArrayRef<OpFoldResult> axes, int64_t rank) {
  Sizes among;
  OpFoldResult named = l.plan.index(0), given = l.plan.index(axes.size());
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult here = l.plan.index(0);
    for (OpFoldResult axis : axes)
      here = l.plan.max(here, l.plan.max(l.plan.equal(axis, l.plan.index(i)),
                                         l.plan.equal(axis, l.plan.index(i - rank))));
    among.push_back(here);
    named = l.plan.add(named, here);
  }
  if (failed(l.plan.check(op, l.plan.equal(named, given),
                          "the {1} axes name {0} dimensions of a tensor of rank " + Twine(rank) +
                              "; each must be in range and given once",
                          named, given)))
    return failure();
  return among;
}

LogicalResult checkAxes(Operation *op, Lowering &l, ArrayRef<OpFoldResult> axes, int64_t rank) {
  SmallVector<int64_t> known;
  for (OpFoldResult axis : axes)
    if (std::optional<int64_t> value = getConstantIntValue(axis))
      known.push_back(*value);
  if (failed(normalizedAxes(op, l, known, rank)))
    return failure();
  if (static_cast<int64_t>(axes.size()) > rank)
    return l.unsupported(op, Twine(axes.size()) + " axes of a tensor of rank " + Twine(rank));
  return known.size() == axes.size() ? success() : success(succeeded(amongAxes(op, l, axes, rank)));
}

bool readsInput(Value value) {
  SmallVector<Value> pending{value};
  llvm::DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<rt::ReadOp>(op))
      return true;
    llvm::append_range(pending, op->getOperands());
  }
  return false;
}

Sizes remainingSizes(Lowering &l, ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> removed,
                     int64_t count) {
  Sizes result;
  for (int64_t j = 0; j < count; ++j) {
    // The dimension with j remaining ones before it.
    OpFoldResult size = l.plan.index(1), before = l.plan.index(0);
    for (auto [candidate, gone] : llvm::zip(sizes, removed)) {
      OpFoldResult stays = l.plan.sub(l.plan.index(1), gone);
      OpFoldResult here = l.plan.mul(stays, l.plan.equal(before, l.plan.index(j)));
      size = l.plan.select(l.plan.equal(here, l.plan.index(1)), candidate, size);
      before = l.plan.add(before, stays);
    }
    result.push_back(size);
  }
  return result;
}

//===-- Host tensors --------------------------------------------------------------------------===//

OpFoldResult HostArray::at(ArrayRef<int64_t> indices) const {
  int64_t position = 0;
  for (auto [size, at] : llvm::zip_equal(shape, indices))
    position = position * size + at;
  return values[position];
}

FailureOr<SmallVector<int64_t>> hostShape(ArrayRef<OpFoldResult> sizes) {
  constexpr int64_t kLimit = 4096;
  SmallVector<int64_t> shape;
  int64_t count = 1;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known || *known < 0 || *known > kLimit)
      return failure();
    shape.push_back(*known);
    count *= *known;
    if (count > kLimit)
      return failure();
  }
  return shape;
}

FailureOr<HostArray> hostArray(Operation *op, unsigned operand, Lowering &l) {
  FailureOr<SmallVector<int64_t>> shape = hostShape(l.operand(op, operand).sizes);
  if (failed(shape))
    return failure();
  FailureOr<Sizes> values = l.host.tryValues(op->getOperand(operand));
  int64_t count = 1;
  for (int64_t size : *shape)
    count *= size;
  if (failed(values) || static_cast<int64_t>(values->size()) != count)
    return failure();
  return HostArray{*shape, *values};
}

Sizes hostElements(ArrayRef<int64_t> shape,
                   function_ref<OpFoldResult(ArrayRef<int64_t> indices)> element) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  Sizes result;
  SmallVector<int64_t> indices(shape.size());
  for (int64_t position = 0; position < count; ++position) {
    int64_t rest = position;
    for (size_t i = shape.size(); i-- > 0;) {
      indices[i] = rest % shape[i];
      rest /= shape[i];
    }
    result.push_back(element(indices));
  }
  return result;
}

//===-- Bodies --------------------------------------------------------------------------------===//

Value IndexMath::add(Value x, OpFoldResult y) {
  if (isConstantIntValue(y, 0))
    return x;
  return b.create<arith::AddIOp>(loc, x, of(y));
}

Value IndexMath::sub(Value x, OpFoldResult y) {
  if (isConstantIntValue(y, 0))
    return x;
  return b.create<arith::SubIOp>(loc, x, of(y));
}

Value IndexMath::mul(Value x, OpFoldResult y) {
  if (isConstantIntValue(y, 1))
    return x;
  return b.create<arith::MulIOp>(loc, x, of(y));
}

Value IndexMath::modulo(Value x, OpFoldResult y) {
  Value rest = b.create<arith::RemSIOp>(loc, x, of(y));
  return select(compare(arith::CmpIPredicate::slt, rest, b.getIndexAttr(0)), add(rest, y), rest);
}

Value IndexMath::clamp(Value x, OpFoldResult size) {
  Value last = sub(of(size), b.getIndexAttr(1));
  Value low = b.create<arith::MaxSIOp>(loc, x, indexConstant(b, loc, 0));
  return b.create<arith::MinSIOp>(loc, low, last);
}

Value IndexMath::wrapNegative(Value x, OpFoldResult size) {
  Value negative = compare(arith::CmpIPredicate::slt, x, b.getIndexAttr(0));
  return clamp(select(negative, add(x, size), x), size);
}

Value IndexMath::compare(arith::CmpIPredicate predicate, Value x, OpFoldResult y) {
  return b.create<arith::CmpIOp>(loc, predicate, x, of(y));
}

Value IndexMath::inside(Value x, OpFoldResult size) {
  return both(compare(arith::CmpIPredicate::sge, x, b.getIndexAttr(0)),
              compare(arith::CmpIPredicate::slt, x, size));
}

Value IndexMath::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return b.create<arith::AndIOp>(loc, x, y);
}

Value IndexMath::select(Value condition, Value x, Value y) {
  return b.create<arith::SelectOp>(loc, condition, x, y);
}

Value IndexMath::choose(Value condition, function_ref<Value(OpBuilder &, Location)> then,
                        function_ref<Value(OpBuilder &, Location)> otherwise) {
  auto branch = [](function_ref<Value(OpBuilder &, Location)> fn) {
    return [fn](OpBuilder &inner, Location at) { inner.create<scf::YieldOp>(at, fn(inner, at)); };
  };
  return b.create<scf::IfOp>(loc, condition, branch(then), branch(otherwise)).getResult(0);
}

Value IndexMath::only(const Lowered &tensor) {
  SmallVector<Value> zeros(tensor.rank());
  for (Value &zero : zeros)
    zero = indexConstant(b, loc, 0);
  return b.create<tensor::ExtractOp>(loc, tensor.tensor, zeros);
}

Value IndexMath::element(const Lowered &tensor, ValueRange indices) {
  return b.create<tensor::ExtractOp>(loc, tensor.tensor, indices);
}

Value IndexMath::toIndex(Value integer, Type onnxType) {
  if (Lowering::isUnsigned(onnxType))
    return b.create<arith::IndexCastUIOp>(loc, b.getIndexType(), integer);
  return b.create<arith::IndexCastOp>(loc, b.getIndexType(), integer);
}

} // namespace cameo
