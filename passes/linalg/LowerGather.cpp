// Operators whose elements are found by other elements or by their own place: Gather,
// GatherElements, GatherND, OneHot, EyeLike, Trilu.
//
//   onnx.Gather  ==>  linalg.generic whose body reads the index, then the element
//
// Constant indices are held against the size that they index. Others are moved into their range: no
// kernel reads outside of a tensor, whatever an input holds.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"
#include "passes/linalg/Indexing.h"

using namespace mlir;

namespace cameo {

/// Reports or checks that a dimension that is indexed has elements, if there are any indices.
static LogicalResult checkIndexed(Operation *op, Lowering &l, OpFoldResult size,
                                  const Sizes &results) {
  if (std::optional<int64_t> known = getConstantIntValue(size); known && *known > 0)
    return success();
  OpFoldResult none = l.plan.equal(l.plan.product(results), l.plan.index(0));
  return l.plan.check(op, l.plan.select(none, l.plan.index(1), l.plan.less(l.plan.index(0), size)),
                      "indices into a dimension of size {0}; it must be 1 or more", size);
}

/// Checks a few indices that are computed from sizes. What an input holds is not read for it: such
/// an input would have to be on the host.
static LogicalResult checkHostIndices(Operation *op, Lowering &l, OpFoldResult size,
                                      StringRef message, int64_t first, int64_t stride) {
  constexpr int64_t kMostChecked = 16;
  FailureOr<Sizes> indices = l.host.tryValues(op->getOperand(1), kMostChecked);
  if (failed(indices))
    return success();
  for (size_t i = first; i < indices->size(); i += stride) {
    OpFoldResult index = (*indices)[i];
    if (isa<Value>(index) && readsInput(cast<Value>(index)))
      continue;
    OpFoldResult low =
        l.plan.less(l.plan.sub(l.plan.sub(l.plan.index(0), size), l.plan.index(1)), index);
    if (failed(l.plan.check(op, l.plan.mul(low, l.plan.less(index, size)), message, index, size)))
      return failure();
  }
  return success();
}

/// Reports or checks that constant indices are in [-size, size). Of indices that are lists of
/// `stride` numbers, those at place `first` of their list.
static LogicalResult checkConstantIndices(Operation *op, Lowering &l, OpFoldResult size,
                                          int64_t first = 0, int64_t stride = 1) {
  std::optional<SmallVector<int64_t>> known =
      onnx::constantInts(op->getOperand(1), std::numeric_limits<int64_t>::max());
  StringRef message = "index {0} into a dimension of size {1}";
  if (!known)
    return checkHostIndices(op, l, size, message, first, stride);
  int64_t least = 0, greatest = -1;
  for (size_t i = first; i < known->size(); i += stride) {
    least = std::min(least, (*known)[i]);
    greatest = std::max(greatest, (*known)[i]);
  }
  if (greatest >= 0 && failed(l.plan.check(op, l.plan.less(l.plan.index(greatest), size), message,
                                           l.plan.index(greatest), size)))
    return failure();
  // -least may not be representable; -(least + 1) is.
  if (least < 0)
    return l.plan.check(op, l.plan.less(l.plan.index(-(least + 1)), size), message,
                        l.plan.index(least), size);
  return success();
}

//===-- Gather --------------------------------------------------------------------------------===//

static LogicalResult lowerGather(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0), indices = l.operand(op, 1);
  FailureOr<int64_t> axis = normalizedAxis(op, l, cast<onnx::GatherOp>(op).getAxis(), data.rank());
  if (failed(axis))
    return failure();
  Sizes sizes(data.sizes.begin(), data.sizes.begin() + *axis);
  llvm::append_range(sizes, indices.sizes);
  sizes.append(data.sizes.begin() + *axis + 1, data.sizes.end());
  OpFoldResult size = data.sizes[*axis];
  if (failed(checkIndexed(op, l, size, sizes)) || failed(checkConstantIndices(op, l, size)))
    return failure();
  // One constant index is no load.
  std::optional<SmallVector<int64_t>> known = onnx::constantInts(op->getOperand(1), 1);
  if (known && known->size() != 1)
    known.reset();
  Value result = l.build.compute(
      op->getLoc(), sizes, data.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        SmallVector<Value> source(at.take_front(*axis));
        Value index = known ? indexConstant(b, loc, (*known)[0])
                            : math.toIndex(math.element(indices, at.slice(*axis, indices.rank())),
                                           indices.elementType);
        source.push_back(math.wrapNegative(index, size));
        llvm::append_range(source, at.drop_front(*axis + indices.rank()));
        return math.element(data, source);
      });
  l.define(op, 0, result, sizes, data.elementType);
  return success();
}

