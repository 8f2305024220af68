// Shapes of operators whose elements are found by other elements or by their own place: Gather,
// GatherElements, GatherND, ScatterElements, ScatterND, TensorScatter, ReverseSequence, OneHot, EyeLike, Trilu.
//
// Indices and lengths that are known are held against the size that they are of.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

//===-- Indices -------------------------------------------------------------------------------===//

static constexpr StringLiteral kOutside = "index {0} into a dimension of size {1}";

/// Checks a few indices that are computed from sizes, of those at place `first` of lists of
/// `stride` numbers. What an input holds is not read for it: such an input would have to be on the
/// host.
static LogicalResult checkHostIndices(Shapes &shapes, Operation *op, OpFoldResult size,
                                      int64_t first, int64_t stride) {
  constexpr int64_t kMostChecked = 16;
  SizeBuilder &s = shapes.sizes;
  FailureOr<Sizes> indices = shapes.host.tryValues(op->getOperand(1), kMostChecked);
  if (failed(indices))
    return success();
  for (size_t i = first; i < indices->size(); i += stride) {
    OpFoldResult index = (*indices)[i];
    if (s.readsInput(index))
      continue;
    OpFoldResult low = s.less(s.sub(s.sub(s.index(0), size), s.index(1)), index);
    if (failed(s.check(op, s.mul(low, s.less(index, size)), kOutside, index, size)))
      return failure();
  }
  return success();
}

/// Refuses or checks constant indices that are outside of [-size, size).
static LogicalResult checkConstantIndices(Shapes &shapes, Operation *op, OpFoldResult size,
                                          int64_t first, int64_t stride) {
  std::optional<SmallVector<int64_t>> known =
      constantInts(op->getOperand(1), std::numeric_limits<int64_t>::max());
  if (!known)
    return checkHostIndices(shapes, op, size, first, stride);
  SizeBuilder &s = shapes.sizes;
  int64_t least = 0, greatest = -1;
  for (size_t i = first; i < known->size(); i += stride) {
    least = std::min(least, (*known)[i]);
    greatest = std::max(greatest, (*known)[i]);
  }
  if (greatest >= 0 &&
      failed(s.check(op, s.less(s.index(greatest), size), kOutside, s.index(greatest), size)))
    return failure();
  // -least may not be representable; -(least + 1) is.
  if (least < 0)
    return s.check(op, s.less(s.index(-(least + 1)), size), kOutside, s.index(least), size);
  return success();
}

/// Refuses or checks indices into a dimension of `size`, of which the results have some: it must
/// have elements, and those that are known must be among them.
static LogicalResult checkIndices(Shapes &shapes, Operation *op, OpFoldResult size,
                                  const Sizes &results, int64_t first = 0, int64_t stride = 1) {
  SizeBuilder &s = shapes.sizes;
  if (std::optional<int64_t> known = getConstantIntValue(size); !known || *known <= 0) {
    OpFoldResult none = s.equal(s.product(results), s.index(0));
    if (failed(s.check(op, s.select(none, s.index(1), s.less(s.index(0), size)),
                       "indices into a dimension of size {0}; it must be 1 or more", size)))
      return failure();
  }
  return checkConstantIndices(shapes, op, size, first, stride);
}

//===-- Gather* -------------------------------------------------------------------------------===//

static FailureOr<Sizes> inferGather(Shapes &shapes, Operation *op) {
  Sizes data = shapes.of(op, 0), indices = shapes.of(op, 1);
  FailureOr<int64_t> axis =
      normalizedAxis(shapes.sizes, op, cast<GatherOp>(op).getAxis(), data.size());
  if (failed(axis))
    return failure();
  Sizes result(data.begin(), data.begin() + *axis);
  llvm::append_range(result, indices);
  result.append(data.begin() + *axis + 1, data.end());
  if (failed(checkIndices(shapes, op, data[*axis], result)))
    return failure();
  return result;
}