static FailureOr<Sizes> hostGather(Operation *op, unsigned, Lowering &l) {
  FailureOr<HostArray> data = hostArray(op, 0, l), indices = hostArray(op, 1, l);
  if (failed(data) || failed(indices))
    return failure();
  std::optional<int64_t> axis =
      normalizedAxis(cast<onnx::GatherOp>(op).getAxis(), data->shape.size());
  if (!axis)
    return failure();
  SmallVector<int64_t> positions;
  for (OpFoldResult index : indices->values) {
    std::optional<int64_t> known = getConstantIntValue(index);
    std::optional<int64_t> position =
        known ? normalizedAxis(*known, data->shape[*axis]) : std::nullopt;
    if (!position)
      return failure();
    positions.push_back(*position);
  }
  ArrayRef<int64_t> from = data->shape;
  SmallVector<int64_t> shape(from.take_front(*axis));
  llvm::append_range(shape, indices->shape);
  llvm::append_range(shape, from.drop_front(*axis + 1));
  if (failed(hostShape(getAsIndexOpFoldResult(op->getContext(), shape))))
    return failure();
  size_t indexRank = indices->shape.size();
  return hostElements(shape, [&](ArrayRef<int64_t> at) {
    int64_t place = 0;
    for (size_t i = 0; i < indexRank; ++i)
      place = place * indices->shape[i] + at[*axis + i];
    SmallVector<int64_t> source(at.take_front(*axis));
    source.push_back(positions[place]);
    llvm::append_range(source, at.drop_front(*axis + indexRank));
    return data->at(source);
  });
}

static LogicalResult lowerGatherElements(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0), indices = l.operand(op, 1);
  FailureOr<int64_t> axis =
      normalizedAxis(op, l, cast<onnx::GatherElementsOp>(op).getAxis(), data.rank());
  if (failed(axis))
    return failure();
  if (indices.rank() != data.rank())
    return l.unsupported(op, "indices have rank " + Twine(indices.rank()) + ", the data rank " +
                                 Twine(data.rank()) + "; both need one rank");
  for (int64_t i = 0; i < data.rank(); ++i) {
    if (i == *axis || indices.sizes[i] == data.sizes[i])
      continue;
    OpFoldResult outside = l.plan.less(data.sizes[i], indices.sizes[i]);
    if (failed(
            l.plan.check(op, l.plan.equal(outside, l.plan.index(0)),
                         "indices have a size of {0}, the data of {1}; indices may not be larger",
                         indices.sizes[i], data.sizes[i])))
      return failure();
  }
  OpFoldResult size = data.sizes[*axis];
  if (failed(checkIndexed(op, l, size, indices.sizes)) || failed(checkConstantIndices(op, l, size)))
    return failure();
  Value result = l.build.compute(op->getLoc(), indices.sizes, data.elementType,
                                 [&](OpBuilder &b, Location loc, ValueRange at) {
                                   IndexMath math(b, loc);
                                   SmallVector<Value> source(at);
                                   Value index =
                                       math.toIndex(math.element(indices, at), indices.elementType);
                                   source[*axis] = math.wrapNegative(index, size);
                                   return math.element(data, source);
                                 });
  l.define(op, 0, result, indices.sizes, data.elementType);
  return success();
}

static LogicalResult lowerGatherND(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0), indices = l.operand(op, 1);
  int64_t batches = cast<onnx::GatherNDOp>(op).getBatchDims();
  if (indices.rank() == 0)
    return l.unsupported(op, "indices have rank 0; they need 1 or more");
  std::optional<int64_t> depth = getConstantIntValue(indices.sizes.back());
  if (!depth)
    return l.unsupported(op,
                         "the last size of indices is known only at run time; nearest supported: "
                         "a fixed last size");
  if (batches < 0 || batches >= indices.rank() || *depth < 1 || batches + *depth > data.rank())
    return l.unsupported(op, "batch_dims " + Twine(batches) + " and " + Twine(*depth) +
                                 " indices an element do not fit data of rank " +
                                 Twine(data.rank()) + " and indices of rank " +
                                 Twine(indices.rank()));
  for (int64_t i = 0; i < batches; ++i)
    if (failed(l.plan.check(op, l.plan.equal(data.sizes[i], indices.sizes[i]),
                            "batch sizes {0} and {1} of data and indices differ", data.sizes[i],
                            indices.sizes[i])))
      return failure();
  Sizes sizes(indices.sizes.begin(), indices.sizes.end() - 1);
  sizes.append(data.sizes.begin() + batches + *depth, data.sizes.end());
  for (int64_t i = 0; i < *depth; ++i)
    if (failed(checkIndexed(op, l, data.sizes[batches + i], sizes)) ||
        failed(checkConstantIndices(op, l, data.sizes[batches + i], i, *depth)))
      return failure();
  Value result = l.build.compute(
      op->getLoc(), sizes, data.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        SmallVector<Value> source(at.take_front(batches));
        for (int64_t i = 0; i < *depth; ++i) {
          SmallVector<Value> place(at.take_front(indices.rank() - 1));
          place.push_back(indexConstant(b, loc, i));
          Value index = math.toIndex(math.element(indices, place), indices.elementType);
          source.push_back(math.wrapNegative(index, data.sizes[batches + i]));
        }
        llvm::append_range(source, at.drop_front(indices.rank() - 1));
        return math.element(data, source);
      });
  l.define(op, 0, result, sizes, data.elementType);
  return success();
}

//===-- OneHot, EyeLike, Trilu ----------------------------------------------------------------===//

static LogicalResult lowerOneHot(Operation *op, Lowering &l) {
  Lowered indices = l.operand(op, 0), values = l.operand(op, 2);
  FailureOr<int64_t> axis =
      normalizedAxis(op, l, cast<onnx::OneHotOp>(op).getAxis(), indices.rank() + 1);
  if (failed(axis))
    return failure();
  if (values.rank() != 1 || !isConstantIntValue(values.sizes[0], 2))
    return l.unsupported(op, "values is " + onnx::typeText(op->getOperand(2).getType()) +
                                 "; it must hold two numbers");
  FailureOr<Sizes> given = l.host.values(op, 1);
  if (failed(given))
    return failure();
  if (given->size() != 1)
    return l.unsupported(op, "depth holds " + Twine(given->size()) + " numbers; it must hold one");
  OpFoldResult depth = (*given)[0];
  if (isa<FloatType>(Lowering::elementType(op->getOperand(1))))
    depth = l.plan.toInteger(depth);
  if (failed(l.plan.check(op, l.plan.less(l.plan.index(0), depth),
                          "depth is {0}; it must be 1 or more", depth)))
    return failure();
  Sizes sizes = indices.sizes;
  sizes.insert(sizes.begin() + *axis, depth);
  Value result = l.build.compute(
      op->getLoc(), sizes, values.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        SmallVector<Value> place(at.take_front(*axis));
        llvm::append_range(place, at.drop_front(*axis + 1));
        // Negative indices count from depth; those outside give "off" everywhere.
        Value integer = convertScalar(b, loc, math.element(indices, place), indices.elementType,
                                      b.getI64Type());
        auto wideOf = [&](Value index) {
          return b.create<arith::IndexCastOp>(loc, b.getI64Type(), index);
        };
        Value zero = scalarConstant(b, loc, b.getI64Type(), 0);
        Value negative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, integer, zero);
        Value counted = b.create<arith::AddIOp>(loc, integer, wideOf(math.of(depth)));
        integer = math.select(negative, counted, integer);
        Value hot =
            b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, integer, wideOf(at[*axis]));
        Value which = math.select(hot, indexConstant(b, loc, 1), indexConstant(b, loc, 0));
        return math.element(values, which);
      });
  l.define(op, 0, result, sizes, values.elementType);
  return success();
}