static FailureOr<Sizes> hostGather(Shapes &shapes, Operation *op, unsigned) {
  FailureOr<HostArray> data = hostArray(shapes, op, 0), indices = hostArray(shapes, op, 1);
  if (failed(data) || failed(indices))
    return failure();
  std::optional<int64_t> axis = normalizedAxis(cast<GatherOp>(op).getAxis(), data->shape.size());
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

/// Refuses or checks indices along `axis` that are not of the data's rank, or beyond its other sizes.
static LogicalResult checkIndexSizes(SizeBuilder &s, Operation *op, const Sizes &data,
                                     const Sizes &indices, int64_t axis) {
  if (indices.size() != data.size())
    return s.refuse(op, "indices have rank " + Twine(indices.size()) + ", the data rank " +
                            Twine(data.size()) + "; both need one rank");
  for (auto [i, size] : llvm::enumerate(data)) {
    if (static_cast<int64_t>(i) == axis || indices[i] == size)
      continue;
    OpFoldResult outside = s.less(size, indices[i]);
    if (failed(s.check(op, s.equal(outside, s.index(0)),
                       "indices have a size of {0}, the data of {1}; indices may not be larger",
                       indices[i], size)))
      return failure();
  }
  return success();
}

static FailureOr<Sizes> inferGatherElements(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes data = shapes.of(op, 0), indices = shapes.of(op, 1);
  FailureOr<int64_t> axis =
      normalizedAxis(s, op, cast<GatherElementsOp>(op).getAxis(), data.size());
  if (failed(axis) || failed(checkIndexSizes(s, op, data, indices, *axis)) ||
      failed(checkIndices(shapes, op, data[*axis], indices)))
    return failure();
  return indices;
}

static FailureOr<Sizes> inferGatherND(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes data = shapes.of(op, 0), indices = shapes.of(op, 1);
  int64_t batches = cast<GatherNDOp>(op).getBatchDims();
  int64_t rank = indices.size(), dataRank = data.size();
  if (rank == 0)
    return s.refuse(op, "indices have rank 0; they need 1 or more");
  std::optional<int64_t> depth = getConstantIntValue(indices.back());
  if (!depth)
    return s.refuse(op, "the last size of indices is known only at run time; nearest supported: "
                        "a fixed last size");
  if (batches < 0 || batches >= rank || *depth < 1 || batches + *depth > dataRank)
    return s.refuse(op, "batch_dims " + Twine(batches) + " and " + Twine(*depth) +
                            " indices an element do not fit data of rank " + Twine(dataRank) +
                            " and indices of rank " + Twine(rank));
  for (int64_t i = 0; i < batches; ++i)
    if (failed(s.check(op, s.equal(data[i], indices[i]),
                       "batch sizes {0} and {1} of data and indices differ", data[i], indices[i])))
      return failure();
  Sizes result(indices.begin(), indices.end() - 1);
  result.append(data.begin() + batches + *depth, data.end());
  for (int64_t i = 0; i < *depth; ++i)
    if (failed(checkIndices(shapes, op, data[batches + i], result, i, *depth)))
      return failure();
  return result;
}

//===-- Scatter* ------------------------------------------------------------------------------===//

/// Refuses or checks how many places there are, and how many updates: their numbers are sorted as such of 32 bits.
static LogicalResult checkUpdates(SizeBuilder &s, Operation *op, OpFoldResult places,
                                  OpFoldResult count) {
  OpFoldResult most = s.index(std::numeric_limits<int32_t>::max());
  for (auto [noun, number] : {std::pair("places", places), std::pair("updates", count)})
    if (failed(s.check(op, s.equal(s.less(most, number), s.index(0)),
                       "{0} " + Twine(noun) + "; at most {1} are supported", number, most)))
      return failure();
  return success();
}

static LogicalResult checkSameSizes(SizeBuilder &s, Operation *op, const Sizes &updates,
                                    const Sizes &wanted) {
  if (updates.size() != wanted.size())
    return s.refuse(op, "updates have rank " + Twine(updates.size()) + "; they must have " +
                            Twine(wanted.size()));
  for (auto [size, other] : llvm::zip(updates, wanted))
    if (failed(s.check(op, s.equal(size, other),
                       "updates have a size of {0}; data and indices make it {1}", size, other)))
      return failure();
  return success();
}

static FailureOr<Sizes> inferScatterElements(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes data = shapes.of(op, 0), indices = shapes.of(op, 1);
  auto scatter = cast<ScatterElementsOp>(op);
  FailureOr<int64_t> axis = normalizedAxis(s, op, scatter.getAxis(), data.size());
  if (failed(axis) || failed(checkIndexSizes(s, op, data, indices, *axis)) ||
      failed(checkSameSizes(s, op, shapes.of(op, 2), indices)) ||
      failed(checkUpdates(s, op, s.product(data), s.product(indices))) ||
      failed(checkIndices(shapes, op, data[*axis], indices)))
    return failure();
  return data;
}

static FailureOr<Sizes> inferScatterND(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes data = shapes.of(op, 0), indices = shapes.of(op, 1);
  if (indices.empty())
    return s.refuse(op, "indices have rank 0; they need 1 or more");
  std::optional<int64_t> depth = getConstantIntValue(indices.back());
  if (!depth)
    return s.refuse(op, "the last size of indices is known only at run time; nearest supported: "
                        "a fixed last size");
  if (*depth < 1 || *depth > int64_t(data.size()))
    return s.refuse(op, Twine(*depth) + " indices a place do not fit data of rank " +
                            Twine(data.size()));
  Sizes lists(indices.begin(), indices.end() - 1), wanted(lists);
  wanted.append(data.begin() + *depth, data.end());
  OpFoldResult places = s.product(ArrayRef(data).take_front(*depth));
  if (failed(checkSameSizes(s, op, shapes.of(op, 2), wanted)) ||
      failed(checkUpdates(s, op, places, s.product(lists))))
    return failure();
  for (int64_t i = 0; i < *depth; ++i)
    if (failed(checkIndices(shapes, op, data[i], lists, i, *depth)))
      return failure();
  return data;
}

static FailureOr<Sizes> inferTensorScatter(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes cache = shapes.of(op, 0), update = shapes.of(op, 1);
  int64_t rank = cache.size(), given = cast<TensorScatterOp>(op).getAxis();
  std::optional<int64_t> axis = normalizedAxis(given, rank);
  if (!axis || *axis < 1 || int64_t(update.size()) != rank)
    return s.refuse(op, "'axis' = " + Twine(given) + " is none of 1 to " + Twine(rank - 1) +
                            ", or the update has other dimensions than the cache");
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(update, cache)))
    if (auto [size, wanted] = sizes; int64_t(dim) != *axis)
      if (failed(s.check(op, s.equal(size, wanted),
                         "the update has a size of {0}, the cache of {1}", size, wanted)))
        return failure();
  if (isAbsent(op, 2))
    return cache;
  Sizes places = shapes.of(op, 2);
  if (places.size() != 1)
    return s.refuse(op, "write_indices have rank " + Twine(places.size()) + "; they need 1");
  if (failed(s.check(op, s.equal(places[0], cache[0]), "{0} write_indices for a batch of {1}",
                     places[0], cache[0])))
    return failure();
  return cache;
}

//===-- ReverseSequence -----------------------------------------------------------------------===//

/// Refuses or checks constant lengths that are not 0 to the size of the time axis.
static LogicalResult checkConstantLengths(SizeBuilder &s, Operation *op, OpFoldResult steps) {
  constexpr StringLiteral kOutside = "a sequence of length {0} along a time axis of size {1}";
  std::optional<SmallVector<int64_t>> known =
      constantInts(op->getOperand(1), std::numeric_limits<int64_t>::max());
  if (!known || known->empty())
    return success();
  OpFoldResult least = s.index(*llvm::min_element(*known));
  OpFoldResult most = s.index(*llvm::max_element(*known));
  if (failed(s.check(op, s.less(s.index(-1), least), kOutside, least, steps)))
    return failure();
  return s.check(op, s.equal(s.less(steps, most), s.index(0)), kOutside, most, steps);
}

static FailureOr<Sizes> inferReverseSequence(SizeBuilder &s, Operation *op,
                                             ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0], &lengths = operands[1];
  auto reverse = cast<ReverseSequenceOp>(op);
  int64_t batchAxis = reverse.getBatchAxis(), timeAxis = reverse.getTimeAxis();
  if (x.size() < 2)
    return s.refuse(op, "the input has rank " + Twine(x.size()) + "; it must have 2 or more");
  if (batchAxis == timeAxis)
    return s.refuse(op, "batch_axis and time_axis are both " + Twine(batchAxis) +
                            "; one must be 0, the other 1");
  if (lengths.size() != 1)
    return s.refuse(op, "sequence_lens has rank " + Twine(lengths.size()) + "; it must have 1");
  if (failed(s.check(op, s.equal(lengths[0], x[batchAxis]),
                     "sequence_lens holds {0} lengths for {1} sequences", lengths[0],
                     x[batchAxis])) ||
      failed(checkConstantLengths(s, op, x[timeAxis])))
    return failure();
  return x;
}