static LogicalResult lowerEyeLike(Operation *op, Lowering &l) {
  Lowered input = l.operand(op, 0);
  if (input.rank() != 2)
    return l.unsupported(op, "the input has rank " + Twine(input.rank()) + "; it must have 2");
  // Far beyond any size, k must still fit an index of 32 bits.
  constexpr int64_t kFar = int64_t(1) << 30;
  int64_t k = std::clamp<int64_t>(cast<onnx::EyeLikeOp>(op).getK(), -kFar, kFar);
  Type type = Lowering::elementType(op->getResult(0));
  Value result = l.build.compute(
      op->getLoc(), input.sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        Value diagonal =
            math.compare(arith::CmpIPredicate::eq, at[1], math.add(at[0], b.getIndexAttr(k)));
        Type plain = signless(type);
        return math.select(diagonal, scalarConstant(b, loc, plain, 1),
                           scalarConstant(b, loc, plain, 0));
      });
  l.define(op, 0, result, input.sizes, type);
  return success();
}

static LogicalResult lowerTrilu(Operation *op, Lowering &l) {
  Lowered input = l.operand(op, 0);
  int64_t rank = input.rank();
  if (rank < 2)
    return l.unsupported(op, "the input has rank " + Twine(rank) + "; it must have 2 or more");
  if (!l.absent(op, 1) && !llvm::all_of(l.operand(op, 1).sizes,
                                        [](OpFoldResult s) { return isConstantIntValue(s, 1); }))
    return l.unsupported(op, "k is " + onnx::typeText(op->getOperand(1).getType()) +
                                 "; it must hold one number");
  bool upper = cast<onnx::TriluOp>(op).getUpper() != 0;
  std::optional<int64_t> known = 0;
  if (!l.absent(op, 1))
    known = onnx::constantInt(op->getOperand(1));
  Type type = input.elementType;
  Value result = l.build.compute(
      op->getLoc(), input.sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        // Beyond the sizes k changes nothing; there it might not fit an index.
        Type wide = b.getI64Type();
        auto wideOf = [&](Value index) { return b.create<arith::IndexCastOp>(loc, wide, index); };
        Value shift;
        if (known) {
          shift = b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(*known));
        } else {
          Lowered k = l.operand(op, 1);
          shift = convertScalar(b, loc, math.only(k), k.elementType, wide);
        }
        Value rows = math.sub(indexConstant(b, loc, 0), input.sizes[rank - 2]);
        shift = b.create<arith::MaxSIOp>(loc, shift, wideOf(rows));
        shift = b.create<arith::MinSIOp>(loc, shift, wideOf(math.of(input.sizes[rank - 1])));
        shift = b.create<arith::IndexCastOp>(loc, b.getIndexType(), shift);
        Value diagonal = math.add(at[rank - 2], shift);
        Value kept = math.compare(upper ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle,
                                  at[rank - 1], diagonal);
        return math.choose(
            kept,
            [&](OpBuilder &inner, Location place) {
              return IndexMath(inner, place).element(input, at);
            },
            [&](OpBuilder &inner, Location place) {
              return scalarConstant(inner, place, signless(type), 0);
            });
      });
  l.define(op, 0, result, input.sizes, type);
  return success();
}

void registerGatherOperators(OperatorTable &table) {
  constexpr StringRef clamped = "indices read at run time are moved into range, not reported";
  table["Gather"] = {lowerGather, hostGather, clamped};
  table["GatherElements"] = {lowerGatherElements, nullptr, clamped};
  table["GatherND"] = {lowerGatherND, nullptr,
                       "last size of indices known at compile time; indices read at run time are "
                       "moved into range, not reported"};
  table["OneHot"] = {lowerOneHot, nullptr, "depth known on the host"};
  table["EyeLike"] = {lowerEyeLike};
  table["Trilu"] = {lowerTrilu};
}

} // namespace cameo