//===-- OneHot, EyeLike, Trilu ----------------------------------------------------------------===//

static FailureOr<Sizes> inferOneHot(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes indices = shapes.of(op, 0), values = shapes.of(op, 2);
  FailureOr<int64_t> axis = normalizedAxis(s, op, cast<OneHotOp>(op).getAxis(), indices.size() + 1);
  if (failed(axis))
    return failure();
  if (values.size() != 1 || !isConstantIntValue(values[0], 2))
    return s.refuse(op, "values is " + typeText(op->getOperand(2).getType()) +
                            "; it must hold two numbers");
  FailureOr<Sizes> given = shapes.host.values(op, 1);
  if (failed(given))
    return failure();
  if (given->size() != 1)
    return s.refuse(op, "depth holds " + Twine(given->size()) + " numbers; it must hold one");
  OpFoldResult depth = (*given)[0];
  if (isa<FloatType>(elementType(op->getOperand(1)))) {
    FailureOr<OpFoldResult> whole = s.checkedInteger(op, depth, "depth");
    if (failed(whole))
      return failure();
    depth = *whole;
  }
  if (failed(s.check(op, s.less(s.index(0), depth), "depth is {0}; it must be 1 or more", depth)))
    return failure();
  indices.insert(indices.begin() + *axis, depth);
  return indices;
}

static FailureOr<Sizes> inferEyeLike(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  if (operands[0].size() != 2)
    return s.refuse(op, "the input has rank " + Twine(operands[0].size()) + "; it must have 2");
  return operands[0];
}

static FailureOr<Sizes> inferTrilu(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0];
  if (x.size() < 2)
    return s.refuse(op, "the input has rank " + Twine(x.size()) + "; it must have 2 or more");
  if (operands.size() > 1 &&
      !llvm::all_of(operands[1], [](OpFoldResult size) { return isConstantIntValue(size, 1); }))
    return s.refuse(op,
                    "k is " + typeText(op->getOperand(1).getType()) + "; it must hold one number");
  return x;
}

void registerGatherRules(ShapeRows &rows) {
  rows.add<GatherOp>(fromShapes<inferGather>, hostGather);
  rows.add<GatherElementsOp>(fromShapes<inferGatherElements>);
  rows.add<GatherNDOp>(fromShapes<inferGatherND>);
  rows.add<ScatterElementsOp>(fromShapes<inferScatterElements>);
  rows.add<ScatterNDOp>(fromShapes<inferScatterND>);
  rows.add<TensorScatterOp>(fromShapes<inferTensorScatter>);
  rows.add<ReverseSequenceOp>(fromSizes<inferReverseSequence>);
  rows.add<OneHotOp>(fromShapes<inferOneHot>);
  rows.add<EyeLikeOp>(fromSizes<inferEyeLike>);
  rows.add<TriluOp>(fromSizes<inferTrilu>);
}

} // namespace cameo::onnx
